import sys

import pytest

from burnish.domain import UsageError
from burnish.evaluation.imports import load_callable, load_object


@pytest.fixture(autouse=True)
def same_interpreter_afterwards():
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def write(folder, name, text):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder


def refused(reference, folder):
    with pytest.raises(UsageError) as error:
        load_callable(reference, folder)
    return error.value


def test_a_function_a_method_and_an_object(tmp_path):
    write(tmp_path, "my_agent.py", "class A:\n    def f(self): return 1\na = A()\nn = 3\n")

    assert load_callable("my_agent:a.f", tmp_path)() == 1
    assert load_object("my_agent:n", tmp_path) == 3


def test_neighbours_and_packages_are_found_even_late(tmp_path):
    write(tmp_path, "neighbour.py", "def help(): return 2\n")
    write(tmp_path / "pack", "__init__.py", "")
    write(
        tmp_path / "pack",
        "agents.py",
        "def f():\n    import neighbour\n    return neighbour.help()\n",
    )

    assert load_callable("pack.agents:f", tmp_path)() == 2


def test_two_folders_may_have_a_module_of_one_name(tmp_path):
    one = write(tmp_path / "one", "same_name.py", "def f(): return 1\n")
    two = write(tmp_path / "two", "same_name.py", "def f(): return 2\n")

    first, second = load_callable("same_name:f", one), load_callable("same_name:f", two)

    assert (first(), second(), load_callable("same_name:f", one)()) == (1, 2, 1)


def test_a_name_that_an_imported_library_has_is_refused(tmp_path):
    write(tmp_path, "pytest.py", "def f(): return 1\n")

    error = refused("pytest:f", tmp_path)

    assert error.code == "module_taken"
    assert sys.modules["pytest"] is pytest


def test_installed_modules_are_found_too(tmp_path):
    assert load_callable("math:sqrt", tmp_path)(4) == 2


@pytest.mark.parametrize("reference", ["my_agent", "my_agent:", ":f", "my agent:f", "a:b:c", ""])
def test_what_is_no_reference_is_refused(reference, tmp_path):
    assert refused(reference, tmp_path).code == "invalid_reference"


def test_a_file_name_gets_the_module_name_as_the_fix(tmp_path):
    assert "my_agent:answer" in refused("my_agent.py:answer", tmp_path).fix
    assert "agents.my_agent:answer" in refused("agents/my_agent.py:answer", tmp_path).fix


def test_a_missing_module_names_the_nearest(tmp_path):
    write(tmp_path, "my_agent.py", "")

    error = refused("my_agnet:f", tmp_path)

    assert (error.code, "'my_agent'" in error.fix) == ("module_not_found", True)
    assert refused("my_agent.inner:f", tmp_path).code == "module_not_found"


def test_a_missing_function_names_the_nearest(tmp_path):
    write(tmp_path, "my_agent.py", "def answer(c, i): ...\n")

    error = refused("my_agent:anser", tmp_path)

    assert (error.code, "'answer'" in error.fix) == ("attribute_not_found", True)


def test_what_cannot_be_called_is_refused(tmp_path):
    write(tmp_path, "my_agent.py", "answer = 3\n")

    assert refused("my_agent:answer", tmp_path).code == "not_callable"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\ny = x / 0\n", "ZeroDivisionError: division by zero (bad_module.py:2)"),
        ("def f(:\n", "SyntaxError"),
        ("import no_such_library\n", "No module named 'no_such_library' (bad_module.py:1)"),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3 (bad_module.py:2)"),
    ],
)
def test_an_import_that_raises_says_what_and_where(source, message, tmp_path):
    write(tmp_path, "bad_module.py", source)

    error = refused("bad_module:f", tmp_path)

    assert error.code == "import_failed"
    assert message in error.why
    assert "bad_module.py:" in error.why


def test_a_corrected_module_can_be_loaded_after_a_failure(tmp_path):
    write(tmp_path, "mended.py", "raise ValueError('not yet, wait for it')\n")
    refused("mended:f", tmp_path)
    write(tmp_path, "mended.py", "def f(): return 5\n")

    assert load_callable("mended:f", tmp_path)() == 5
