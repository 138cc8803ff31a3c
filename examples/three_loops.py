"""Main, eval and optimize loop in one worker: python examples/three_loops.py

On Redis the mailboxes are RedisMailbox("…", client) and the store RedisPromptOverridesStore(client), so
each loop may run on another machine. Here all is in one process and a folder, and no server is needed.
"""

import asyncio
import tempfile

import burnish
from burnish.evaluation.agents import PythonAgent
from burnish.optimizers import MechanicalCompressStrategy
from burnish.overrides import LocalPromptOverridesStore, descriptor_of
from burnish.runtime import (
    EvalLoop,
    InMemoryMailbox,
    LoopGroup,
    MainLoop,
    MainLoopRequest,
    OptimizeLoop,
    OptimizeRequest,
    ask,
    samples_of,
)

SECTIONS = {
    "system": "Please note that you are a very helpful assistant. Thank you very much for your help.\n"
    "Tickets about a refund go to billing.\n"
    "Please remember that it is very important to read carefully.\n"
    "Tickets about a crash go to technicians.\n"
    "Never promise anything.",
    "user": "{{ticket}}",
}
ROWS = [
    {"ticket": f"my {('refund', 'crash')[n % 2]}, {n}", "team": ("billing", "technicians")[n % 2]}
    for n in range(12)
]


def route(configuration, item):
    """A stand-in for a model: it knows what its prompt tells it."""
    text = configuration["sections"]["system"].lower()
    for word, team in (("refund", "billing"), ("crash", "technicians")):
        if word in item["ticket"] and word in text:
            return team
    return "nobody"


async def main(folder):
    agent = PythonAgent(
        name="router", configuration=burnish.Configuration.of({"sections": SECTIONS}), run=route
    )
    store = LocalPromptOverridesStore(folder)
    main_requests = InMemoryMailbox("main-requests")
    eval_requests = InMemoryMailbox("eval-requests")
    optimize_requests = InMemoryMailbox("optimize-requests")

    main_loop = MainLoop(agent=agent, requests=main_requests, overrides_store=store)
    scorers = [{"kind": "exact_match", "field": "team"}]
    eval_loop = EvalLoop(loop=main_loop, requests=eval_requests, scorers=scorers)
    optimize_loop = OptimizeLoop(
        strategy=MechanicalCompressStrategy(),
        adapter=agent,
        overrides_store=store,
        eval_requests=eval_requests,
        requests=optimize_requests,
    )
    group = LoopGroup([main_loop, eval_loop, optimize_loop])
    serving = asyncio.create_task(group.serve())  # or group.run(), which has its own event loop

    descriptor = descriptor_of("router", agent.configuration)
    request = OptimizeRequest(descriptor=descriptor, dataset=samples_of(ROWS), eval_runs=2)
    answer = await ask(optimize_requests, request, timeout=60)
    report = answer.report
    print(answer.error or f"{report.tokens_before} → {report.tokens_after} tokens")
    for line in report.untested:
        print("kept, no item tests it:", line.text)

    await burnish.apply_modifications(store, descriptor, report.modifications, tag="stable")
    served = await ask(main_requests, MainLoopRequest(request={"ticket": "my refund"}))
    print("served under stable:", served.output.text, served.overridden)
    print("tags left:", await store.list_tags(namespace="agents", key="router"))
    group.stop()
    await serving


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(folder))
