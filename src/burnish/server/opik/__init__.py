"""What Opik's clients call, under `/api`: their words in, our records made, their words out."""

from fastapi import APIRouter

from burnish.server.opik import datasets, experiments, optimizations, standing, traces

# Their contract is Opik's own description and not ours, so ours does not repeat it.
router = APIRouter(prefix="/api", include_in_schema=False)
for _one in (standing, datasets, optimizations, experiments, traces):
    router.include_router(_one.router)

__all__ = ["router"]
