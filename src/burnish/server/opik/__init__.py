"""Routes that Opik's clients call, under `/api`: their words in, our records made, their words out."""

from fastapi import APIRouter

from burnish.server.opik import datasets, experiments, optimizations, projects, traces

# Their contract is Opik's own description and not ours, so ours does not repeat it.
router = APIRouter(prefix="/api", include_in_schema=False)
for _module in (projects, datasets, optimizations, experiments, traces):
    router.include_router(_module.router)

__all__ = ["router"]
