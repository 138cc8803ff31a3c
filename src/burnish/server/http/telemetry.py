"""OpenTelemetry, where its SDK is installed (`burnish[otel]`) and its variables say where to send."""

from __future__ import annotations

from importlib.util import find_spec

from fastapi.telemetry import TelemetryConfig


def telemetry() -> TelemetryConfig:
    """Traces of requests, to wherever the OTEL_* variables point; nothing without the SDK.

    FastAPI's log records hold messages and traces of exceptions, so they stay off.
    """
    installed = find_spec("opentelemetry") is not None and _has_sdk()
    return TelemetryConfig(
        tracing=installed,
        metrics=False,
        logs=False,
        operation_spans=False,
        auto_configure=installed,
    )


def _has_sdk() -> bool:
    return find_spec("opentelemetry.sdk") is not None
