"""Language models: providers, limits, retries, prices, call cache, tokens."""

from burnish.models.callable_model import CallableModel
from burnish.models.catalog import CachedModel, as_model, open_model
from burnish.models.endpoint.model import EndpointModel
from burnish.models.endpoint.vendor import Vendor, Wire
from burnish.models.openai.models import OpenAIModel, OpenAIResponsesModel
from burnish.models.replay import RecordingModel, ReplayModel
from burnish.models.scripted import ErrorRule, ScriptedModel
from burnish.models.settings import ModelSettings
from burnish.models.tokens import count_tokens

__all__ = [
    "CachedModel",
    "CallableModel",
    "EndpointModel",
    "ErrorRule",
    "ModelSettings",
    "OpenAIModel",
    "OpenAIResponsesModel",
    "RecordingModel",
    "ReplayModel",
    "ScriptedModel",
    "Vendor",
    "Wire",
    "as_model",
    "count_tokens",
    "open_model",
]
