"""Workspace of a command: a fresh folder an item, with a template's files and the sections in it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from burnish.domain import Configuration, Item, Json, UsageError, canonical_hash
from burnish.evaluation.workspace_policy import require_inside


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWorkspace:
    """The folders of one run: where the command works, its home and what it throws away."""

    root: Path
    work: Path = field(init=False)
    home: Path = field(init=False)
    temporary: Path = field(init=False)

    def __post_init__(self) -> None:
        for name in ("work", "home", "temporary"):
            folder = self.root / name
            folder.mkdir()
            object.__setattr__(self, name, folder)

    def size(self) -> int:
        """Bytes of all files that are in them now."""
        return folder_size(self.root)

    def read(self, name: str, most: int) -> bytes:
        """A file of the command; it must be one, and inside."""
        path = self.work / name
        if not path.exists():
            raise UsageError(
                what="the command gave no answer",
                why=f"it ended well, but there is no {name} in its workspace",
                fix="have it write that file, or correct workspace.output",
                code="no_output",
            )
        if not path.is_file() or not path.resolve().is_relative_to(self.work.resolve()):
            raise UsageError(
                what="the command's answer cannot be used",
                why=f"{name} is not a file inside of its workspace",
                fix="have it write a plain file",
                code="no_output",
            )
        with path.open("rb") as file:
            return file.read(most + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceFiles:
    """What is written into a workspace: a template's copy, then sections by file.

    `files` maps a file to its section. Sections that it does not name are in prompts/PATH.md.
    """

    files: Mapping[str, str]
    template: Path | None

    @classmethod
    def of(
        cls, files: Mapping[str, str], template: Path | None, configuration: Configuration
    ) -> WorkspaceFiles:
        """Checked: every file is inside, every section is there."""
        for name, section in files.items():
            require_inside(name, "agent.files")
            if section not in configuration.sections:
                raise UsageError(
                    what=f"the file {name} cannot be written",
                    why=f"there is no section {section!r}; there are "
                    + (", ".join(configuration.sections) or "none"),
                    fix="correct the name in [agent.files], or add it to [agent.sections]",
                    code="unknown_section",
                )
        if template is not None and not template.is_dir():
            raise UsageError(
                what="the workspace's template cannot be copied",
                why=f"{template} is not a folder",
                fix="correct workspace.template; it is relative to burnish.toml",
                code="missing_file",
            )
        return cls(files=dict(files), template=template)

    def texts(self, configuration: Configuration) -> dict[str, str]:
        """The sections by file, as they are: placeholders are left to whoever reads them."""
        named = set(self.files.values())
        sections = configuration.sections
        texts = {f"prompts/{path}.md": sections[path] for path in sections if path not in named}
        return texts | {file: sections[path] for file, path in self.files.items()}

    def write(self, work: Path, configuration: Configuration) -> None:
        """The template's files first; links are followed, so that none leads outside."""
        if self.template is not None:
            shutil.copytree(self.template, work, dirs_exist_ok=True, ignore_dangling_symlinks=True)
        for name, text in self.texts(configuration).items():
            path = work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # A copy may be read-only.
            path.write_text(text, encoding="utf-8")

    def fingerprint(self) -> str:
        """Of the files by section, and of the template without what sections overwrite."""
        return canonical_hash([dict(self.files), self._template_hashes()])

    def _template_hashes(self) -> dict[str, Json]:
        if self.template is None:
            return {}
        paths = sorted(one for one in self.template.rglob("*") if one.is_file())
        return {
            name: [hashlib.sha256(one.read_bytes()).hexdigest(), os.access(one, os.X_OK)]
            for one in paths
            if (name := one.relative_to(self.template).as_posix()) not in self.files
        }


@contextlib.contextmanager
def open_workspace() -> Iterator[OpenWorkspace]:
    """A folder of one run, removed afterwards."""
    root = Path(tempfile.mkdtemp(prefix="burnish-workspace-"))
    try:
        yield OpenWorkspace(root=root)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def folder_size(folder: Path) -> int:
    """Bytes of the files below a folder; links count as themselves."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += (Path(place) / name).lstat().st_size
    return total


def item_json(item: Item, shown: Sequence[str] | None) -> str:
    """An item as the command sees it."""
    row = {**item.row, "id": item.id}
    return json.dumps({key: row[key] for key in row if shown is None or key in shown})
