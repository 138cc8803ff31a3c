"""Providers without their extras: what still works, what is named, and what `import burnish` loads."""

import subprocess
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"
SDKS = ("anthropic", "google.genai", "openai", "botocore", "boto3", "litellm")
# In a process of its own: this one has loaded all of them.
CODE = f"""
import os, sys
for name in {SDKS!r}:
    sys.modules[name] = None
import burnish
loaded = set(sys.modules)
heavy = ["httpx2", "genai_prices", "sqlalchemy", "burnish.models"]
print(sorted(name for name in heavy if name in loaded))
from burnish.models.catalog import open_model
for vendor in ("OPENAI", "ANTHROPIC", "GEMINI", "GROQ"):
    os.environ[vendor + "_API_KEY"] = "k"
for name in ("openai/m", "anthropic/m", "gemini/m", "groq/m"):
    batches = open_model(name).open_batches()
    print(name, type(batches).__name__)
try:
    open_model("bedrock/m")
except burnish.UsageError as error:
    print(error.code, error.fix)
os.environ |= {{"AWS_BEARER_TOKEN_BEDROCK": "k", "AWS_REGION": "eu-central-1"}}
print(open_model("bedrock/m").name)
"""


def test_providers_need_no_sdk_and_bedrock_s_signatures_name_their_extra(monkeypatch):
    for name in ("AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)

    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert told[:5] == [
        "[]",
        "openai/m OpenAIBatches",
        "anthropic/m AnthropicBatches",
        "gemini/m GeminiBatches",
        "groq/m NoneType",
    ]
    assert told[5].startswith("missing_extra ")
    assert "burnish[bedrock]" in told[5]
    assert told[6] == "bedrock/m"


def test_the_core_install_has_no_vendor_s_sdk():
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    names = [one.partition(">")[0].partition("[")[0] for one in project["dependencies"]]

    assert not {*names} & {"anthropic", "google-genai", "openai", "botocore", "boto3", "litellm"}
    assert [one.partition(">")[0] for one in project["optional-dependencies"]["bedrock"]] == [
        "botocore"
    ]
