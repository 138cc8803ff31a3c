"""schemathesis over the whole OpenAPI, with its links: no 500, no answer that it does not name."""

import json
from pathlib import Path

import pytest
import requests
from serving_world import DEADLINE, ServerThread, make_served_project, settings_of

from burnish.server.http.auth import Keys
from burnish.server.openapi import openapi_text

ROOT = Path(__file__).parents[2]
KEY = "contract-0123456789"
HEADERS = {"Authorization": f"Bearer {KEY}"}

# As committed, which is that of the routes, as a test below shows: every worker loads this file,
# and building it anew takes a second.
COMMITTED = (ROOT / "docs" / "openapi.json").read_text(encoding="utf-8")
DOCUMENT = json.loads(COMMITTED)
ROUTES = [(method.upper(), path) for path, found in DOCUMENT["paths"].items() for method in found]


@pytest.fixture(scope="module")
def cases():
    import openapi_cases  # noqa: PLC0415 - slow to load

    return openapi_cases


@pytest.fixture(scope="module")
def schema(cases):
    return cases.load(DOCUMENT)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = make_served_project(tmp_path_factory.mktemp("contract"), items=8)
    with ServerThread(settings_of(folder, execute=False, keys=Keys.of(KEY))) as running:
        yield running


@pytest.fixture(scope="module")
def client():
    """Keeps its connection, and does not look for proxies before each request."""
    with requests.Session() as kept:
        kept.trust_env = False
        yield kept


@pytest.mark.parametrize(("method", "path"), ROUTES, ids=[" ".join(route) for route in ROUTES])
def test_every_route_keeps_to_the_openapi(server, client, cases, schema, method, path):
    def keeps_to_it(case):
        case.call_and_validate(
            base_url=server.address,
            timeout=DEADLINE,
            headers=HEADERS,
            excluded_checks=cases.REFUSABLE,
            session=client,
        )

    cases.check_route(schema, method, path, keeps_to_it)


def test_a_new_run_can_be_used_wherever_the_links_say(server, cases):
    machine = cases.linked(DOCUMENT, "^/v1/private/optimizations")
    found = []

    class Linked(machine):
        def before_call(self, case):
            # Most bodies that the schema allows name agents that are not there.
            if case.operation.label == "POST /v1/private/optimizations":
                case.body = {"start": False, "seed": len(found)}

        def get_call_kwargs(self, case):
            return {"base_url": server.address, "timeout": DEADLINE, "headers": HEADERS}

        def validate_response(self, response, case, **options):
            found.append((case.operation.label, response.status_code))
            case.validate_response(response, excluded_checks=cases.REFUSABLE)

    cases.follow_links(Linked)

    linked = {label for label, status in found if "{optimization_id}" in label and status < 300}
    assert len(linked) >= 3, found


def test_the_committed_openapi_is_that_of_the_routes():
    assert openapi_text() == COMMITTED, "run `make openapi` and commit docs/openapi.json"


def test_every_answer_and_error_is_typed_and_has_an_example():
    error = {"$ref": "#/components/schemas/ErrorBody"}

    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            where = f"{method} {path}"
            assert operation["operationId"], where
            assert operation["description"], where
            for status, answer in operation["responses"].items():
                for content in answer["content"].values():
                    assert content["schema"], (where, status)
                if int(status) >= 400:
                    assert answer["content"]["application/json"]["schema"] == error, (where, status)
    schemas = DOCUMENT["components"]["schemas"]
    assert "HTTPValidationError" not in schemas
    for name in ("ErrorBody", "OptimizationView", "TrialView", "NewOptimization", "Graph"):
        assert schemas[name]["examples"], name
    for own in {ROOT, Path.home()} - {Path("/")}:
        assert f"{own}/" not in COMMITTED
