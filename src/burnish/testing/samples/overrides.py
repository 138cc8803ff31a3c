"""Prompts and overrides for tests."""

from __future__ import annotations

from burnish.domain import text_hash
from burnish.overrides import PromptDescriptor, PromptOverridesStore, SectionOverride

TEXTS = {"system": "Route the ticket.", "rules.tone": "Be kind.", "user": "{{ticket}}"}

BAD_NAMES: tuple[object, ...] = (
    *(
        "",
        ".",
        "..",
        "../up",
        "/etc",
        "a/b",
        "a\\b",
        "a:b",
        "a b",
        "a*",
        "-a",
        "_a",
        ".a",
        "A",
        "aB",
    ),
    *("a\x00", "a\n", "\na", "a\r", "é", "ａ", "ſ", "K", "a\u0301", "а", "²", "\ud800", "%2e%2e"),
    *("a" * 65, "~", "a\u202eb", None, 1, b"a"),
)
GOOD_NAMES = ("a", "0", "stable", "v1.2-beta_3", "a..b", "a.", "a.json", "x" * 64, "con", "0.lock")


def describe(
    texts: dict[str, str] | None = None, *, namespace: str = "support", key: str = "router"
) -> PromptDescriptor:
    """The descriptor of a prompt with these sections."""
    return PromptDescriptor.of({"sections": texts or TEXTS}, namespace=namespace, key=key)


def many_sections(count: int) -> PromptDescriptor:
    """A prompt of so many sections, `s0` and so on."""
    return describe({f"s{number}": f"Section {number}." for number in range(count)})


def override(path: str, body: str, *, text: str | None = None) -> SectionOverride:
    """An override of a section that had this text, by default what `describe` gives it."""
    base = TEXTS[path] if text is None else text
    return SectionOverride(path=path, expected_hash=text_hash(base), body=body)


def override_of(descriptor: PromptDescriptor, path: str, body: str) -> SectionOverride:
    """An override that fits the descriptor."""
    section = descriptor.section(path)
    return SectionOverride(path=path, expected_hash=section.content_hash, body=body)


PROMPT = describe()
OTHER_TEXT = describe({**TEXTS, "system": "Send the ticket on."})
HERE = {"namespace": PROMPT.namespace, "key": PROMPT.key}


async def bodies(
    store: PromptOverridesStore, tag: str, descriptor: PromptDescriptor = PROMPT
) -> dict[str, str]:
    """What of a tag fits the prompt, as texts."""
    found = await store.resolve(descriptor, tag=tag)
    assert found is not None
    return {path: one.body for path, one in found.sections.items()}
