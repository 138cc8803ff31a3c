"""Writes traces as the libraries of OpenInference, OpenTelemetry, Langfuse and Opik write them.

Run with a Python that has them (`make opik-venv`) and a folder. Every place that can hold a text of a
user holds the canary, an address that must not come through.
"""

import datetime as dt
import json
import sys
from pathlib import Path

from langfuse.api import CategoricalScore, NumericScore, ObservationV2
from openinference.instrumentation import (
    OITracer,
    TraceConfig,
    get_llm_attributes,
    using_attributes,
)
from opentelemetry.exporter.otlp.json.file import FileSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
from opik.cli.exports.utils import write_json_data
from opik.rest_api.types.feedback_score_public import FeedbackScorePublic
from opik.rest_api.types.span_public import SpanPublic
from opik.rest_api.types.trace_public import TracePublic

FOLDER = Path(sys.argv[1])
CANARY = "canary@example.org"
NOW = dt.datetime(2026, 11, 18, 12, tzinfo=dt.UTC)


def spans():
    """One agent with a call of a model in it, written in both of OpenTelemetry's forms."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(FileSpanExporter(FOLDER / "otlp.jsonl")))
    with (FOLDER / "openinference.json").open("w") as file:
        provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=file)))
        tracer = OITracer(provider.get_tracer("agent"), config=TraceConfig())
        told = {
            "session_id": "s1",
            "user_id": CANARY,
            "metadata": {"who": CANARY},
            "tags": ["beta"],
        }
        with (
            using_attributes(**told),
            tracer.start_as_current_span("answer", openinference_span_kind="agent") as agent,
        ):
            agent.set_input(f"Where is my order? Write to {CANARY}.")
            agent.set_output("It is on its way.")
            with tracer.start_as_current_span("chat", openinference_span_kind="llm") as model:
                model.set_attributes(
                    get_llm_attributes(
                        model_name="gpt-4o-mini",
                        input_messages=[
                            {"role": "system", "content": "Be kind."},
                            {"role": "user", "content": f"Where is my order? {CANARY}"},
                        ],
                        output_messages=[{"role": "assistant", "content": "It is on its way."}],
                        token_count={"prompt": 12, "completion": 6, "total": 18},
                    )
                )
            agent.add_event(
                "gen_ai.evaluation.result",
                {
                    "gen_ai.evaluation.name": "helpful",
                    "gen_ai.evaluation.score.value": 0.25,
                    "gen_ai.evaluation.explanation": f"no date, says {CANARY}",
                },
            )
        provider.shutdown()


def langfuse():
    """Pages of its API: observations of a trace, and scores of both kinds."""
    common = {"trace_id": "t1", "project_id": "p1", "start_time": NOW, "trace_name": "answer"}
    told = {"session_id": "s1", "user_id": CANARY, "tags": ["beta"], "metadata": {"who": CANARY}}
    agent = ObservationV2(
        id="o1",
        type="AGENT",
        name="answer",
        level="DEFAULT",
        input={"question": f"Where is my order? Write to {CANARY}."},
        output="It is on its way.",
        **common,
        **told,
    )
    model = ObservationV2(
        id="o2",
        type="GENERATION",
        name="chat",
        level="ERROR",
        status_message="cut",
        parent_observation_id="o1",
        model="gpt-4o-mini",
        input=[{"role": "user", "content": CANARY}],
        usage_details={"input": 12, "output": 6},
        **common,
    )
    scored = {"timestamp": NOW, "created_at": NOW, "updated_at": NOW, "environment": "production"}
    helpful = NumericScore(
        id="s1",
        trace_id="t1",
        name="helpful",
        source="ANNOTATION",
        comment=f"no date, says {CANARY}",
        value=0.25,
        **scored,
    )
    tone = CategoricalScore(
        id="s2", trace_id="t1", name="tone", source="EVAL", value=1, string_value="kind", **scored
    )
    page = {"data": [json.loads(one.json()) for one in (agent, model, helpful, tone)]}
    page["data"][3]["dataType"] = "CATEGORICAL"
    (FOLDER / "langfuse.json").write_text(json.dumps(page))


def opik():
    """What `opik export` writes for a trace."""
    trace = TracePublic(
        id="01900000-0000-7000-8000-000000000001",
        name="answer",
        start_time=NOW,
        input={"question": f"Where is my order? Write to {CANARY}."},
        output={"answer": "It is on its way."},
        metadata={"who": CANARY},
        tags=["beta"],
        thread_id="s1",
        feedback_scores=[
            FeedbackScorePublic(
                name="helpful", value=0.25, reason=f"no date, says {CANARY}", source="ui"
            )
        ],
    )
    span = SpanPublic(
        id="01900000-0000-7000-8000-000000000002",
        trace_id=trace.id,
        name="chat",
        type="llm",
        start_time=NOW,
        model="gpt-4o-mini",
        input={"messages": [{"role": "user", "content": CANARY}]},
        output={"text": "It is on its way."},
        usage={"prompt_tokens": 12, "completion_tokens": 6},
    )
    folder = FOLDER / "opik"
    folder.mkdir()
    document = {"trace": trace.model_dump(), "spans": [span.model_dump()]}
    write_json_data(document, folder / f"trace_{trace.id}.json")


spans()
langfuse()
opik()
