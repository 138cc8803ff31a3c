"""Files of other tools, written where a test wants them."""

import json
import textwrap

import pytest


@pytest.fixture
def written(tmp_path):
    """Writes a config and what lies beside it (`data__csv=` is data.csv); the config's path."""

    def write(config, name="promptfooconfig.yaml", **files):
        for path, text in files.items():
            (tmp_path / path.replace("__", ".")).write_text(textwrap.dedent(text))
        path = tmp_path / name
        path.write_text(textwrap.dedent(config) if isinstance(config, str) else json.dumps(config))
        return path

    return write
