"""Datasets: every kind of source, stable ids, findings with their places, streaming."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
import tracemalloc
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import islice

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from burnish.domain import ConflictError, Item, UsageError, exact_hash
from burnish.evaluation.datasets import Dataset, ProblemKind
from burnish.evaluation.datasets import json_files as json_cursor

ROWS = [
    {"text": "warm and sharp", "label": "positive"},
    {"text": "dull, twice", "label": "negative"},
    {"text": "naïve “quotes”\nand lines", "label": "positive"},
]


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def as_jsonl(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def as_csv(rows):
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def refusal(source):
    with pytest.raises(UsageError) as raised:
        Dataset.of(source).index()
    return raised.value


class TestSources:
    @pytest.fixture(params=["list", "jsonl", "ndjson", "json", "nested", "csv", "bom", "parquet"])
    def source(self, request, write, tmp_path):
        match request.param:
            case "list":
                return ROWS
            case "jsonl" | "ndjson":
                return write(f"rows.{request.param}", as_jsonl(ROWS))
            case "json":
                return write("rows.json", json.dumps(ROWS, indent=2))
            case "nested":
                document = {"version": 2, "labels": ["a", "b"], "rows": ROWS, "more": {"x": []}}
                return write("rows.json", json.dumps(document))
            case "csv":
                return write("rows.CSV", as_csv(ROWS))
            case "bom":
                return write("rows.csv", b"\xef\xbb\xbf" + as_csv(ROWS).encode())
            case "parquet":
                parquet.write_table(pa.Table.from_pylist(ROWS), tmp_path / "rows.parquet")
                return tmp_path / "rows.parquet"

    def test_all_kinds_give_the_same_items(self, source):
        dataset = Dataset.of(source)

        assert list(dataset.items()) == list(Dataset.of(ROWS).items())
        assert list(dataset.items()) == list(dataset.items())
        assert dataset.index().fingerprint == Dataset.of(ROWS).index().fingerprint
        assert dataset.index().fields == {"text": 3, "label": 3}
        assert dataset.index().count == 3
        assert not dataset.index().warnings

    def test_the_name_is_the_files_or_the_one_given(self, write):
        path = write("messages.jsonl", as_jsonl(ROWS))

        assert Dataset.of(path).name == "messages"
        assert Dataset.of(str(path), name="mine").name == "mine"
        assert Dataset.of(ROWS).name == "dataset"

    def test_a_dataset_is_itself_or_renamed(self):
        dataset = Dataset.of(ROWS)

        assert Dataset.of(dataset) is dataset
        assert Dataset.of(dataset, name="other").name == "other"
        assert list(Dataset.of(dataset, name="other").items()) == list(dataset.items())

    def test_a_generator_can_be_read_twice(self):
        dataset = Dataset.of(row for row in ROWS)

        assert len(list(dataset.items())) == len(list(dataset.items())) == 3

    def test_rows_appended_to_the_list_later_are_not_seen(self):
        rows = list(ROWS)
        dataset = Dataset.of(rows)
        rows.append({"text": "late"})

        assert dataset.index().count == 3

    @pytest.mark.parametrize("source", [{"text": "one row"}, b"bytes"])
    def test_what_is_no_list_of_rows_is_refused(self, source):
        with pytest.raises(UsageError, match="not a list of rows"):
            Dataset.of(source)

    def test_values_that_are_not_json_are_refused_with_their_place(self):
        error = refusal([{"text": "fine"}, {"text": {"when": date(2026, 1, 1)}}])

        assert "row 2: date is not a JSON type (at $.text.when)" in error.why

    def test_a_number_too_long_to_be_written_is_refused(self):
        assert "a number has too many digits" in refusal([{"n": 10**5000}]).why

    def test_rows_that_differ_on_each_pass_are_refused(self):
        class Shrinking:
            left = 3

            def __iter__(self):
                self.left -= 1
                return iter([{"n": number} for number in range(self.left)])

        with pytest.raises(UsageError, match="same on every pass"):
            list(Dataset.of(Shrinking()).items())

    def test_parquet_dates_and_decimals_become_json(self, tmp_path):
        path = tmp_path / "rows.parquet"
        row = {
            "day": date(2026, 1, 2),
            "at": datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
            "price": Decimal("1.50"),
            "whole": Decimal("2.00"),
            "tags": [{"x": None}],
        }
        parquet.write_table(pa.Table.from_pylist([row]), path)

        (item,) = Dataset.of(path).items()

        assert item.data == {
            "day": "2026-01-02",
            "at": "2026-01-02T03:04:00+00:00",
            "price": 1.5,
            "whole": 2,
            "tags": [{"x": None}],
        }

    def test_parquet_without_pyarrow_says_what_to_install(self, write, monkeypatch):
        path = write("rows.parquet", b"")
        monkeypatch.setitem(sys.modules, "pyarrow", None)

        error = refusal(path)

        assert error.fix == "pip install 'burnish[parquet]'"
        assert error.code == "missing_extra"

    def test_a_broken_parquet_file_is_refused(self, write):
        assert refusal(write("rows.parquet", b"PAR1 not really")).code == "broken_file"


class TestIds:
    def test_given_ids_are_text_and_not_data(self):
        rows = [{"id": 7, "text": "a"}, {"id": "x", "text": "b"}, {"id": 8.0, "text": "c"}]

        items = list(Dataset.of(rows).items())

        assert [item.id for item in items] == ["7", "x", "8"]
        assert items[0].data == {"text": "a"}

    @pytest.mark.parametrize("nothing", [{}, {"id": None}, {"id": ""}])
    def test_other_ids_come_from_content(self, nothing):
        row = {"text": "a", "n": 1}

        (item,) = Dataset.of([{**nothing, **row}]).items()

        assert item.id == exact_hash(row)[:16]

    def test_content_ids_ignore_place_and_key_order(self, write):
        path = write("rows.jsonl", '{"b": 1.0, "a": 2}\n{"c": 3}\n')
        other = [{"c": 3}, {"a": 2, "b": 1}]

        assert set(Dataset.of(path).index().ids) == set(Dataset.of(other).index().ids)

    def test_the_hash_is_the_items_own(self):
        for item in Dataset.of([{"id": "r", "split": "test", "text": "ü"}, *ROWS]).items():
            assert item.hash == Item(id=item.id, data=item.data).hash

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (True, "true or false"),
            (1.5, "a number, not text"),
            (["a"], "a list"),
            ("x" * 300, "longer than 256"),
            pytest.param(10**5000, "too many digits", id="digits"),
            pytest.param(10**300, "longer than 256", id="long"),
            ("a\nb", "unprintable"),
        ],
    )
    def test_unusable_ids_are_refused(self, given, message):
        error = refusal([{"text": "a"}, {"id": given, "text": "b"}])

        assert "row 2" in error.why
        assert message in error.why

    def test_a_duplicate_id_names_both_lines(self, write):
        path = write("rows.jsonl", '{"id": 1, "t": "a"}\n\n{"id": "1", "t": "b"}\n')

        error = refusal(path)

        assert error.code == "duplicate_id"
        assert f"{path}, line 3: the id '1' is taken by line 1" in error.why

    def test_the_fingerprint_covers_ids_content_splits_and_order(self):
        base = [{"id": "a", "t": 1}, {"id": "b", "t": 2}]
        variants = [
            base,
            base[::-1],
            base[:1],
            [{"id": "a", "t": 1}, {"id": "b", "t": 3}],
            [{"id": "a", "t": 1}, {"id": "c", "t": 2}],
            [{"id": "a", "t": 1, "split": "test"}, {"id": "b", "t": 2}],
        ]

        assert len({Dataset.of(rows).index().fingerprint for rows in variants}) == len(variants)


class TestSplitColumn:
    def test_a_rows_own_split_is_lifted_out_of_its_data(self):
        dataset = Dataset.of([{"t": 1, "split": "test"}, {"t": 2, "split": ""}, {"t": 3}])

        assert [item.split for item in dataset.items()] == ["test", None, None]
        assert all(set(item.data) == {"t"} for item in dataset.items())
        assert list(dataset.index().splits.values()) == ["test"]
        assert dataset.index().fields == {"t": 3}

    def test_a_split_column_with_other_values_is_a_plain_column(self):
        dataset = Dataset.of([{"t": 1, "split": "dev"}, {"t": 2, "split": ["a", "b"]}])

        assert [item.data["split"] for item in dataset.items()] == ["dev", ["a", "b"]]
        assert dataset.index().foreign_splits == {"dev": 1, "['a', 'b']": 1}


class TestWarnings:
    def test_empty_and_repeated_rows_are_left_out_and_reported(self, write):
        path = write(
            "rows.jsonl", '{"t": 1}\n\n{}\n{"t": 2}\n{"t": 1.0}\n{"id": "x"}\n{"t": 2}\n  \n'
        )

        index = Dataset.of(path).index()

        assert [item.data for item in Dataset.of(path).items()] == [{"t": 1}, {"t": 2}]
        assert [(found.line, found.kind.value) for found in index.warnings] == [
            (2, "empty_row"),
            (3, "empty_row"),
            (5, "duplicate_row"),
            (6, "empty_row"),
            (7, "duplicate_row"),
            (8, "empty_row"),
        ]
        assert str(index.warnings[2]) == (
            f"{path}, line 5: the same content as line 1; it is left out"
        )

    def test_the_same_content_under_another_id_is_kept_and_reported(self):
        index = Dataset.of([{"id": "a", "t": 1}, {"id": "b", "t": 1}]).index()

        assert index.ids == ("a", "b")
        assert [found.kind for found in index.warnings] == [ProblemKind.SAME_CONTENT]

    @pytest.mark.parametrize("name", ["rows.jsonl", "rows.json"])
    def test_a_repeated_key_is_reported(self, write, name):
        row = '{"t": {"a": 1, "a": 2}}'
        path = write(name, row if name.endswith("l") else f"[\n{row}]")

        dataset = Dataset.of(path)

        (found,) = dataset.index().warnings
        assert (found.kind, found.line) == ("duplicate_key", 1 if name.endswith("l") else 2)
        assert [item.data for item in dataset.items()] == [{"t": {"a": 2}}]

    def test_a_file_of_repeats_keeps_only_the_first_reports(self):
        index = Dataset.of([{"t": 1}] * 500).index()

        assert len(index.warnings) == 100
        assert index.counts == {ProblemKind.DUPLICATE_ROW: 499}
        assert len(list(Dataset.of([{"t": 1}] * 500).items())) == 1


class TestBrokenJsonLines:
    @pytest.mark.parametrize(
        ("line", "column", "message"),
        [
            ('{"text": "a" "label": 1}', 14, "expecting ',' delimiter"),
            ('{"text": "a', 10, "unterminated string"),
            ('{"a": 1} {"b": 2}', 10, "extra data"),
            ('{"t": "NaN", "n": NaN}', 19, "NaN is not a JSON number"),
            ('{"n": -Infinity}', 7, "-Infinity is not a JSON number"),
            ('{"n": 1e999}', None, "inf is not a JSON number"),
            pytest.param('{"n": ' + "9" * 5000 + "}", None, "too many digits", id="digits"),
            pytest.param("[" * 100_000, None, "too deep", id="deep"),
            pytest.param('{"t": ' + "[" * 900 + "]" * 900 + "}", None, "too deep", id="less deep"),
            ('{"t": "\\ud800"}', None, "surrogate"),
            ("[1]", None, "the row is a list, not an object"),
            ('"text"', None, "the row is text, not an object"),
            ("null", None, "the row is null, not an object"),
        ],
    )
    def test_names_file_line_and_column(self, write, line, column, message):
        path = write("rows.jsonl", f'{{"text": "fine"}}\n{line}\n{{"text": "too"}}\n')

        error = refusal(path)

        place = f"{path}, line 2" + (f", column {column}:" if column else ":")
        assert place in error.why
        assert message in error.why
        assert error.code == "broken_row"
        assert Dataset.of(path).inspect().count == 2

    def test_not_utf8_names_the_column(self, write):
        path = write("rows.jsonl", b'\xef\xbb\xbf{"t": "\xc3\xbc\xff"}\n{"t": "ok"}\n{"t": "\xe4"}')

        error = refusal(path)

        assert f"{path}, line 1, column 9: the text is not UTF-8" in error.why
        assert "also line 3, column 8" in error.why
        assert error.fix == "save the file as UTF-8"

    def test_counts_all_and_lists_the_first_ten(self, write):
        path = write("rows.jsonl", '{"t": 1}\n' + "oops\n" * 150)

        error = refusal(path)

        assert error.what == f"150 rows of {path} cannot be used"
        assert error.why.count("line ") == 10
        assert error.why.endswith("; and 140 more")

    def test_inspect_tells_everything_without_raising(self, write):
        index = Dataset.of(write("rows.jsonl", '{"t": 1}\noops\n\n[]\n')).inspect()

        assert [found.kind.value for found in index.problems] == ["broken_json", "not_object"]
        assert [found.kind.value for found in index.warnings] == ["empty_row"]
        assert all(found.fatal for found in index.problems)

    @given(st.binary(max_size=200))
    @settings(
        max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @pytest.mark.parametrize("ending", ["jsonl", "json", "csv"])
    def test_any_bytes_are_read_or_refused(self, tmp_path, ending, content):
        path = tmp_path / f"fuzz.{ending}"
        path.write_bytes(content)

        dataset = Dataset.of(path)
        index = dataset.inspect()

        if not index.problems and index.count:
            assert len(list(dataset.items())) == index.count


class TestBrokenDocuments:
    @pytest.mark.parametrize(
        ("text", "line", "column", "message"),
        [
            ('[\n{"a": 1},\n{"a" 2}\n]', 3, 6, "expecting ':' delimiter"),
            ('[{"a": 1}\n{"a": 2}]', 2, 1, "expecting ','"),
            ('[{"a": 1},]', 1, 11, "expecting value"),
            ('[{"a": 1}', 1, 10, "expecting ','"),
            ('[{"a": 1}]\n\nmore', 3, 1, "text follows after the end"),
            ('{"a": 1}\n{"a": 2}\n', 1, 9, "holds no list of rows"),
            ('{"rows": [{"a": 1}], "b": [{"a": 1}]}', 1, 27, "both 'rows' and 'b'"),
            ('{"rows": [{"a": 1}]', 1, 20, "expecting ','"),
            ("{rows: []}", 1, 2, "key in double quotes"),
            ("42", 1, 1, "neither a list"),
            ('[\n  {"a": NaN}]', 2, 9, "NaN is not a JSON number"),
            ('[{"b": 1},\n\n  {"a":\n -Infinity}]', 4, 2, "-Infinity is not"),
            ('[{"a": "x\ny"}]', 1, 10, "invalid control character"),
            ("[[1]]", 1, None, "the row is a list"),
            pytest.param('[{"a": ' + "[" * 100_000, 1, None, "too deep", id="deep"),
        ],
    )
    @pytest.mark.parametrize("chunk", [3, 1 << 16])
    def test_names_file_line_and_column(
        self, write, monkeypatch, chunk, text, line, column, message
    ):
        monkeypatch.setattr(json_cursor, "_CHUNK", chunk)
        path = write("rows.json", text)

        error = refusal(path)

        place = f"{path}, line {line}" + (f", column {column}:" if column else ":")
        assert place in error.why
        assert message in error.why
        assert error.code == "broken_row"

    def test_not_utf8_names_line_and_column(self, write):
        error = refusal(write("rows.json", b'[{"a": 1},\n{"\xc3\xbc": "\xff"}]'))

        assert "line 2, column 8: the text is not UTF-8" in error.why

    @given(
        st.lists(
            st.dictionaries(
                st.text(max_size=5),
                st.recursive(
                    st.none() | st.booleans() | st.integers() | st.floats(-1e9, 1e9) | st.text(),
                    lambda inner: st.lists(inner, max_size=3),
                    max_leaves=4,
                ),
                min_size=1,
                max_size=3,
            ),
            max_size=6,
        ),
        st.integers(1, 40),
        st.sampled_from([None, 2]),
        st.booleans(),
    )
    @settings(
        max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    def test_chunks_of_any_size_give_the_same_rows(self, tmp_path, rows, chunk, indent, escape):
        path = tmp_path / "rows.json"
        path.write_text(json.dumps(rows, indent=indent, ensure_ascii=escape), encoding="utf-8")

        with pytest.MonkeyPatch.context() as patch, path.open("rb") as file:
            patch.setattr(json_cursor, "_CHUNK", chunk)
            cursor = json_cursor.JsonCursor(file)
            cursor.require("[")
            found = []
            while not cursor.take("]"):
                found.append(cursor.value())
                cursor.take(",")

            assert found == rows
            assert cursor.peek() == ""


class TestCsv:
    def test_wrong_numbers_of_cells_are_refused_with_lines(self, write):
        path = write("rows.csv", 'text,label\n"two\nlines",a\nx\ny,b,c\nz,d\n')

        error = refusal(path)

        assert f"{path}, line 4: 1 cell where the header has 2" in error.why
        assert "line 5: 3 cells where the header has 2" in error.why

    def test_an_open_quote_does_not_swallow_the_file(self, write):
        error = refusal(write("rows.csv", 'text,label\na,"b\n' + "c,d\n" * 50))

        assert "line 2: a quote that opens here is never closed" in error.why

    def test_text_after_a_closing_quote_is_refused(self, write):
        assert "line 2: not valid CSV" in refusal(write("r.csv", 'a,b\n"x"y,z\n')).why

    def test_line_ends_of_old_macs_are_refused(self, write):
        assert "lone carriage return" in refusal(write("rows.csv", "a,b\rx,y\r")).why

    def test_a_cell_may_be_far_longer_than_pythons_own_bound(self, write):
        dataset = Dataset.of(write("rows.csv", "a,b\nx,y\nz," + "w" * 1_000_000 + "\n"))

        assert [len(item.data["b"]) for item in dataset.items()] == [1, 1_000_000]

    def test_tabs_part_the_cells_of_a_tsv_file_whatever_its_header_holds(self, write):
        dataset = Dataset.of(write("rows.tsv", "a, first\tb\nx,y\tz\n"))

        assert [item.data for item in dataset.items()] == [{"a, first": "x,y", "b": "z"}]

    def test_a_folder_is_called_a_folder(self, tmp_path):
        assert refusal(tmp_path).why == "it is a folder"

    def test_empty_rows_are_left_out_with_a_warning(self, write):
        index = Dataset.of(write("rows.csv", "a,b\n\n,\nx,\n")).index()

        assert index.count == 1
        assert [found.line for found in index.warnings] == [2, 3]

    def test_an_unnamed_column_is_left_out_with_a_warning(self, write):
        dataset = Dataset.of(write("rows.csv", ", text \n0,x\n"))

        assert [item.data for item in dataset.items()] == [{"text": "x"}]
        assert [found.kind.value for found in dataset.index().warnings] == ["unnamed_column"]

    @pytest.mark.parametrize("header", ["a,b,a", ",,"])
    def test_a_bad_header_is_refused(self, write, header):
        assert "line 1: the" in refusal(write("rows.csv", f"{header}\n1,2,3\n")).why

    @pytest.mark.parametrize("sign", [";", "\t"])
    def test_other_separators_are_taken_from_the_header(self, write, sign):
        path = write("rows.csv", f"text{sign}label\r\na, b{sign}c\r\n")

        assert [item.data for item in Dataset.of(path).items()] == [{"text": "a, b", "label": "c"}]

    def test_not_utf8_names_line_and_column(self, write):
        error = refusal(write("rows.csv", b"text\nok\n\xc3\xbc\xff\n"))

        assert "line 3, column 2: the text is not UTF-8" in error.why


class TestFiles:
    def test_a_missing_file_names_those_near_it(self, write):
        path = write("messages.jsonl", as_jsonl(ROWS))

        error = refusal(path.with_name("mesages.jsonl"))

        assert error.code == "file_not_found"
        assert error.fix == "did you mean messages.jsonl?"

    def test_a_missing_folder_is_named(self, tmp_path):
        assert "there is no folder" in refusal(tmp_path / "nowhere" / "rows.csv").why

    def test_an_address_is_no_file(self):
        assert "not from addresses" in refusal("https://example.org/rows.csv").why

    def test_an_unknown_kind_lists_the_known(self):
        with pytest.raises(UsageError, match=r"use one of .*, .csv, .tsv, .parquet"):
            Dataset.of("rows.xlsx")

    def test_a_folder_is_refused(self, tmp_path):
        (tmp_path / "rows.csv").mkdir()

        assert refusal(tmp_path / "rows.csv").code == "unreadable_file"

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("rows.jsonl", ""),
            ("rows.jsonl", "\n{}\n"),
            ("rows.json", ""),
            ("rows.json", "[]"),
            ("rows.json", '{"rows": []}'),
            ("rows.csv", ""),
            ("rows.csv", "text,label\n"),
        ],
    )
    def test_an_empty_dataset_is_refused(self, write, name, content):
        assert refusal(write(name, content)).code == "empty_dataset"

    def test_no_rows_are_refused(self):
        assert refusal([]).code == "empty_dataset"


class TestStreaming:
    def test_the_index_is_made_once_and_again_when_the_file_changes(self, write):
        path = write("rows.jsonl", as_jsonl(ROWS))
        dataset = Dataset.of(path)
        first = dataset.index()
        assert dataset.index() is first

        path.write_text(as_jsonl(ROWS[:2]), encoding="utf-8")

        assert dataset.index().count == 2
        assert len(list(dataset.items())) == 2

    def test_a_file_that_changes_while_it_is_read_is_a_conflict(self, write):
        path = write("rows.jsonl", as_jsonl([{"n": number} for number in range(1_000)]))
        items = Dataset.of(path).items()
        next(items)

        os.utime(path, ns=(1, 1))

        with pytest.raises(ConflictError, match="changed while it was read"):
            list(items)

    def test_items_are_read_as_they_are_asked_for(self):
        class Counting:
            read = 0

            def __iter__(self):
                for number in range(1_000):
                    self.read += 1
                    yield {"n": number}

        rows = Counting()
        dataset = Dataset.of(rows)
        dataset.index()
        rows.read = 0

        taken = list(islice(dataset.items(), 5))

        assert [item.data["n"] for item in taken] == [0, 1, 2, 3, 4]
        assert rows.read == 5

    @pytest.mark.parametrize("name", ["rows.jsonl", "rows.json", "rows.csv"])
    def test_rows_are_not_held_in_memory(self, write, name):
        rows = [{"id": str(number), "text": f"{number} " * 400} for number in range(2_000)]
        text = {"rows.jsonl": as_jsonl, "rows.json": json.dumps, "rows.csv": as_csv}[name](rows)
        path = write(name, text)
        del rows
        dataset = Dataset.of(path)

        tracemalloc.start()
        try:
            dataset.index()
            for _ in dataset.items():
                pass
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

        assert peak < len(text) / 3
