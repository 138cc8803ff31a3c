"""Contract suites live in the package; their assertions are to be explained like any test's."""

import pytest

pytest.register_assert_rewrite("burnish.testing")
