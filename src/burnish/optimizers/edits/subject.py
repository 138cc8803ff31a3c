"""Subject of the edits: where task and input stand in a configuration, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.domain import Configuration, SearchSpace, UsageError, placeholders
from burnish.evaluation.agents.prompt_agent import label_words, role_of
from burnish.optimizers.edits.edit import any_of, humanised, sentences, shows_input_only
from burnish.optimizers.edits.lexicon import aspect_of, verb_class
from burnish.optimizers.shared.section_roles import is_description

_ROLE_ORDER = ("system", "developer", "user", "assistant")
_ASPECT_OF = re.compile(
    r"\b(?:classify|determine|identify|detect|judge|decide|find|label|rate|what is|name|tell)\s+"
    r"(?:me\s+)?(?:the|its|each|a)\s+([a-z]+)\s+(?:of|in|for|that)\b",
    re.IGNORECASE,
)
_PERSONA = re.compile(r"(?i)you are\b")
_ASPECTS = re.compile(
    r"\b(sentiment|emotion|topic|category|intent|intention|tone|language|genre|priority|department|"
    r"severity|stance|label|class|type|rating|score|verdict|mood|opinion|subject)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A baseline seen by the edit operators.

    `task_path` is the free section that says what to do, `input_path` the free section that shows
    the item; they may be one, or missing. `words` are what the model says for each label.
    """

    baseline: Configuration
    space: SearchSpace
    words: Mapping[str, str]
    task_path: str | None
    input_path: str | None
    noun: str
    aspect: str

    @classmethod
    def of(cls, baseline: Configuration, space: SearchSpace, labels: Sequence[str]) -> Subject:
        """Look at a baseline. The order of its sections has no part in what is seen."""
        paths = _in_order(baseline)
        free = [path for path in paths if space.may_change(path)]
        texts = baseline.sections
        # Descriptions of tools say neither what to do nor what the item is.
        said = [path for path in paths if not is_description(path)]
        names = _main_names(texts, said)
        return cls(
            baseline=baseline,
            space=space,
            words=_words(labels, baseline),
            task_path=_task_path(texts, [path for path in free if path in said]),
            input_path=_input_path(texts, [path for path in free if path in said]),
            noun=_noun(names[0]) if names else "input",
            aspect=_aspect("\n".join(texts[path] for path in said), labels),
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels in their declared order; empty when answers are free text."""
        return tuple(self.words)

    @property
    def task(self) -> str:
        """The text that says what to do."""
        return self.baseline.sections[self.task_path] if self.task_path is not None else ""

    @property
    def listing(self) -> str:
        """The words to choose from, as `a, b or c`."""
        return any_of(list(self.words.values()))

    @property
    def single_words(self) -> bool:
        """Whether every answer is one word."""
        return all(word.isalpha() for word in self.words.values())

    def free_paths(self) -> list[str]:
        """Sections that may be changed, in the order of roles."""
        return [path for path in _in_order(self.baseline) if self.space.may_change(path)]

    def task_sentence(self, *, with_input: bool = False) -> str | None:
        """The sentence of the task that names the job.

        That is the first that opens with a verb for it, else the first that says something. Those
        that hold a placeholder count only `with_input`.
        """
        found = [
            sentence
            for line in self.task.split("\n")
            for sentence in sentences(line)
            if (with_input or not placeholders(sentence)) and len(sentence.split()) > 1
        ]
        naming = [sentence for sentence in found if verb_class(sentence) is not None]
        others = [sentence for sentence in found if not _PERSONA.match(sentence)]
        return next(iter(naming or others), None)


def _in_order(configuration: Configuration) -> list[str]:
    """Paths by role, then by name."""
    return sorted(configuration.sections, key=lambda path: (_ROLE_ORDER.index(role_of(path)), path))


def _names_job(text: str) -> bool:
    """Whether a sentence of the text starts with a verb that gives a job."""
    return any(
        verb_class(sentence) is not None
        for line in text.split("\n")
        for sentence in sentences(line)
    )


def _words(labels: Sequence[str], baseline: Configuration) -> dict[str, str]:
    try:
        return label_words(tuple(dict.fromkeys(labels)), baseline.parameters)
    except UsageError:
        return {}


def _main_names(texts: Mapping[str, str], paths: Sequence[str]) -> list[str]:
    """Placeholders, those of what the user says first."""
    by_role = sorted(paths, key=lambda path: role_of(path) != "user")
    return [name for path in by_role for name in placeholders(texts[path])]


def _noun(name: str) -> str:
    """What an input is called by its column; a column called x says nothing."""
    words = humanised(name.rsplit(".", 1)[-1])
    return words if len(words) > 2 else "input"


def _task_path(texts: Mapping[str, str], free: Sequence[str]) -> str | None:
    speaking = [path for path in free if role_of(path) != "assistant"]
    with_words = [path for path in speaking if _has_instructions(texts[path])]
    naming = [path for path in with_words if _names_job(texts[path])]
    return next(iter(naming or with_words or speaking), None)


def _input_path(texts: Mapping[str, str], free: Sequence[str]) -> str | None:
    showing = [path for path in free if placeholders(texts[path]) and role_of(path) != "assistant"]
    users = [path for path in showing if role_of(path) == "user"]
    return next(iter(users or showing), None)


def _has_instructions(text: str) -> bool:
    return any(line.strip() and not shows_input_only(line) for line in text.split("\n"))


def _aspect(text: str, labels: Sequence[str]) -> str:
    """What is asked for, in a word."""
    named = _ASPECT_OF.search(text)
    if named:
        return named.group(1).lower()
    told = _ASPECTS.search(text)
    if told:
        return told.group(1).lower()
    return aspect_of(labels) if labels else "answer"
