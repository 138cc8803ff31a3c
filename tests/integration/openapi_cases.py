"""What schemathesis makes of the OpenAPI. Loading it takes a second: only tests that ask do so."""

import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import load_all_checks
from schemathesis.generation import GenerationMode
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.specs.openapi.checks import positive_data_acceptance

CALM = {
    "deadline": None,
    "derandomize": True,
    "database": None,
    "suppress_health_check": list(HealthCheck),
    "phases": (Phase.explicit, Phase.generate),
}
# A cursor, an agent's name or a budget may have the right form and still not be usable: 422.
REFUSABLE = [positive_data_acceptance]


@schemathesis.serializer("application/x-ndjson")
def as_text(context, value):
    return str(value).encode()


def load(document):
    load_all_checks()
    return schemathesis.openapi.from_dict(document)


def check_route(schema, method, path, check):
    """Call `check` with cases of every kind for a route.

    That is what `schema.parametrize` does, but when a test runs and not while tests are collected:
    there, every worker would make the thousands of cases of all routes.
    """
    build_operation_test(
        config=schema.config,
        operation=schema[path][method],
        test_func=settings(max_examples=3, **CALM)(check),
        given_kwargs={},
        feedback=FeedbackSources(),
    )()


def linked(document, path_regex):
    """A machine that goes from answer to answer by the links, and only with what is allowed.

    What a test of its own puts in place of a body would otherwise be taken for something forbidden.
    """
    schema = load(document)
    schema.config.generation.update(modes=[GenerationMode.POSITIVE])
    return schema.include(path_regex=path_regex).as_state_machine()


def follow_links(machine):
    machine.run(settings=settings(max_examples=20, stateful_step_count=6, **CALM))
