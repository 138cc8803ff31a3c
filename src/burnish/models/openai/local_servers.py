"""Local model servers: which of Ollama, vLLM, LM Studio and llama.cpp answer on this machine."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from burnish.models.openai.presets import PRESETS, Preset, is_loopback

if TYPE_CHECKING:
    import httpx2

# Where nobody listens is known at once: this bounds only who listens and says nothing.
_SECONDS = 3.0
_LARGEST_BYTES = 1024 * 1024
_SHOWN_MODELS = 8
# What these say of themselves in a list of models, wherever they listen.
_OWNERS = {"vllm": "vllm", "llamacpp": "llamacpp"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """A server that answered, with the models that it lists."""

    provider: str
    address: str
    models: tuple[str, ...] = ()
    wants_key: bool = False

    @property
    def words(self) -> str:
        """What it has, as people read it."""
        if self.wants_key:
            return "it wants a key"
        if not self.models:
            return "it has no model"
        more = len(self.models) - _SHOWN_MODELS
        return ", ".join(self.models[:_SHOWN_MODELS]) + (f" and {more} more" if more > 0 else "")

    @property
    def use(self) -> str:
        """What to do, such as the lines for burnish.toml, to ask its first model."""
        preset = PRESETS[self.provider]
        if self.wants_key:
            return f"put its key into {preset.key_env}"
        if not self.models:
            return "load or pull one there"
        chat = next((one for one in self.models if "embed" not in one.lower()), self.models[0])
        line = f"burnish.toml: model = {json.dumps(f'{self.provider}/{chat}', ensure_ascii=False)}"
        if self.address == preset.address:
            return line
        return f'{line} and, in [models.{self.provider}], base_url = "{self.address}"'


async def find_local_servers(
    tables: Mapping[str, Any] | None = None, *, transport: httpx2.AsyncBaseTransport | None = None
) -> list[LocalServer]:
    """Those that answer within seconds, at their usual ports or where `[models]` says they are.

    Nothing but this machine is asked, and whatever happens there is no failure.
    """
    import httpx2  # noqa: PLC0415 - slow to load

    local = {name: preset for name, preset in PRESETS.items() if preset.local}
    async with httpx2.AsyncClient(
        timeout=_SECONDS, trust_env=False, transport=transport or httpx2.AsyncHTTPTransport()
    ) as client:
        answers = await asyncio.gather(
            *(
                _look(client, name, preset, _address(name, preset, tables or {}))
                for name, preset in local.items()
            )
        )
    return [one for one in answers if one is not None]


def _address(name: str, preset: Preset, tables: Mapping[str, Any]) -> str:
    table = tables.get(name)
    given = table.get("base_url") if isinstance(table, Mapping) else None
    return given.rstrip("/") if isinstance(given, str) and is_loopback(given) else preset.address


async def _look(
    client: httpx2.AsyncClient, name: str, preset: Preset, address: str
) -> LocalServer | None:
    key = os.environ.get(preset.key_env, "").strip()
    usable = key and key.isascii() and key.isprintable()
    headers = {"Authorization": f"Bearer {key}"} if usable else {}
    content = b""
    try:
        async with (
            asyncio.timeout(_SECONDS),
            client.stream("GET", f"{address}/models", headers=headers) as response,
        ):
            if response.status_code in (401, 403):
                return LocalServer(provider=name, address=address, wants_key=True)
            async for piece in response.aiter_bytes():
                content += piece
                if len(content) > _LARGEST_BYTES:
                    return None
            return _listed(name, address, json.loads(content)) if response.is_success else None
    except Exception:  # noqa: BLE001 - nobody there, or somebody else: neither is a failure
        return None


def _listed(name: str, address: str, listed: Any) -> LocalServer | None:
    """By its list of models; None where the answer is no such list."""
    data = listed.get("data") if isinstance(listed, Mapping) else None
    if not isinstance(data, list) or not all(isinstance(one, Mapping) for one in data):
        return None
    owner = str(data[0].get("owned_by", "")).lower() if data else ""
    models = tuple(str(one["id"]) for one in data if isinstance(one.get("id"), str))
    return LocalServer(provider=_OWNERS.get(owner, name), address=address, models=models)
