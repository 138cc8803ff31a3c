"""The layout of the source in numbers: `python -m tests.house` prints them; the layout test holds them.

The rule for a file's place stands in docs/architecture.md. A module exists for one neighbour when
exactly one other module imports it (`__init__` files aside), in the same top-level package, and both
together would stay within `LONGEST` lines.

A shape of a noun is a class with fields (dataclass, pydantic model, TypedDict, NamedTuple) or a table
that says the same of it again, whatever it is called: more than half of the fields that it declares
itself, and four at least, are fields of the noun's own value. A class that is named after the noun
(its last word, or before View, Line, Result, Spec and the like) and declares three fields or more is
one as well. What extends a shape of the noun says nothing again, and fields that every noun has
(name, status, times, …) do not count. `python -m tests.house_hops` follows a configuration through a
run.
"""

from __future__ import annotations

import ast
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
# The house was built with 92,000 lines in 620 files; since then came worlds from other hands (1,100),
# sources of models (250), what gepa asks, counts, estimates and reports (550), and what step 3 asked
# for: outages that are no results, adapters and repositories of others, coverage in compress (5,000);
# budgets of evaluations (500); step 4: one search for texts and examples, a portfolio, races of a
# step, an endpoint of the embedded models (1,800); step 5: results in notebooks, progress, the active
# configuration and trackers (1,400), versions, comparisons and checks on the command line (1,900), an
# MCP server, a pytest plugin and Markdown (800), agents made and tried in the browser (700); steps 6 to
# 8: vendors, presets, prices, batches and fakes of vendors (7,000), models as a parameter (500), agents
# with tools, trajectories, conversations, pictures, commands and frameworks (7,500), judges (2,500),
# traces and synthetic rows (1,200), labels of people (2,200), gates of single items and cases (1,500),
# batches of searches and Gemini (500), DSPy whole (600), label bias (250).
MOST_FILES, MOST_LINES = 830, 130_500
LONGEST, FULLEST = 400, 20
MOST_SINGLES = 39
# By noun: the classes that are its value, and how many shapes of it there may be.
NOUNS = {
    "trial": (("TrialResult", "TrialSummary"), 8),
    "image run": (("ImageRun", "ImageRunRequest"), 4),
    "suite": (("SuiteTable",), 4),
    "agent": (("AgentTable",), 4),
}
_FORMS = "(View|Detail|Line|Result|Summary|Record|Row|Spec|Table|Request|Document|)"
_OF_EVERY_NOUN = {"id", "name", "version", "status", "error", "created_at", "updated_at"}
_WITH_FIELDS = ("dataclass", "BaseModel", "TypedDict", "NamedTuple")
# What no rule of ours decides: Alembic's folder, files that `burnish init` copies, scripts of peers.
FREE = ("burnish.storage.migrations", "burnish.cli.templates", "burnish.benchmarks.peers")
PACKAGES = (
    *("cli", "server", "benchmarks", "integrations", "app", "config", "jobs", "runtime"),
    *("optimization", "optimizers", "images", "evaluation", "overrides", "models", "storage"),
    *("support", "domain", "testing"),
)


@dataclass(frozen=True)
class Module:
    """One file of the source."""

    name: str
    path: Path
    text: str

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"

    @property
    def folder(self) -> str:
        return self.name if self.is_package else self.name.rpartition(".")[0]

    @cached_property
    def lines(self) -> int:
        return self.text.count("\n")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def summary(self) -> str:
        return (ast.get_docstring(self.tree) or "").split("\n")[0]


@dataclass(frozen=True)
class Shape:
    """A class or a table, with the fields that it declares itself."""

    name: str
    module: str
    bases: frozenset[str]
    fields: frozenset[str]

    @classmethod
    def of(cls, module: str, node: ast.ClassDef | ast.Call) -> Shape:
        if isinstance(node, ast.Call):
            columns = [one for one in node.args if isinstance(one, ast.Call) and one.args]
            columns = [one for one in columns if ast.unparse(one.func) in ("Column", "reference")]
            named = frozenset(str(ast.literal_eval(one.args[0])) for one in columns)
            return cls(f"table {node.args[0].value}", module, frozenset(_WITH_FIELDS), named)
        bases = {ast.unparse(one).split(".")[-1] for one in node.bases}
        if any("dataclass" in ast.unparse(one) for one in node.decorator_list):
            bases.add("dataclass")
        declared = frozenset(
            one.target.id
            for one in node.body
            if isinstance(one, ast.AnnAssign)
            and isinstance(one.target, ast.Name)
            and "ClassVar" not in ast.unparse(one.annotation)
        )
        return cls(node.name, module, frozenset(bases), declared)


class House:
    """All modules, and who imports whom."""

    def __init__(self, source: Path = SOURCE) -> None:
        self.modules: dict[str, Module] = {}
        for path in sorted(source.glob("burnish/**/*.py")):
            name = ".".join(path.relative_to(source).with_suffix("").parts)
            name = name.removesuffix(".__init__")
            self.modules[name] = Module(name, path, path.read_text(encoding="utf-8"))

    @cached_property
    def importers(self) -> dict[str, set[str]]:
        """By module: which others import it, `__init__` files aside."""
        found: dict[str, set[str]] = defaultdict(set)
        for module in self.modules.values():
            if module.is_package:
                continue
            for name in self._imported(module):
                if name != module.name:
                    found[name].add(module.name)
        return found

    def singles(self) -> list[tuple[str, str]]:
        """Modules that exist for one neighbour, each with that neighbour."""
        found = []
        for module in self.ruled():
            importers = self.importers[module.name]
            if module.is_package or len(importers) != 1:
                continue
            (host,) = importers
            together = module.lines + self.modules[host].lines
            if top(host) == top(module.name) != "testing" and together <= LONGEST:
                found.append((module.name, host))
        return found

    def ruled(self) -> list[Module]:
        """The modules that the rules are about."""
        return [
            one
            for one in self.modules.values()
            if not any(one.name == free or one.name.startswith(f"{free}.") for free in FREE)
        ]

    def files_by_folder(self) -> dict[str, list[Module]]:
        """By folder: its modules, without `__init__`."""
        found = defaultdict(list)
        for module in self.ruled():
            if not module.is_package:
                found[module.folder].append(module)
        return found

    def prefixes(self) -> list[tuple[str, str, list[str]]]:
        """By folder: three or more files whose names share a first word, which are to be a folder."""
        found = []
        for folder, modules in self.files_by_folder().items():
            words = Counter(one.name.rpartition(".")[2].split("_")[0] for one in modules)
            for word, count in words.items():
                if count >= 3:
                    names = [one.name.rpartition(".")[2] for one in modules]
                    names = [one for one in names if one.split("_")[0] == word]
                    if any("_" in one for one in names):
                        found.append((folder, word, names))
        return found

    @cached_property
    def shapes(self) -> list[Shape]:
        """Every class with fields, and every table."""
        found = [
            Shape.of(module.name, node)
            for module in self.modules.values()
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ClassDef) or _is_table(node)
        ]
        by_name = {one.name: one for one in found}

        def has_fields(name: str) -> bool:
            bases = by_name[name].bases if name in by_name else ()
            return name in _WITH_FIELDS or any(map(has_fields, bases))

        return [one for one in found if has_fields(one.name)]

    def shapes_of(self, noun: str) -> list[Shape]:
        """The classes and tables that describe a noun."""
        values = NOUNS[noun][0]
        own = set().union(*(one.fields for one in self.shapes if one.name in values))
        word = "".join(one.capitalize() for one in noun.split())
        named = re.compile(rf"_?([A-Z]\w*)?{word}{_FORMS}")

        def describes(shape: Shape) -> bool:
            said = len(shape.fields & (own - _OF_EVERY_NOUN))
            again = said >= 4 and 2 * said > len(shape.fields - _OF_EVERY_NOUN)
            return again or (bool(named.fullmatch(shape.name)) and len(shape.fields) >= 3)

        found = [one for one in self.shapes if one.name in values or describes(one)]
        names = {one.name for one in found}
        return [one for one in found if not one.bases & names]

    def _imported(self, module: Module) -> set[str]:
        found = set()
        for node in statements(module.tree):
            if isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:
                    parts = module.folder.split(".")
                    base = ".".join([*parts[: len(parts) - node.level + 1], base]).strip(".")
                for alias in node.names:
                    inner = f"{base}.{alias.name}"
                    found.add(inner if inner in self.modules else base)
            elif isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
        return found & self.modules.keys()


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements within a node: imports are never part of an expression."""
    for blocks in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(node, blocks, ()):
            yield inner
            yield from statements(inner)


def _is_table(node: ast.AST) -> bool:
    """Whether it is a table of the database; `rich` has a Table, too, which takes no name."""
    named = isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)
    return bool(named) and ast.unparse(node.func) == "Table"


def top(name: str) -> str:
    """The top-level package of a module."""
    return name.split(".")[1] if "." in name else ""


def figures(house: House) -> list[tuple[str, str, str]]:
    """Name, figure and target of what is measured."""
    files, lines = len(house.modules), sum(one.lines for one in house.modules.values())
    folder, fullest = max(house.files_by_folder().items(), key=lambda pair: len(pair[1]))
    longest = max(house.ruled(), key=lambda one: one.lines)
    return [
        ("files", f"{files}", f"at most {MOST_FILES}"),
        ("lines", f"{lines:,}", f"at most {MOST_LINES:,}"),
        ("files a 1,000 lines", f"{1000 * files / lines:.1f}", "at most 6.7"),
        ("largest folder", f"{len(fullest)} ({folder})", f"at most {FULLEST}"),
        ("longest file", f"{longest.lines} ({longest.name})", f"at most {LONGEST}"),
        (
            "modules that exist for one neighbour",
            f"{len(house.singles())}",
            f"at most {MOST_SINGLES}",
        ),
        *(
            (f"shapes of {noun}", f"{len(house.shapes_of(noun))}", f"at most {most}")
            for noun, (_, most) in NOUNS.items()
        ),
    ]


def drawn(house: House, count: int, seed: int) -> list[Module]:
    """Files drawn at random, the same for the same seed."""
    names = sorted(one.name for one in house.ruled() if not one.is_package)
    return [house.modules[one] for one in random.Random(seed).sample(names, count)]


def main() -> None:
    """Print the figures, modules of one neighbour, and files drawn with the seed that is given."""
    house = House(Path(sys.argv[2]) / "src" if len(sys.argv) > 2 else SOURCE)
    for name, figure, target in figures(house):
        print(f"{name:40}{figure:45}{target}")
    print("\nmodules that exist for one neighbour:")
    for name, host in house.singles():
        print(f"  {name} -> {host}")
    for noun in NOUNS:
        print(f"\nshapes of {noun}:")
        for shape in house.shapes_of(noun):
            print(f"  {shape.name}: {shape.module.replace('.', '/')}.py")
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    print(f"\nten files drawn with the seed {seed}:")
    for module in drawn(house, 10, seed):
        print(f"  {module.name.replace('.', '/')}.py: {module.summary}")


if __name__ == "__main__":
    main()
