"""The layout explains itself: where a file belongs is decided by rules, and held here."""

import gc
import re

import pytest
from tests.house import (
    FULLEST,
    LONGEST,
    MOST_FILES,
    MOST_LINES,
    MOST_SINGLES,
    PACKAGES,
    ROOT,
    House,
    top,
)

PLACE = "docs/architecture.md says where a file belongs"


@pytest.fixture(scope="module")
def house():
    """All files, parsed: the collector would look at their nodes again for each file more."""
    house = House()
    gc.disable()
    try:
        assert all(one.tree for one in house.modules.values())
    finally:
        gc.enable()
    return house


def test_every_file_is_in_a_layer(house):
    known = {*PACKAGES, "__main__", ""}
    strange = [one.name for one in house.modules.values() if top(one.name) not in known]

    assert not strange, f"these belong into one of {', '.join(PACKAGES)}: {strange}; {PLACE}"


def test_no_folder_is_overfull(house):
    full = {
        folder: len(modules)
        for folder, modules in house.files_by_folder().items()
        if len(modules) > FULLEST
    }

    assert not full, f"more than {FULLEST} files; give a noun of theirs a folder: {full}; {PLACE}"


def test_no_file_is_overlong(house):
    long = {one.name: one.lines for one in house.ruled() if one.lines > LONGEST}

    assert not long, f"more than {LONGEST} lines; split off what two others need: {long}"


def test_files_of_one_prefix_are_a_folder(house):
    wanted = [
        f"{', '.join(names)} of {folder} belong into {folder}.{word}"
        for folder, word, names in house.prefixes()
    ]

    assert not wanted, "; ".join(wanted)


def test_few_modules_exist_for_one_neighbour(house):
    singles = house.singles()

    assert len(singles) <= MOST_SINGLES, (
        "a file is split off when two others need it, when it is a swappable implementation, or when "
        f"its host would pass {LONGEST} lines; merge some of these into their host: "
        + "; ".join(f"{name} into {host}" for name, host in singles)
    )


def test_the_whole_stays_small(house):
    files = len(house.modules)
    lines = sum(one.lines for one in house.modules.values())

    assert files <= MOST_FILES, f"{files} files; merge before you add one"
    assert lines <= MOST_LINES, f"{lines} lines; take away what something new replaced"


def test_every_file_says_in_one_sentence_what_it_holds(house):
    silent = [one.name for one in house.ruled() if not one.summary.endswith((".", ":"))]

    assert not silent, f"the first line of the docstring is a sentence: {silent}"


def test_no_name_says_nothing(house):
    empty = {"utils", "util", "helpers", "helper", "manager", "base", "common", "misc"}
    named = [one.name for one in house.modules.values() if empty & set(one.name.split("."))]

    assert not named, f"call these by the noun that they are about: {named}"


def test_newcomers_lists_name_files_that_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    lists = [
        re.findall(r"^\d+\. `([^`]+)`", part, re.MULTILINE) for part in text.split("\n## Add ")[1:]
    ]
    package = lists[-1][-4:]
    lists[-1] = lists[-1][:-4]
    named = [one for part in (*lists, package) for one in part]
    missing = [one for one in named if not (ROOT / one).exists()]

    assert [len(one) for one in lists] == [3, 2, 4, 3, 11]
    assert not missing, f"CONTRIBUTING.md names files that are not there: {missing}"
