"""Price tables: those that are installed, newer ones, and files that cannot be used."""

import json

import httpx2
import pytest

from burnish.cli.invocation import run_command
from burnish.domain import UnavailableError, Usage, UsageError
from burnish.models import price_tables
from burnish.models.price_tables import current_tables, tables_file, update_tables
from burnish.models.pricing import list_price, price_by_name
from burnish.models.settings import ModelSettings

CALL = Usage(calls=1, input_tokens=1_000_000, output_tokens=1_000_000)
NEWER = [
    {
        "id": "openai",
        "name": "OpenAI",
        "api_pattern": r"https://api\.openai\.com",
        "models": [
            {
                "id": "gpt-of-tomorrow",
                "match": {"equals": "gpt-of-tomorrow"},
                "prices": {"input_mtok": 7, "output_mtok": 9, "cache_read_mtok": 1},
            }
        ],
    }
]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def published(tmp_path):
    path = tmp_path / "data.json"
    path.write_text(json.dumps(NEWER), encoding="utf-8")
    return path


def price(name):
    return price_by_name(name, CALL, ModelSettings())


def test_without_an_update_the_installed_tables_count():
    tables = current_tables()

    assert "as installed" in tables.source
    assert tables.fetched_at is None
    assert price("openai/gpt-of-tomorrow") is None


def test_fetched_tables_count_from_then_on(published):
    tables = update_tables(str(published))

    assert tables.fetched_at in tables.source
    assert price("openai/gpt-of-tomorrow") == pytest.approx(16)
    assert price("openai/gpt-4o-mini") is None  # the newer tables say nothing of it


def test_tables_are_fetched_over_http(monkeypatch):
    asked = []

    def stream(method, url, **_):
        asked.append((method, url))
        return httpx2.Client(
            transport=httpx2.MockTransport(lambda _: httpx2.Response(200, json=NEWER))
        ).stream(method, url)

    monkeypatch.setattr(httpx2, "stream", stream)
    update_tables()

    assert asked[0][1].startswith("https://")
    assert price("openai/gpt-of-tomorrow") == pytest.approx(16)


def test_offline_the_error_says_what_to_do_and_the_tables_stay(monkeypatch, published):
    update_tables(str(published))

    def stream(*_, **__):
        raise httpx2.ConnectError("Name or service not known")

    monkeypatch.setattr(httpx2, "stream", stream)

    with pytest.raises(UnavailableError, match="Name or service") as failed:
        update_tables()

    assert "--from FILE" in failed.value.fix
    assert price("openai/gpt-of-tomorrow") == pytest.approx(16)


@pytest.mark.parametrize("content", ["[]", "{}", "no json", '[{"id": 3}]', "null"])
def test_what_is_no_table_is_refused_and_nothing_changes(tmp_path, content):
    path = tmp_path / "bad.json"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(UsageError) as failed:
        update_tables(str(path))

    assert failed.value.code == "invalid_prices"
    assert not tables_file().exists()


def test_a_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(UsageError, match="nowhere.json"):
        update_tables(str(tmp_path / "nowhere.json"))


def test_a_kept_file_that_is_broken_is_told_and_the_installed_tables_count(published):
    update_tables(str(published))
    tables_file().write_text('{"version": ', encoding="utf-8")

    assert "cannot be read" in current_tables().note
    assert price("openai/gpt-4o-mini") == pytest.approx(0.75)


def test_tables_of_another_version_of_the_package_are_not_used(published, monkeypatch):
    update_tables(str(published))
    monkeypatch.setattr(price_tables, "_version", lambda: "99.0")
    price_tables._kept.cache_clear()

    assert "burnish models prices --update" in current_tables().note
    assert price("openai/gpt-of-tomorrow") is None


def test_the_list_price_names_its_source():
    own = list_price("openai/x", ModelSettings(input_price=2, output_price=4, cached_input_price=1))
    table = list_price("openai/gpt-4o-mini", ModelSettings())

    assert (own.input_price, own.output_price, own.cached_input_price) == (2, 4, 1)
    assert own.source == "own prices of the settings"
    assert (table.input_price, table.cached_input_price) == (0.15, 0.075)
    assert table.entry == "openai/gpt-4o-mini"


def test_the_command_shows_prices_and_says_unknown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    assert run_command(["models", "prices", "openai/gpt-4o-mini", "openai/nobody-knows"]) == 0

    known, unknown = capsys.readouterr().out.splitlines()
    assert "$0.15 in" in known
    assert "unknown" in unknown
    assert "$0" not in unknown


def test_the_command_updates_and_shows_json(published, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "burnish.toml").write_text(
        '[agent]\nname = "a"\nmodel = "openai/mine"\n[agent.sections]\nsystem = "x"\n'
        '[suite]\ndataset = "d.jsonl"\nscorers = ["a:b"]\n'
        '[models."openai/mine"]\ninput_price = 3\noutput_price = 5\n',
        encoding="utf-8",
    )
    names = ["openai/gpt-of-tomorrow", "openai/mine", "openai/nobody-knows"]

    assert run_command(["models", "prices", *names, "--from", str(published), "--json"]) == 0

    told = json.loads(capfd.readouterr().out)
    assert told["tables"]["fetched_at"]
    assert [one["input_price"] for one in told["prices"]] == [7.0, 3.0, None]
    assert [one["output_price"] for one in told["prices"]] == [9.0, 5.0, None]
