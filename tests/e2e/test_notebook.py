"""Notebook, executed by a real kernel: the sync calls, what cells show, progress, an interrupt."""

import os
import re

import pytest

nbformat = pytest.importorskip("nbformat", reason="pip install nbclient ipykernel")
nbclient = pytest.importorskip("nbclient", reason="pip install nbclient ipykernel")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

SET_UP = """
import asyncio
import burnish

asyncio.get_running_loop()
rows = [{"id": f"r{n}", "text": f"note {n}", "label": "x" if n % 2 else "y"} for n in range(20)]

def answer(configuration, item):
    better = configuration["sections"]["user"] != "{{text}}"
    return item["label"] if better else "x"

agent = burnish.Agent(
    name="notes",
    configuration={"sections": {"system": "Label the note.", "user": "{{text}}"}},
    run=answer,
)
suite = burnish.Suite(
    dataset=rows,
    scorers=[{"kind": "exact_match", "field": "label"}],
    split={"train": 0.2, "validation": 0.4, "test": 0.4},
)
"""
EVALUATE = "scored = burnish.evaluate(agent, suite)\nscored"
OPTIMIZE = """
found = burnish.optimize(agent, suite, "edits", burnish.Budget(max_trials=4), seed=1)
found
"""
PLOT = "found.plot()"
LOAD = "print(burnish.load(found.optimization_id))"
AWAIT = "print((await burnish.evaluate_async(agent, suite, progress=False)).score)"
# The kernel gets Ctrl-C in the middle of a call, as by the stop button.
INTERRUPTED = """
import os, signal

async def interrupted(configuration, item):
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.Event().wait()

hanging = burnish.Agent(name="hanging", configuration=agent.configuration, run=interrupted)
try:
    burnish.evaluate(hanging, suite, progress=False)
except KeyboardInterrupt:
    print("interrupted; the kernel goes on")
"""


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebook")
    sources = [SET_UP, EVALUATE, OPTIMIZE, PLOT, LOAD, AWAIT, INTERRUPTED]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in sources])
    environment = {name: one for name, one in os.environ.items() if name != "BURNISH_DB"}
    client = nbclient.NotebookClient(
        book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute(env={**environment, "IPYTHONDIR": str(folder / "ipython")})
    return dict(
        zip(("set up", "eval", "opt", "plot", "load", "await", "stop"), book.cells, strict=True)
    )


def shown(cell, kind):
    return "".join(one["data"].get(kind, "") for one in cell.outputs if "data" in one)


def printed(cell):
    return "".join(one["text"] for one in cell.outputs if one.output_type == "stream")


def test_sync_calls_work_and_show_a_table_a_chart_and_the_changes(cells):
    assert "score 0.500" in shown(cells["eval"], "text/plain")
    assert "<table" in shown(cells["eval"], "text/html")
    found = shown(cells["opt"], "text/html")
    assert "Prompt changes" in found
    assert "<ins>" in found
    assert 'id="score-chart"' in found
    assert "<svg" in shown(cells["plot"], "text/html")


def test_progress_is_one_output_that_is_replaced(cells):
    lines = [one for one in cells["eval"].outputs if one.output_type == "display_data"]

    assert len(lines) == 1
    assert re.search(r"notes on dataset  20/20  score 0\.500", lines[0]["data"]["text/plain"])


def test_stored_results_and_async_calls_work_beside_them(cells):
    assert printed(cells["load"]).startswith("OptimizationResult(")
    assert printed(cells["await"]) == "0.5\n"


def test_an_interrupt_ends_the_call_and_leaves_the_kernel(cells):
    assert printed(cells["stop"]) == "interrupted; the kernel goes on\n"
