import pytest

from burnish.models.endpoint.parameters import accepted, learn_refusal
from burnish.models.failures import ErrorAnswer
from burnish.models.traffic import Traffic, counting

GIVEN = {"temperature": 0.5, "top_p": 0.9, "max_tokens": 7, "reasoning_effort": "high", "typo": 1}


def left(address, message, *, code="", param="", status=400):
    """What is sent after an error; None where the error stays one."""
    said = ErrorAnswer(status=status, message=message, code=code, param=param)
    if not learn_refusal(address, "openai/m", said, GIVEN):
        return None
    return accepted(address, "openai/m", GIVEN)


@pytest.mark.parametrize(
    ("message", "param", "gone"),
    [
        (
            "Unsupported value: 'temperature' does not support 0.5 with this model.",
            "",
            "temperature",
        ),
        ("Unsupported parameter: 'top_p' is not supported with this model.", "top_p", "top_p"),
        ("`temperature` is deprecated for this model.", "", "temperature"),
        ("temperature: Extra inputs are not permitted", "", "temperature"),
        ("`temperature` may only be set to 1 when thinking is enabled", "", "temperature"),
        ("`temperature` and `top_p` cannot both be specified for this model.", "", "top_p"),
        ("This model does not support the effort parameter.", "", "reasoning_effort"),
        ("Unrecognized request argument supplied: reasoning_effort", "", "reasoning_effort"),
        ("it is not supported", "reasoning.effort", "reasoning_effort"),
    ],
)
def test_what_a_model_does_not_take_is_left_out(request, message, param, gone):
    sent = left(request.node.name, message, param=param)

    assert sent == {name: value for name, value in GIVEN.items() if name != gone}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"logprobs": True, "top_logprobs": 3},
            "Logprobs is not enabled for models/gemini-2.5-pro",
        ),
        (
            {"presence_penalty": 0.1, "frequency_penalty": 0.1},
            "Penalty is not enabled for models/gemini-2.5-flash",
        ),
        ({"reasoning_effort": "low"}, "Thinking level is not supported for this model."),
        ({"reasoning_effort": "low"}, "thinking_config is not supported"),
        (
            {"logit_bias": {}},
            "Invalid JSON payload received. Unknown name \"logitBias\" at 'generation_config': "
            "Cannot find field.",
        ),
        (
            {"verbosity": "low"},
            "Invalid JSON payload received. Unknown name \"verbosity\" at 'generation_config': "
            "Cannot find field.",
        ),
    ],
)
def test_what_google_refuses_in_its_own_words_is_left_out(request, given, message):
    said = ErrorAnswer(status=400, message=message)
    kept = given
    for _ in given:
        assert learn_refusal(request.node.name, "gemini/m", said, kept)
        kept = accepted(request.node.name, "gemini/m", given)

    assert kept == {}


def test_what_has_another_name_is_renamed(request):
    message = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."

    sent = left(request.node.name, message, param="max_tokens", code="unsupported_parameter")

    assert sent["max_completion_tokens"] == 7
    assert "max_tokens" not in sent


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("temperature must be between 0 and 2", 400),
        ("'ultra' is not supported for reasoning_effort. Supported values are: 'low', 'high'", 400),
        ("Unknown parameter: 'typo'", 400),
        ("max_tokens is not supported", 400),
        ("the prompt is not supported", 400),
        ("`temperature` is deprecated for this model.", 429),
    ],
)
def test_what_is_for_the_user_to_mend_stays_an_error(request, message, status):
    assert left(request.node.name, message, status=status) is None


def test_it_is_logged_once_and_told_in_every_run(request, caplog):
    address, runs = request.node.name, [Traffic(), Traffic()]
    for _ in range(2):
        left(address, "`temperature` is deprecated for this model.")

    for run in runs:
        with counting(run):
            accepted(address, "openai/m", GIVEN)
            accepted(address, "openai/m", GIVEN)

    assert len(caplog.messages) == 1
    words = "openai/m does not take the parameter temperature: it is left out"
    assert [run.to_json()["notices"] for run in runs] == [[words]] * 2


def test_models_and_addresses_are_told_apart(request):
    left(request.node.name, "`temperature` is deprecated for this model.")

    assert accepted(request.node.name, "openai/other", GIVEN) == GIVEN
    assert accepted("elsewhere", "openai/m", GIVEN) == GIVEN
