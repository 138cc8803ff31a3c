"""Imports of user code by name: `module:function`, found in your folder first."""

from __future__ import annotations

import importlib
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from burnish.domain import UsageError
from burnish.support.hints import did_you_mean

# What was imported from users' folders: another folder's module of the same name may replace it.
_imported: set[str] = set()
_lock = threading.RLock()


def load_callable(reference: str, folder: Path) -> Callable[..., Any]:
    """The function that "module:function" names."""
    value = load_object(reference, folder)
    if callable(value):
        return value  # type: ignore[no-any-return]
    raise _bad(
        reference,
        f"it is a {type(value).__name__}, which cannot be called",
        "name a function",
        "not_callable",
    )


def load_object(reference: str, folder: Path) -> Any:
    """Whatever "module:name" names; the name may be dotted."""
    module_name, name = _parts(reference)
    with _lock:
        module = _import(reference, module_name, Path(folder).resolve())
    value: Any = module
    for part in name.split("."):
        try:
            value = getattr(value, part)
        except AttributeError as error:
            present = [one for one in dir(value) if not one.startswith("_")]
            why = f"{module_name!r} has no {name!r}"
            raise _bad(reference, why, _hint(part, present), "attribute_not_found") from error
    return value


def _parts(reference: str) -> tuple[str, str]:
    module_name, _, name = reference.partition(":")
    names = [*module_name.split("."), *name.split(".")]
    if all(part.isidentifier() for part in names) and not module_name.endswith(".py"):
        return module_name, name
    better = module_name.removesuffix(".py").replace("/", ".").replace("\\", ".").strip(".")
    raise _bad(
        reference,
        "it does not read module:function",
        f"write {better or 'my_module'}:{name or 'my_function'}",
        "invalid_reference",
    )


def _import(reference: str, name: str, folder: Path) -> ModuleType:
    if sys.path[:1] != [str(folder)]:
        # It stays there: functions may import their neighbours when they run.
        sys.path[:] = [str(folder), *(entry for entry in sys.path if entry != str(folder))]
    importlib.invalidate_caches()
    _make_way(reference, name.partition(".")[0], folder)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _failed(reference, error, folder) from error
        fix = _hint(name, _modules_in(folder))
        why = f"there is no module {error.name!r} in {folder} nor among the installed ones"
        raise _bad(reference, why, fix, "module_not_found") from error
    except (Exception, SystemExit) as error:
        raise _failed(reference, error, folder) from error


def _make_way(reference: str, top: str, folder: Path) -> None:
    """See to it that `top` will be this folder's module, where the folder has one of that name."""
    found = PathFinder.find_spec(top, [str(folder)])
    if found is None or found.origin is None:
        return
    loaded = _origin(top)
    if loaded is not None and Path(loaded).resolve() != Path(found.origin).resolve():
        if top not in _imported:
            why = f"the name {top!r} is taken by {loaded}"
            raise _bad(reference, why, f"rename {found.origin}", "module_taken")
        for stale in [one for one in sys.modules if one == top or one.startswith(f"{top}.")]:
            del sys.modules[stale]
    _imported.add(top)


def _origin(top: str) -> str | None:
    module = sys.modules.get(top)
    spec = None if module is None else module.__spec__
    return None if spec is None else spec.origin


def _failed(reference: str, error: BaseException, folder: Path) -> UsageError:
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(folder)
    ]
    if isinstance(error, SyntaxError) and error.filename:
        place, message = f"{Path(error.filename).name}:{error.lineno}", error.msg
    else:
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
        message = str(error)
    where = f" ({place})" if place else ""
    why = f"importing it raised {type(error).__name__}: {message}{where}"
    return _bad(
        reference, why, "correct the code; it must import without side effects", "import_failed"
    )


def _modules_in(folder: Path) -> Iterable[str]:
    try:
        return [path.stem for path in folder.glob("*.py")]
    except OSError:
        return []


def _hint(name: str, present: Iterable[str]) -> str:
    known = sorted(present)
    every = f"there are {', '.join(known[:20])}" if known else "check the spelling"
    return did_you_mean(name, known, every)


def _bad(reference: str, why: str, fix: str, code: str) -> UsageError:
    return UsageError(what=f"{reference!r} cannot be loaded", why=why, fix=fix, code=code)
