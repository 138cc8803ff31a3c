"""Traces of requests, where the SDK is installed: routes and no secrets."""

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from serving_world import OPTIMIZATIONS, ServerThread, make_served_project, settings_of

from burnish.server.http import app
from burnish.server.http.auth import Keys

KEY = "telemetry-0123456789"


@pytest.fixture
def spans(monkeypatch):
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    yield exporter
    provider.shutdown()


def requests_of(tmp_path):
    folder = make_served_project(tmp_path / "project", items=4)
    settings = settings_of(folder, execute=False, keys=Keys.of(KEY))
    with ServerThread(settings) as server, server.client() as client:
        headers = {"Authorization": f"Bearer {KEY}"}
        assert client.get(OPTIMIZATIONS, headers=headers).status_code == 200
        assert client.get(f"{OPTIMIZATIONS}/x", headers=headers).status_code == 404


def test_requests_are_traced_by_route_and_without_keys(spans, tmp_path):
    requests_of(tmp_path)

    found = spans.get_finished_spans()

    assert [one.name for one in found] == [
        f"GET {OPTIMIZATIONS}",
        f"GET {OPTIMIZATIONS}/{{optimization_id}}",
    ]
    assert not any(KEY in one.to_json() for one in found)


def test_without_the_sdk_nothing_is_traced(spans, tmp_path, monkeypatch):
    monkeypatch.setattr(app, "_has_sdk", lambda: False)

    requests_of(tmp_path)

    assert spans.get_finished_spans() == ()
