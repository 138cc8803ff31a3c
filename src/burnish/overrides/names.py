"""Names of namespaces, prompts and tags: which are allowed, and the addresses made of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from burnish.domain import UsageError, text_hash

# Whole texts only, in ASCII: names become files, keys and addresses as they stand. None can begin
# with a dot, so none can lead to another folder or hide.
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_NOT_ALLOWED = re.compile(r"[^a-z0-9._-]+")
_OWN_NAMESPACES = "burnish."
_SLUG_CHARACTERS = 40
_HASH_CHARACTERS = 12
_LONGEST_SHOWN = 80


def check_name(kind: str, name: object) -> str:
    """The name itself, when it may be used for a namespace, a key or a tag."""
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    shown = repr(name)
    if len(shown) > _LONGEST_SHOWN:
        shown = shown[:_LONGEST_SHOWN] + "…"
    raise UsageError(
        what=f"the {kind} {shown} cannot be used",
        why="a name has 1 to 64 of the characters a-z, 0-9, dot, _ and -, "
        "and begins with a letter or a digit",
        fix="choose another name, for instance with burnish.overrides.safe_name",
        code="invalid_name",
    )


def safe_name(text: str) -> str:
    """A name for any text: the text itself where it is one, else like it, and its own."""
    if _NAME.fullmatch(text):
        return text
    like = _NOT_ALLOWED.sub("-", text.lower())[:_SLUG_CHARACTERS].strip("._-")
    # What the characters lose the hash keeps apart.
    return f"{like or 'name'}-{text_hash(text)[:_HASH_CHARACTERS]}"


@dataclass(frozen=True, slots=True, order=True)
class PromptAddress:
    """Which prompt: a key in a namespace. There is none with a name that may not be used."""

    namespace: str
    key: str

    def __post_init__(self) -> None:
        check_name("namespace", self.namespace)
        check_name("key", self.key)
        if self.namespace.startswith(_OWN_NAMESPACES):
            raise UsageError(
                what=f"the namespace {self.namespace!r} cannot be used",
                why=f"names that begin with {_OWN_NAMESPACES!r} are kept for Burnish itself",
                fix="choose another namespace",
                code="reserved_name",
            )

    def tag(self, tag: str) -> TagAddress:
        """A tag of this prompt."""
        return TagAddress(self, tag)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.key}"


@dataclass(frozen=True, slots=True, order=True)
class TagAddress:
    """Which tag of which prompt."""

    prompt: PromptAddress
    tag: str

    def __post_init__(self) -> None:
        check_name("tag", self.tag)

    def __str__(self) -> str:
        return f"{self.prompt}/{self.tag}"
