"""Presets of OpenAI-compatible services: address, key, prices, and what each does otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A service that speaks OpenAI's chat API, by the name before the slash.

    `address` is where it is unless `base_url` says otherwise; of a service whose address each customer
    has, `address_env` names the variable that holds it, and `path` what follows. `key_env` names the
    variable of the key, which a `local` server may do without. `billed_as` is its name in the tables
    of prices. `renames` are parameters that it calls otherwise. One without `json_schema` takes a
    schema as words and answers with JSON of any form. `prefix` is put before short model names.
    `differs` is all of that in words.
    """

    service: str
    key_env: str
    address: str = ""
    address_env: str = ""
    path: str = ""
    billed_as: str = ""
    local: bool = False
    renames: Mapping[str, str] = field(default_factory=dict)
    json_schema: bool = True
    stream_options: bool = True
    grammar: bool = False
    prefix: str = ""
    differs: str = ""

    def full_name(self, model: str) -> str:
        """The model as the service calls it."""
        return model if "/" in model else self.prefix + model

    def runs_here(self, model: str, base_url: str | None) -> bool:
        """Whether the model runs on this machine, so that nobody bills it."""
        if not self.local or model.endswith("cloud"):  # Ollama hands models such as x:cloud on.
            return False
        return base_url is None or is_loopback(base_url)


def is_loopback(address: str) -> bool:
    """Whether an address is on this machine."""
    try:
        return urlsplit(address).hostname in _LOOPBACK
    except ValueError:
        return False


_LEGACY_LENGTH = {"max_completion_tokens": "max_tokens"}

PRESETS: dict[str, Preset] = {
    "openai": Preset(
        service="OpenAI",
        address="https://api.openai.com/v1",
        address_env="OPENAI_BASE_URL",
        key_env="OPENAI_API_KEY",
        billed_as="openai",
        differs='`OPENAI_BASE_URL` moves it; `api = "responses"` speaks the other API',
    ),
    "azure": Preset(
        service="Azure OpenAI",
        address_env="AZURE_OPENAI_ENDPOINT",
        path="/openai/v1",
        key_env="AZURE_OPENAI_API_KEY",
        billed_as="azure",
        differs="NAME is your deployment; priced by tables only where it is called as its model; "
        "with `OPENAI_API_VERSION` the dated API at `/openai/deployments/NAME` is spoken",
    ),
    "openrouter": Preset(
        service="OpenRouter",
        address="https://openrouter.ai/api/v1",
        key_env="OPENROUTER_API_KEY",
        billed_as="openrouter",
        differs="NAME is VENDOR/MODEL; a schema is kept to only by models that can",
    ),
    "groq": Preset(
        service="Groq",
        address="https://api.groq.com/openai/v1",
        key_env="GROQ_API_KEY",
        billed_as="groq",
        differs="refuses logprobs, top_logprobs and logit_bias; temperature 0 becomes 1e-8",
    ),
    "mistral": Preset(
        service="Mistral",
        address="https://api.mistral.ai/v1",
        key_env="MISTRAL_API_KEY",
        billed_as="mistral",
        renames={"seed": "random_seed", **_LEGACY_LENGTH},
        stream_options=False,
        differs="refuses unknown fields; `seed` is sent as random_seed, the length as max_tokens",
    ),
    "deepseek": Preset(
        service="DeepSeek",
        address="https://api.deepseek.com/v1",
        key_env="DEEPSEEK_API_KEY",
        billed_as="deepseek",
        renames=_LEGACY_LENGTH,
        json_schema=False,
        differs="holds to no schema: it is put into the prompt, and the answer is any JSON object",
    ),
    "together": Preset(
        service="Together",
        address="https://api.together.ai/v1",
        key_env="TOGETHER_API_KEY",
        billed_as="together",
        renames=_LEGACY_LENGTH,
        differs="NAME is VENDOR/MODEL; a schema is kept to only by models that can",
    ),
    "fireworks": Preset(
        service="Fireworks",
        address="https://api.fireworks.ai/inference/v1",
        key_env="FIREWORKS_API_KEY",
        billed_as="fireworks",
        renames=_LEGACY_LENGTH,
        prefix="accounts/fireworks/models/",
        differs="a NAME without a slash is one of accounts/fireworks/models/",
    ),
    "xai": Preset(
        service="xAI",
        address="https://api.x.ai/v1",
        key_env="XAI_API_KEY",
        billed_as="x-ai",
        differs="its reasoning models refuse presence_penalty, frequency_penalty and stop",
    ),
    "ollama": Preset(
        service="Ollama on this machine",
        address="http://127.0.0.1:11434/v1",
        key_env="OLLAMA_API_KEY",
        local=True,
        renames=_LEGACY_LENGTH,
        differs="ignores logit_bias; cuts prompts off at the model's num_ctx without a word",
    ),
    "vllm": Preset(
        service="vLLM on this machine",
        address="http://127.0.0.1:8000/v1",
        key_env="VLLM_API_KEY",
        local=True,
        differs="tools only where it was started with --enable-auto-tool-choice and a parser",
    ),
    "lmstudio": Preset(
        service="LM Studio on this machine",
        address="http://127.0.0.1:1234/v1",
        key_env="LM_API_TOKEN",
        local=True,
        renames=_LEGACY_LENGTH,
        differs="gives no logprobs; loads the model that is named when it is first asked",
    ),
    "llamacpp": Preset(
        service="llama.cpp's server on this machine",
        address="http://127.0.0.1:8080/v1",
        key_env="LLAMA_API_KEY",
        local=True,
        grammar=True,
        differs="labels are held to by a grammar; answers with the model that it was started with",
    ),
}
