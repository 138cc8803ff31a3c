"""Models that requests may name: whether each can be used now, and what it costs."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from burnish.app.agents.model_list import check_model, list_models, open_providers
from burnish.server.http.errors import errors
from burnish.server.http.responses import View
from burnish.server.http.services import Serving

router = APIRouter(prefix="/v1/private/models", tags=["project"])


class ModelView(View):
    """A model. It was opened, so its key or its file is there; it was not asked for anything."""

    name: str
    allowed: bool = Field(description="Whether requests may name it.")
    ready: bool = Field(description="Whether its key or its file is there.")
    problem: str | None
    fix: str | None
    input_price: float | None = Field(description="USD for a million tokens; None is unknown.")
    output_price: float | None
    cached_input_price: float | None = Field(description="Of input that the provider has cached.")


class ModelList(BaseModel):
    """The models of the configuration and the embedded ones."""

    items: list[ModelView]
    providers: list[str] = Field(
        description="Providers of which any other model may be named, as PROVIDER/NAME.",
        examples=[["openai"]],
    )


@router.get("", responses=errors())
async def get_models(serving: Serving) -> ModelList:
    """What agents, judges and optimizers can be run with here."""
    own = await asyncio.to_thread(serving.project.settings)
    items = [ModelView.read(one) for one in await list_models(own)]
    return ModelList(items=items, providers=open_providers(own))


@router.get("/check", responses=errors())
async def check_one_model(
    serving: Serving,
    name: Annotated[str, Query(min_length=1, max_length=200, examples=["openai/gpt-4o-mini"])],
) -> ModelView:
    """One model by its name, whether or not it is in the list."""
    own = await asyncio.to_thread(serving.project.settings)
    return ModelView.read(await check_model(name, own))
