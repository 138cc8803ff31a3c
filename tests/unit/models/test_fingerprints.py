import functools
import re
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import pytest

from burnish.evaluation.imports import load_callable
from burnish.models.fingerprints import callable_fingerprint


@pytest.fixture(autouse=True)
def same_path_afterwards(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))


def typed(source, name="f", **names):
    """A function as typed at the prompt: its globals belong to no module's file."""
    namespace = {"__name__": "__main__", **names}
    exec(textwrap.dedent(source), namespace)
    return namespace[name]


def prints(*functions):
    return [callable_fingerprint(function) for function in functions]


def all_differ(*functions):
    found = prints(*functions)
    return None not in found and len(set(found)) == len(found)


def all_equal(*functions):
    found = prints(*functions)
    return None not in found and len(set(found)) == 1


class TestVersion:
    def test_a_version_is_taken_at_its_word(self):
        one, two = typed("def f(): return 1"), typed("def f(): return 2")

        assert callable_fingerprint(one, "1") == callable_fingerprint(two, "1")
        assert callable_fingerprint(one, "1") != callable_fingerprint(one, "2")

    def test_a_version_may_be_the_functions_attribute(self):
        one, two = typed("def f(): return 1"), typed("def f(): return 2")
        one.version = two.version = "7"

        assert all_equal(one, two)
        assert callable_fingerprint(one, "8") != callable_fingerprint(one)
        assert all_differ(functools.partial(one, a=1), functools.partial(one, a=2))

    def test_a_version_makes_the_unknown_known(self):
        client = object()

        assert callable_fingerprint(lambda: client) is None
        assert callable_fingerprint(lambda: client, "1") is not None


class TestModules:
    def test_any_change_of_the_modules_source_counts(self, tmp_path):
        made = []
        for number, helper in enumerate(("1", "2", "2")):
            folder = tmp_path / str(number)
            folder.mkdir()
            source = f"def helper(): return {helper}\ndef answer(c, i): return helper()\n"
            (folder / "fingerprinted.py").write_text(source)
            made.append(load_callable("fingerprinted:answer", folder))

        first, second, third = prints(*made)

        assert first != second
        assert second == third

    def test_two_functions_lambdas_and_closures_of_one_module_differ(self):
        def make(limit):
            return lambda: limit

        assert all_differ(lambda: 1, lambda: 2, make(1), make(2), prints, all_differ)
        assert all_equal(make([1, {"a": None}]), make([1, {"a": None}]))

    def test_decorated_functions_count_with_what_they_wrap(self):
        def shout(function):
            @functools.wraps(function)
            def louder():
                return function().upper()

            return louder

        assert all_differ(shout(lambda: "a"), shout(lambda: "b"), functools.cache(lambda: "c"))

    def test_it_is_the_same_in_another_process(self, tmp_path):
        (tmp_path / "stable.py").write_text(
            "NAMES = {'b', 'a', 'c'}\n"
            "def answer(c, i, known=frozenset({'x', 'y', 'z'})): return i in {'p', 'q', 'r'}\n"
        )
        (tmp_path / "script.py").write_text(
            "import stable\n"
            "from burnish.models.fingerprints import callable_fingerprint as fingerprint\n"
            "LIMITS = {'b', 'a', 'c'}\n"
            "def own(c, i): return i in LIMITS and stable.answer(c, i)\n"
            "print(fingerprint(stable.answer), fingerprint(own))\n"
        )
        command = [sys.executable, "script.py"]

        runs = {
            subprocess.run(
                command, cwd=tmp_path, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
            ).stdout
            for seed in ("1", "2")
        }

        assert len(runs) == 1
        assert b"None" not in runs.pop()


class TestTypedFunctions:
    def test_code_constants_names_and_defaults_count(self):
        assert all_equal(typed("def f(x): return x + 1"), typed("def f(x): return x + 1"))
        assert all_differ(
            typed("def f(x): return x + 1"),
            typed("def f(x): return x + 2"),
            typed("def f(x): return x - 1"),
            typed("def f(x): return x.a"),
            typed("def f(x): return x.b"),
            typed("def f(x=1): return x"),
            typed("def f(x=True): return x"),
            typed("def f(x=1.0): return x"),
            typed("def f(*, x=1): return x"),
            typed("def f(x): return [y for y in x if y > 1]"),
            typed("def f(x): return [y for y in x if y > 2]"),
        )

    def test_globals_that_are_read_count_and_others_do_not(self):
        source = "def f(): return LIMIT"

        assert all_differ(typed(source, LIMIT=1), typed(source, LIMIT=2))
        assert all_equal(typed(source, LIMIT=1, other=1), typed(source, LIMIT=1, other=2))
        inner = "def f(x): return [y for y in x if y > LIMIT]"
        assert all_differ(typed(inner, LIMIT=1), typed(inner, LIMIT=2))

    def test_helpers_are_followed_even_in_circles(self):
        source = "def f(n): return g(n)\ndef g(n): return f(n - 1) if n else {}"

        assert all_equal(typed(source.format(1)), typed(source.format(1)))
        assert all_differ(typed(source.format(1)), typed(source.format(2)))

    def test_patterns_paths_modules_and_classes_of_modules_are_known(self):
        source = "def f(): return V"
        patterns = [re.compile("a"), re.compile("a", re.IGNORECASE)]
        values = [*patterns, Path("a"), re, Path, len, str, b"x"]

        assert all_differ(*(typed(source, V=value) for value in values))

    def test_what_cannot_be_seen_is_unknown(self):
        source = "def f(): return V"
        values = [object(), [object()], iter([1]), [].append, types.SimpleNamespace(a=1)]

        assert prints(*(typed(source, V=value) for value in values)) == [None] * len(values)


class Judge:
    def __init__(self, limit):
        self.limit = limit

    def __call__(self, output, item):
        return self.limit

    def method(self, output, item):
        return self.limit


class Growing(list):
    def __call__(self, output, item):
        return len(self)


class TestObjects:
    def test_a_callable_object_counts_with_its_attributes(self):
        assert all_equal(Judge({"a": [1]}), Judge({"a": [1]}))
        assert all_differ(Judge(1), Judge(2), Judge(1).method, Judge(2).method)
        assert callable_fingerprint(Judge(object())) is None

    def test_an_object_with_hidden_state_is_unknown(self):
        assert callable_fingerprint(Growing([1])) is None

    def test_classes_that_are_typed_count_with_their_methods(self):
        source = "class C:\n    def __call__(self): return {}\nf = C()"

        assert all_differ(typed(source.format(1)), typed(source.format(2)))

    def test_a_partial_counts_with_its_arguments(self):
        assert all_equal(functools.partial(prints, 1), functools.partial(prints, 1))
        assert all_differ(
            functools.partial(prints, 1),
            functools.partial(prints, 2),
            functools.partial(prints, a=1),
        )
        assert callable_fingerprint(functools.partial(prints, object())) is None


@pytest.mark.parametrize("function", [len, str, "".join, print])
def test_built_ins_never_raise(function):
    callable_fingerprint(function)
