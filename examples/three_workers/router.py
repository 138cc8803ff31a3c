"""The agent that the workers serve: a stand-in for a model, which knows what its prompt tells it."""

import burnish


def answer(configuration, item):
    rules = configuration["sections"]["system"].lower()
    experiment = burnish.current_experiment()
    if experiment is not None and experiment.flag("shout"):
        return "BILLING"
    for words, team in ((("refund", "invoice"), "billing"), (("crash", "slow"), "technical")):
        if any(word in item["ticket"].lower() and word in rules for word in words):
            return team
    return "nobody"
