"""Compression strategies: edits of sections without a model, and rewrites by one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from burnish.domain import Configuration, Model, placeholders, text_hash
from burnish.models import count_tokens
from burnish.optimizers.compress.units import example_spans, is_illustration, split_units
from burnish.optimizers.edits.edit import SENTENCE_END, sentences
from burnish.optimizers.shared.asking import Asker
from burnish.optimizers.shared.cleaning import extract_text, fence
from burnish.optimizers.shared.line_edits import key_of

_SHORT_FORMS = {
    r"in order to": "to",
    r"so as to": "to",
    r"due to the fact that": "because",
    r"owing to the fact that": "because",
    r"in the event that": "if",
    r"in the case that": "if",
    r"under the circumstance that": "if",
    r"at this point in time": "now",
    r"at the present time": "now",
    r"a large number of": "many",
    r"a (?:wide )?variety of": "various",
    r"the majority of(?= the\b)": "most of",
    r"the majority of": "most",
    r"with (?:regard|respect|reference) to": "about",
    r"in (?:regard|relation) to": "about",
    r"for the purpose of": "for",
    r"has the ability to": "can",
    r"(?:is|are) able to": "can",
    r"you are required to": "you must",
    r"you (?:are going to|will) need to": "you must",
    # "what you have to offer" is no duty.
    r"(?<!what )(?<!all )(?<!that )(?<!which )(?<!thing )(?<!if )you (?:need|have) to": "you must",
    r"do not (?:under any circumstances|ever)": "never",
    r"prior to": "before",
    r"subsequent to": "after",
    r"in spite of the fact that": "although",
    r"each and every": "every",
    r"take into (?:account|consideration)": "consider",
    r"provide (?:a|an) (?:answer|response) (?:to|for)": "answer",
    r"(?:very|really|extremely|truly|highly) (?=(?:important|crucial|essential|helpful|useful|kind|"
    r"friendly|careful|carefully|much)\b)": "",
}
# Only where a sentence begins; its first word follows.
_OPENINGS = {
    r"(?:please )?(?:always )?(?:note|keep in mind|remember|be aware) that (?!.*\band that\b)": "",
    r"as (?:was )?(?:already )?(?:mentioned|stated|noted) (?:above|before|earlier|previously),? ": "",
    r"it should be noted that ": "",
    r"needless to say,? ": "",
    r"as a matter of fact,? ": "",
    r"for all intents and purposes,? ": "",
    r"what i (?:want|would like) you to do is (?:to )?": "",
    r"i (?:would like|want) you to ": "",
    r"your (?:task|job|goal) is (?:going to be )?to ": "",
    r"(?:please )?(?:make (?:absolutely )?(?:sure|certain)|be (?:absolutely )?sure) "
    r"(?:that you (?!are\b|were\b|have\b|do\b|can\b|will\b|must\b)|to )": "",
    r"it is (?:\w+ly |very )?(?:important|essential|crucial|necessary) "
    r"(?:that you|to(?! (?:the|a|an|our|us|them|me|him|her)\b)) ": "you must ",
}
_POLITE = r"please|kindly|basically|actually|essentially|obviously|of course|in fact"
_PHRASES = [
    (re.compile(rf"\b{long}\b" if long[-1] != ")" else rf"\b{long}", re.IGNORECASE), short)
    for long, short in _SHORT_FORMS.items()
]
_OPENED = [(re.compile(long, re.IGNORECASE), short) for long, short in _OPENINGS.items()]
_FILLERS = re.compile(rf"(?<![\w-])(?:{_POLITE})\b,?[ \t]+", re.IGNORECASE)
_MARK = re.compile(r"\s*(?:(?:[-*•#>]+|\(?\d{1,3}[.)])\s+)*")
# What follows is to be said or written as it stands.
_LITERAL = re.compile(
    r":|\b(?:exactly|verbatim|literally|word for word|"
    r"(?:reply|answer|respond|return|output|say|write|print)\b(?: only)? with)\b",
    re.IGNORECASE,
)
_GAPS = re.compile(r"(?<=\S)[ \t]{2,}")
_BEFORE_MARK = re.compile(r"[ \t]+(?=[,.;:!?](?:\s|$))")
_STRENGTHS = {
    "light": "Say the same in fewer words. Keep every instruction, number, name and format.",
    "firm": "Use about half of the words. Keep every instruction, number, name and format; drop "
    "repetition, politeness, reasons and illustrations.",
    "hard": "Use as few words as you can, telegram style. Keep what decides which answer is right, "
    "and nothing else.",
}
DEFAULT_MIN_TOKENS = 12
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_QUOTED = re.compile(r"[\"“`{<\[|]")
_EMPTY_WORDS = frozenset(
    ["a", "an", "the", "please", "kindly", "very", "really", "to", "and", "of", "it", "is", "that"]
)
_SHORTEST = 12
_CHATTER = re.compile(
    r"^\W*(?:thank you|thanks|good luck|take (?:a deep breath|your time)|we (?:really )?appreciate|"
    r"(?:hello|hi)\b[ ,]*(?:there)?\W*$|welcome(?: to\b|\W*$)|i hope|your help is|"
    r"you are (?:doing )?(?:a )?(?:great|wonderful)|have fun)",
    re.IGNORECASE,
)
_DIRECTIVE = re.compile(
    r"\b(?:must|should|always|never|not|cannot|only|don't|answer|reply|respond|return|output|write|give|"
    r"classify|choose|pick|select|label|format|exactly|if|when|unless|use|json)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionEdit:
    """A shorter text for one section. `original_hash` is of the text that it replaces."""

    path: str
    original_hash: str
    proposed_body: str
    original_tokens: int
    proposed_tokens: int
    strategy: str
    strength: str

    @property
    def token_reduction(self) -> int:
        """What it saves."""
        return self.original_tokens - self.proposed_tokens

    @property
    def name(self) -> str:
        """Unique among the edits of a run."""
        return f"{self.path}/{self.strategy}-{self.strength}"

    def to_json(self) -> dict[str, Any]:
        """For an optimizer's state."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> SectionEdit:
        """From its JSON form."""
        return cls(**value)


class CompressStrategy(Protocol):
    """Proposes shorter texts for the sections of a prompt, mostly several strengths of each.

    Largest sections first; sections below `min_section_tokens` are left alone. Every text has all
    placeholders of the one that it replaces, and fewer tokens.
    """

    name: str
    min_section_tokens: int

    async def propose(
        self, configuration: Configuration, paths: Sequence[str]
    ) -> Sequence[SectionEdit]:
        """Edits of these sections."""
        ...


def worthwhile(
    path: str, text: str, shorter: Iterable[tuple[str, str]], *, strategy: str
) -> list[SectionEdit]:
    """Edits of those (strength, text) that keep every placeholder and save tokens, each text once."""
    before, seen = count_tokens(text), {text}
    found: list[SectionEdit] = []
    for strength, body in shorter:
        after = count_tokens(body)
        kept = set(placeholders(body)) == set(placeholders(text))
        if body in seen or not body.strip() or not kept or after >= before:
            continue
        seen.add(body)
        found.append(
            SectionEdit(
                path=path,
                original_hash=text_hash(text),
                proposed_body=body,
                original_tokens=before,
                proposed_tokens=after,
                strategy=strategy,
                strength=strength,
            )
        )
    return found


def largest_first(
    configuration: Configuration, paths: Sequence[str], min_section_tokens: int
) -> list[tuple[str, str]]:
    """The sections that are worth the effort, with their texts."""
    sized = [(count_tokens(configuration.sections[path]), path) for path in paths]
    order = sorted((-tokens, path) for tokens, path in sized if tokens >= min_section_tokens)
    return [(path, configuration.sections[path]) for _, path in order]


class MechanicalCompressStrategy:
    """Three strengths: `tidy` rewords, `lean` drops what repeats or only illustrates, `core` keeps
    the first sentence and what commands."""

    name = "mechanical"

    def __init__(self, *, min_section_tokens: int = DEFAULT_MIN_TOKENS) -> None:
        self.min_section_tokens = min_section_tokens

    async def propose(
        self, configuration: Configuration, paths: Sequence[str]
    ) -> Sequence[SectionEdit]:
        """Edits of these sections."""
        found: list[SectionEdit] = []
        for path, text in largest_first(configuration, paths, self.min_section_tokens):
            levels = [("tidy", tidy(text)), ("lean", lean(text)), ("core", core(text))]
            found += worthwhile(path, text, levels, strategy=self.name)
        return found


def tidy(text: str) -> str:
    """The same lines, shorter: filler, long phrases, white space and lines said twice go."""
    lines: list[str] = []
    seen: set[str] = set()
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        if fenced or _FENCE.match(line):
            lines.append(line)
            continue
        short = line.rstrip() if _QUOTED.search(line) else shortened(line.rstrip())
        key = key_of(short)
        if len(key) >= _SHORTEST and key in seen and not placeholders(line):
            continue
        seen.add(key)
        if short.strip() or (lines and lines[-1].strip()):
            lines.append(short)
    return "\n".join(lines).strip("\n")


def lean(text: str) -> str:
    """`tidy`, without sentences that repeat others, illustrate or only make conversation."""
    said: list[list[str]] = []

    def keep(sentence: str) -> bool:
        if placeholders(sentence):
            return True
        if is_illustration(sentence):
            return False
        if _CHATTER.match(sentence) and not _DIRECTIVE.search(sentence):
            return False
        words = _telling_words(sentence)
        repeats = len(words) > 1 and any(_within(words, other) for other in said)
        said.append(words)
        return not repeats

    return _filtered(without_examples(tidy(text)), keep)


def _telling_words(sentence: str) -> list[str]:
    found = re.findall(r"\w+(?:'\w+)?", _MARK.sub("", sentence, count=1).lower())
    return [word for word in found if word not in _EMPTY_WORDS]


def _within(words: Sequence[str], other: Sequence[str]) -> bool:
    """Whether the words all stand in the other, in this order: what differs in one is no repetition."""
    rest = iter(other)
    return all(word in rest for word in words)


def without_examples(text: str) -> str:
    """Without the examples that are written in it; one that holds a placeholder stays."""
    units = split_units(text)
    left = [one for one in units if placeholders(one.text) or not _is_example(one.text)]
    return "".join(unit.text + unit.tail for unit in left).rstrip()


def _is_example(unit: str) -> bool:
    lines = unit.splitlines()
    return example_spans(lines) == [(0, len(lines))]


def core(text: str) -> str:
    """`lean`, with only the first sentence, those that command something, and lists."""
    first = True

    def keep(sentence: str) -> bool:
        nonlocal first
        listed = bool(_MARK.match(sentence)[0])  # type: ignore[index] # it matches nothing, too
        wanted = first or listed or bool(placeholders(sentence) or _DIRECTIVE.search(sentence))
        first = False
        return wanted

    return _filtered(lean(text), keep)


def _filtered(text: str, keep: Callable[[str], bool]) -> str:
    """The text with only those sentences; what stands in fences stays as it is."""
    lines: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
            lines.append(line)
        elif fenced or not line.strip():
            lines.append(line)
        else:
            kept = [one for one in sentences(line) if keep(one)]
            if kept:
                indent = line[: len(line) - len(line.lstrip())]
                lines.append(indent + " ".join(one.strip() for one in kept))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def shortened(line: str) -> str:
    """The line without filler and with short forms; what is to be written as it stands stays."""
    mark = _MARK.match(line)
    indent = "" if mark is None else mark[0]
    parts = SENTENCE_END.split(line[len(indent) :])
    short = " ".join(_shortened_sentence(one) for one in parts)
    return line if short == " ".join(parts) else indent + _GAPS.sub(" ", short).rstrip()


def _shortened_sentence(sentence: str) -> str:
    literal = _LITERAL.search(sentence)
    end = len(sentence) if literal is None else literal.start()
    text = sentence[:end]
    for pattern, short in _OPENED:
        if (found := pattern.match(text)) and (found.end() < len(text) or end < len(sentence)):
            text = short + text[found.end() :]
    for pattern, short in _PHRASES:
        text = pattern.sub(partial(_like, short), text)
    text = _BEFORE_MARK.sub("", _FILLERS.sub("", text)) + sentence[end:]
    return text[:1].upper() + text[1:] if sentence[:1].isupper() else text


def _like(short: str, found: re.Match[str]) -> str:
    return short[:1].upper() + short[1:] if found.group(0)[:1].isupper() else short


class LLMCompressStrategy:
    """Asks a model for `light`, `firm` and `hard` rewrites of each section, largest first.

    `model` is a name, a Model or a function from text to text.
    """

    name = "model"

    def __init__(self, model: Any, *, min_section_tokens: int = DEFAULT_MIN_TOKENS) -> None:
        self.min_section_tokens = min_section_tokens
        self._asker = Asker(model)

    def connect(self, open_model: Callable[[Any], Model]) -> None:
        """Open the model so that its calls are counted."""
        self._asker.connect(open_model)

    async def propose(
        self, configuration: Configuration, paths: Sequence[str]
    ) -> Sequence[SectionEdit]:
        """Edits of these sections; answers that are no shorter text are left out."""
        chosen = largest_first(configuration, paths, self.min_section_tokens)
        questions = [
            (path, text, strength, _question(path, text, wish))
            for path, text in chosen
            for strength, wish in _STRENGTHS.items()
        ]
        answers = await self._asker.ask_all([question for *_, question in questions])
        found: list[SectionEdit] = []
        for path, text in chosen:
            texts = [
                (strength, extract_text(answer, current=text) or "")
                for (asked, _, strength, _), answer in zip(questions, answers, strict=True)
                if asked == path
            ]
            found += worthwhile(path, text, texts, strategy=self.name)
        return found


def _question(path: str, text: str, wish: str) -> str:
    names = sorted(set(placeholders(text)))
    kept = ", ".join(f"{{{{{name}}}}}" for name in names)
    rules = f"Keep the placeholders {kept} exactly as they are. " if names else ""
    return (
        f"You shorten the instructions of an assistant without changing what it does. The section "
        f"`{path}` reads:\n\n{fence(text)}\n\n{wish} {rules}Answer with the shortened section only, "
        "between two lines of ```."
    )
