"""Pictures of dataset rows: what is accepted, what is another item, and who gets to see them."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path

import pytest

import burnish
from burnish.app.datasets.pictures import SuitePictures
from burnish.config.served_project import ServedProject
from burnish.domain import ConflictError, Message, ModelResponse, Picture, Usage, UsageError
from burnish.domain.experiments.pictures import picture_cells
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.datasets import pictures as module
from burnish.evaluation.datasets.pictures import PictureFolder

PNG = b"\x89PNG\r\n\x1a\nred"
JPEG = b"\xff\xd8\xffblue"
URL = "data:image/png;base64," + base64.b64encode(PNG).decode()


def written(folder: Path, **files: bytes) -> Path:
    for name, data in files.items():
        (folder / f"{name}.png").write_bytes(data)
    return folder


def rows(folder: Path | None, *cells) -> Dataset:
    pictures = PictureFolder(("photo",), folder)
    return Dataset.of([{"id": n, "photo": one} for n, one in enumerate(cells)]).with_pictures(
        pictures
    )


def test_a_changed_file_is_another_item(tmp_path) -> None:
    first = next(rows(written(tmp_path, a=PNG), "a.png").items())
    second = next(rows(written(tmp_path, a=JPEG), "a.png").items())

    assert first.hash != second.hash
    (cell,) = picture_cells(second.data["photo"])
    assert (cell.source, cell.media_type) == ("a.png", "image/jpeg")


def test_a_file_that_changes_while_it_is_used_is_told(tmp_path) -> None:
    pictures = PictureFolder(("photo",), written(tmp_path, a=PNG))
    dataset = Dataset.of([{"photo": "a.png"}]).with_pictures(pictures)
    item = next(dataset.items())
    written(tmp_path, a=JPEG + b"longer")

    with pytest.raises(ConflictError, match="not what the dataset was read with"):
        asyncio.run(pictures.load(item))
    with pytest.raises(ConflictError, match="not what it was at the start"):
        list(dataset.items())


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("../secret.png", "outside of the dataset's folder"),
        ("/etc/hostname", "outside of the dataset's folder"),
        ("link.png", "outside of the dataset's folder"),
        ("missing.png", "there is no file"),
        ("text.png", "no PNG, JPEG, GIF or WebP"),
        ("large.png", "larger than"),
        ("https://example.org/a.png", "not fetched"),
        ("data:image/png,abc", "no data URL of the form"),
        ("data:image/png;base64,%%%", "base64 is broken"),
        ("data:image/svg+xml;base64," + base64.b64encode(b"<svg/>").decode(), "no PNG"),
        (7, "neither a path nor a data URL"),
    ],
)
def test_what_is_no_picture_is_refused_with_its_row(tmp_path, monkeypatch, cell, said) -> None:
    monkeypatch.setattr(module, "LARGEST", 100)
    folder = tmp_path / "data"
    folder.mkdir()
    written(tmp_path, secret=PNG)
    written(folder, text=b"hello", large=PNG + b"x" * 200)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")

    with pytest.raises(UsageError, match="row 1") as refused:
        rows(folder, cell).index()

    assert said in str(refused.value)


def test_rows_without_a_folder_name_no_files(tmp_path) -> None:
    assert rows(None, URL).index().count == 1
    with pytest.raises(UsageError, match="put the picture in a data URL"):
        rows(None, "a.png").index()
    made = {"picture": "../x.png", "media_type": "image/png", "sha256": "0" * 64}
    item = next(rows(None, made).items())
    with pytest.raises(ConflictError, match="data URL"):
        asyncio.run(PictureFolder(("photo",), None).load(item))


class Seeing:
    """A model that takes pictures, and remembers what it was sent."""

    name = fingerprint = "fake/eyes"

    def __init__(self, answer: str) -> None:
        self._answer = answer
        self.requests = []

    async def complete(self, request) -> ModelResponse:
        self.requests.append(request)
        return ModelResponse(text=self._answer, usage=Usage(calls=1))

    async def close(self) -> None: ...


def test_agents_and_judges_see_the_pictures_of_an_item(tmp_path) -> None:
    (tmp_path / "data").mkdir()
    written(tmp_path / "data", a=PNG)
    row = {"question": "Which colour?", "photo": ["a.png", URL], "expected": "red"}
    (tmp_path / "data/rows.jsonl").write_text(json.dumps(row))
    verdict = json.dumps({"score": 1, "reason": "right", "pass": True})
    model, judge = Seeing("red"), Seeing(verdict)
    agent = burnish.Agent(
        configuration={"sections": {"system": "Look.", "user": "{{question}} {{photo}}"}},
        model=model,
    )
    suite = burnish.Suite(
        dataset=tmp_path / "data/rows.jsonl",
        scorers=[
            {"kind": "judge", "model": judge, "criteria": "right", "fields": ["photo"]},
            {"kind": "judge", "model": judge, "criteria": "short", "fields": ["question"]},
        ],
        pictures=["photo"],
    )

    result = burnish.evaluate(agent, suite, db=tmp_path / "b.db")

    assert result.score == 1
    picture = Picture("image/png", base64.b64encode(PNG).decode())
    said = "Which colour? [picture 1] [picture 2]"
    assert model.requests[0].messages == (
        Message("system", "Look."),
        Message("user", said, pictures=(picture, picture)),
    )
    seen = sorted(len(one.messages[1].pictures) for one in judge.requests)
    assert seen == [0, 2]
    assert "base64" not in "".join(one.messages[1].content for one in judge.requests)
    # The bytes are in the database where the row holds them, and nowhere else.
    assert result.rows[0]["input"]["photo"][0]["picture"] == "a.png"


def test_functions_get_the_pictures_too(tmp_path) -> None:
    seen = []

    def look(configuration, item) -> str:
        seen.append([one.media_type for one in item.pictures["photo"]])
        return "red"

    suite = burnish.Suite(
        dataset=[{"photo": "a.png", "expected": "red"}],
        scorers=["exact_match"],
        pictures=["photo"],
        folder=written(tmp_path, a=JPEG),
    )
    agent = burnish.Agent(configuration={"sections": {"system": "x"}}, run=look)

    assert burnish.evaluate(agent, suite, db=tmp_path / "b.db").score == 1
    assert seen == [["image/jpeg"]]


def test_a_server_shows_what_its_dataset_names_and_nothing_else(tmp_path) -> None:
    (tmp_path / "burnish.toml").write_text(
        '[agent]\nmodel = "local/x"\nsections = { user = "{{photo}}" }\n'
        '[suite]\ndataset = "rows.jsonl"\nscorers = ["exact_match"]\npictures = ["photo"]\n'
    )
    (tmp_path / "rows.jsonl").write_text('{"photo": "a.png", "expected": "x"}')
    written(tmp_path, a=PNG, other=JPEG)
    pictures = SuitePictures(ServedProject(tmp_path / "burnish.toml"))
    dataset = Dataset.of(tmp_path / "rows.jsonl")
    folder = PictureFolder(("photo",), tmp_path)
    (cell,) = picture_cells(next(dataset.with_pictures(folder).items()).data["photo"])
    hidden = folder.cell("other.png")["sha256"]

    assert asyncio.run(pictures.picture(cell.sha256)) == (PNG, "image/png")
    for digest in (hidden, "0" * 64):
        with pytest.raises(UsageError, match="no picture"):
            asyncio.run(pictures.picture(digest))
    written(tmp_path, a=JPEG)
    with pytest.raises(UsageError, match="no picture"):
        asyncio.run(pictures.picture(cell.sha256))
    assert asyncio.run(pictures.picture(hidden)) == (JPEG, "image/jpeg")
