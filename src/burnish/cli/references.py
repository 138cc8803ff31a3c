"""How people name an experiment: its id, a part of it, or `latest`."""

from __future__ import annotations

from collections.abc import AsyncIterator

from burnish.domain import Experiment, ExperimentRepository, UsageError

LATEST = "latest"
_PAGE = 200
_LISTED = 5


async def resolve(experiments: ExperimentRepository, reference: str) -> Experiment:
    """The one experiment that is meant; UsageError when there is none or more than one."""
    wanted = reference.strip().lower()
    if wanted == LATEST:
        async for newest in _all(experiments, page=1):
            return newest
        raise _unknown("there are no experiments yet", "run `burnish eval` first")
    if not wanted:
        raise _unknown("it is empty", "name one that `burnish list` shows, or `latest`")
    found: list[Experiment] = []
    async for experiment in _all(experiments):
        if experiment.id == wanted:
            return experiment
        if experiment.id.startswith(wanted) or experiment.id.endswith(wanted):
            found.append(experiment)
    if len(found) == 1:
        return found[0]
    if found:
        some = ", ".join(one.id for one in found[:_LISTED])
        more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
        raise _unknown(
            f"{reference!r} could be {some}{more}", "write more of the id", "ambiguous_reference"
        )
    raise _unknown(f"no id begins or ends with {reference!r}", "run `burnish list` for all of them")


async def _all(
    experiments: ExperimentRepository, *, page: int = _PAGE
) -> AsyncIterator[Experiment]:
    before: str | None = None
    while True:
        some = await experiments.list_experiments(limit=page, before=before)
        for experiment in some:
            yield experiment
        if len(some) < page:
            return
        before = some[-1].id


def _unknown(why: str, fix: str, code: str = "not_found") -> UsageError:
    return UsageError(what="the experiment cannot be found", why=why, fix=fix, code=code)
