"""Winners whose texts try to break out of the format that they are written in."""

import ast

from burnish.app.agents.project_files import FileWrite
from burnish.app.agents.promotion import Promotion
from burnish.cli.exports.winner import git_patch, winner_markdown, winner_python
from burnish.domain import Configuration
from burnish.testing.samples.optimizations import make_candidate, make_record

NASTY = 'Say """hi""".\n```\n# not a heading\n````\n\\N{BULLET} {{x}} \u2028end'


def winner(name="bot", **configuration):
    found = Configuration.of({"sections": {"system": NASTY}, **configuration})
    candidate = make_candidate(configuration=found)
    return Promotion(
        record=make_record(agent_name=name),
        baseline=candidate,
        candidate=candidate,
        score=0.5,
        baseline_score=0.25,
        evidence={"best_score": 0.6, "baseline_score": 0.3},
        doubts=('"""\nimport os',),
        active=None,
    )


def test_a_module_is_literals_and_nothing_else():
    examples = [{"q": '"""', "a": [1, None, True]}]
    text = winner_python(winner('"""; import os', parameters={"t": 0.5}, examples=examples))

    tree = ast.parse(text)
    kinds = [type(one).__name__ for one in tree.body]
    assert kinds == ["Expr", "Assign"]
    found = ast.literal_eval(tree.body[1].value)
    assert (
        Configuration.of(found)
        == winner(parameters={"t": 0.5}, examples=examples).candidate.configuration
    )


def test_a_page_keeps_a_text_within_its_fence():
    lines = winner_markdown(winner("a\n# b")).splitlines()

    assert lines[0] == "# a # b"
    start = lines.index("`````text")
    assert "`````" in lines[start + 1 :]
    assert '- Beware: """ import os' in lines


def test_a_patch_keeps_line_ends_and_missing_newlines_and_quotes_names(tmp_path):
    path = tmp_path / "prömpt.md"
    path.write_bytes(b"one\r\ntwo")

    text = git_patch([FileWrite(path, "one\r\nthree")], tmp_path)

    assert 'diff --git "a/pr\\303\\266mpt.md" "b/pr\\303\\266mpt.md"\n' in text
    assert " one\r\n-two\n\\ No newline at end of file\n+three\n\\ No newline" in text
