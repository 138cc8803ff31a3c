"""What routes of agents, suites and optimizers work with."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path

from burnish.app.agents.optimizer_configs import OptimizerConfigs
from burnish.app.agents.registry import AgentRegistry
from burnish.app.datasets.suites import SuiteRegistry
from burnish.domain.configured_objects import ObjectVersion
from burnish.server.http import examples
from burnish.server.http.services import Serving

AgentName = Annotated[str, Path(min_length=1, max_length=200, examples=["reviews"])]
OptimizerName = Annotated[str, Path(min_length=1, max_length=100, examples=["nightly"])]
RunId = Annotated[str, Path(min_length=1, max_length=100, examples=[examples.OPTIMIZATION_ID])]


async def _agents(serving: Serving) -> AgentRegistry:
    return AgentRegistry(serving.workspace, serving.project)


async def _suites(serving: Serving) -> SuiteRegistry:
    return SuiteRegistry(serving.workspace, serving.project)


async def _optimizers(serving: Serving) -> OptimizerConfigs:
    return OptimizerConfigs(serving.workspace, serving.project)


Agents = Annotated[AgentRegistry, Depends(_agents)]
Suites = Annotated[SuiteRegistry, Depends(_suites)]
Optimizers = Annotated[OptimizerConfigs, Depends(_optimizers)]


async def _optimizer(
    optimizers: Optimizers, agent: AgentName, name: OptimizerName
) -> ObjectVersion:
    return await optimizers.get(agent, name)


# The one that the path names, as it is now.
Optimizer = Annotated[ObjectVersion, Depends(_optimizer)]
