"""Whether a request for an image run can be carried out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from burnish.app.images.models import TEMPLATES, ImageModels, full_name
from burnish.domain import UsageError
from burnish.domain.images.protocols import ImageRepository
from burnish.domain.images.runs import (
    MIN_PROMPT_LENGTH,
    VARIANT_COUNTS,
    Constraints,
    ImageRunRequest,
)
from burnish.domain.wording import counted
from burnish.images.planning import LONGEST_PROMPT
from burnish.support.names import NAME_PATTERN

MOST_TERMS, LONGEST_TERM = 20, 100
_PROJECT = re.compile(NAME_PATTERN[:-1] + r"\Z")
_KEPT_CODES = ("missing_key", "missing_extra")


def invalid(what: str, why: str, fix: str) -> UsageError:
    """A request that cannot be carried out."""
    return UsageError(what=what, why=why, fix=fix, code="INVALID_REQUEST")


async def checked(
    request: ImageRunRequest,
    repository: ImageRepository,
    models: ImageModels,
    allowed_models: Collection[str] | None,
) -> ImageRunRequest:
    """The request with tidy texts and full names of models; UsageError when it cannot be used."""
    require_project(request.project_id)
    prompt = require_prompt(request.base_prompt)
    if request.n_variants not in VARIANT_COUNTS:
        raise invalid(
            f"{counted(request.n_variants, 'variant')} cannot be made",
            f"a run has from {VARIANT_COUNTS[0]} to {VARIANT_COUNTS[-1]}",
            f"ask for {' or '.join(str(one) for one in VARIANT_COUNTS)}",
        )
    tidy = replace(
        request,
        base_prompt=prompt,
        judge_prompt=_judge_prompt(request.judge_prompt, prompt),
        constraints=_constraints(request.constraints),
        image_model=full_name(request.image_model.strip()),
        judge_model=full_name(request.judge_model.strip()),
        text_model=_text_model(request.text_model),
    )
    _require_models(tidy, models, allowed_models)
    if request.parent_commit_id is not None:
        await require_parent(repository, request.project_id, request.parent_commit_id)
    return tidy


def _judge_prompt(given: str | None, prompt: str) -> str | None:
    """None where it says nothing else than the prompt."""
    tidy = None if given is None else require_prompt(given)
    return None if tidy == prompt else tidy


def _text_model(name: str | None) -> str | None:
    named = full_name((name or "").strip())
    return None if named in ("", TEMPLATES) else named


def require_project(project_id: str) -> str:
    """The id itself, if it can be one."""
    if _PROJECT.match(project_id):
        return project_id
    raise invalid(
        f"the project cannot be named {project_id[:100]!r}",
        "a name has up to 100 letters, digits, dots, dashes and underscores, and begins with a "
        "letter or a digit",
        "choose another name",
    )


def require_prompt(prompt: str) -> str:
    """The prompt without spaces around it."""
    tidy = prompt.strip()
    if MIN_PROMPT_LENGTH <= len(tidy) <= LONGEST_PROMPT:
        return tidy
    raise invalid(
        "the prompt cannot be used",
        f"it has {counted(len(tidy), 'character')}",
        f"write from {MIN_PROMPT_LENGTH} to {LONGEST_PROMPT:,}",
    )


async def require_parent(repository: ImageRepository, project_id: str, commit_id: str) -> None:
    """A commit of the same project from which pictures can be made."""
    what = f"the parent commit {commit_id[:100]!r} cannot be used"
    try:
        parent = await repository.commit(commit_id)
    except UsageError as error:
        raise invalid(what, error.why, "take the id of a commit of this project") from error
    if parent.project_id != project_id:
        raise invalid(
            what,
            f"it belongs to the project {parent.project_id!r}",
            f"take a commit of {project_id!r}, or run it in that project",
        )
    if not parent.can_be_parent:
        raise invalid(
            what,
            f"it is {parent.status.value} and has {counted(len(parent.images), 'picture')}",
            "take one that succeeded and has a picture",
        )


def _require_models(
    request: ImageRunRequest, models: ImageModels, allowed: Collection[str] | None
) -> None:
    named = [request.image_model, request.judge_model]
    named += [] if request.text_model is None else [request.text_model]
    for name in named:
        if allowed is not None and name not in allowed:
            raise invalid(
                f"the model {name[:100]!r} cannot be used",
                f"this server allows {', '.join(sorted(allowed))}",
                "use one of these, or name it in [images] or [models] of burnish.toml",
            )
    try:
        models.of(request.image_model, request.judge_model, request.text_model)
    except UsageError as error:
        if error.code in _KEPT_CODES:
            raise
        raise invalid(error.what, error.why, error.fix) from error


def _constraints(given: Constraints) -> Constraints:
    return Constraints(
        must_include=_terms("must_include", given.must_include),
        must_avoid=_terms("must_avoid", given.must_avoid),
    )


def _terms(name: str, given: Iterable[str]) -> tuple[str, ...]:
    tidy = tuple(dict.fromkeys(" ".join(one.split()) for one in given if one.strip()))
    longest = max((len(one) for one in tidy), default=0)
    if len(tidy) > MOST_TERMS or longest > LONGEST_TERM:
        raise invalid(
            f"{name} cannot be used",
            f"it has {counted(len(tidy), 'entry', 'entries')}, the longest of "
            f"{counted(longest, 'character')}",
            f"give up to {MOST_TERMS} of up to {LONGEST_TERM} characters",
        )
    return tidy
