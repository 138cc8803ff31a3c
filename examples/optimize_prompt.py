"""Improve a prompt on any `str -> str` model with the built-in `edits` optimizer, and prove it."""

import burnish

MESSAGES = [
    ("The invoice lists the same month twice.", "billing"),
    ("My card was charged after I cancelled.", "billing"),
    ("The app closes when I open settings.", "technical"),
    ("Sync has been stuck at ninety percent since Monday.", "technical"),
]
ROWS = [
    {"message": f"{text} (case {number})", "label": label}
    for number in range(15)
    for text, label in MESSAGES
]


def model(prompt: str) -> str:
    """Stands for a language model that needs to be told the format, and to see the item named."""
    about_money = any(word in prompt for word in ("invoice", "charged"))
    answer = "billing" if about_money else "technical"
    told = "one word" in prompt.lower()
    return (
        answer
        if told
        else f"I believe this could be about {answer} or something else, technical or billing"
    )


result = burnish.optimize(
    agent=burnish.Agent(
        name="router",
        configuration={
            "sections": {
                "system": "Decide whether the message is about billing or technical matters.",
                "user": "{{message}}",
            }
        },
        model=model,
        labels=["billing", "technical"],
    ),
    suite=burnish.Suite(
        dataset=ROWS,
        scorers=[{"kind": "exact_match", "field": "label"}],
        split={"train": 0.2, "validation": 0.4, "test": 0.4},
    ),
    optimizer="edits",
    budget=burnish.Budget(max_trials=12),
    seed=7,
)
print(f"validation {result.baseline.score:.2f} -> {result.best.score:.2f}")
print(f"held out   {result.test}")
print(result.best.configuration.sections)
assert result.improved, result.why_not_improved
