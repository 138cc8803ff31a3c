"""What schemathesis makes of the OpenAPI. Loading it takes a second: only tests that ask do so."""

import os

import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import load_all_checks
from schemathesis.generation import GenerationMode
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.generation.meta import TestPhase
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.specs.openapi.checks import positive_data_acceptance

# Random cases of each route are a twentieth of those of a property: each is a request.
FUZZ = int(os.environ.get("BURNISH_FUZZ", "0")) // 20
CALM = {
    "deadline": None,
    "derandomize": not FUZZ,
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
    schema = schemathesis.openapi.from_dict(document)
    # One router refuses them all.
    schema.config.phases.coverage.unexpected_methods = {"patch"}
    return schema


def check_route(schema, method, path, check):
    """Call `check` with cases of every kind for a route.

    That is what `schema.parametrize` does, but when a test runs and not while tests are collected:
    there, every worker would make the thousands of cases of all routes. Those of schemathesis'
    own list try each part of a request, right and wrong; `make fuzz` adds random ones.
    """
    test = build_operation_test(
        config=schema.config,
        operation=schema[path][method],
        test_func=settings(max_examples=FUZZ or 1, **CALM)(check),
        given_kwargs={},
        feedback=FeedbackSources(),
    )
    different = {
        _kind(example.kwargs["case"]): example for example in test.hypothesis_explicit_examples
    }
    test.hypothesis_explicit_examples = list(different.values())
    if different and not FUZZ:
        listed = settings(test._hypothesis_internal_use_settings, phases=(Phase.explicit,))
        test._hypothesis_internal_use_settings = listed
    test()


def _kind(case):
    """Where a case is right or wrong, and in what way.

    Of the values of a wrong type, say, one is enough for each place; each word of a list of
    allowed ones leads elsewhere.
    """
    told = case.meta.phase.data
    if case.meta.phase.name is not TestPhase.COVERAGE or "num value" in told.description:
        return id(case)
    return told.parameter_location, told.parameter, told.description


def linked(document, path_regex):
    """A machine that goes from answer to answer by the links, and only with what is allowed.

    What a test of its own puts in place of a body would otherwise be taken for something forbidden.
    """
    schema = load(document)
    schema.config.generation.update(modes=[GenerationMode.POSITIVE])
    return schema.include(path_regex=path_regex).as_state_machine()


def follow_links(machine):
    machine.run(settings=settings(max_examples=FUZZ or 8, stateful_step_count=6, **CALM))
