"""A plain hill climber for worlds: it takes whole answers, and keeps what does better on a sample."""

import random

from gepa_prompt import fenced, gepa_prompt


def text_of(answer):
    """The text of an answer: what stands between its first and last fence, or all of it."""
    if answer.count("```") < 2:
        return answer.strip()
    text = fenced(answer)
    first, _, rest = text.partition("\n")
    return rest if first in ("markdown", "text", "`text") else text


def climb(world, *, budget, sample=20, shown=3, seed=0):
    """The best texts after `budget` calls; each step costs `shown` calls and a sample."""
    rng = random.Random(seed)
    best = dict(world.sections)
    names = list(best)

    def measured(sections, rows):
        return sum(world.score(world.answer(sections, row), row)[0] for row in rows)

    step = 0
    while world.calls + shown + 2 * sample <= budget:
        section, step = names[step % len(names)], step + 1
        prompt = gepa_prompt(world, best, rng.sample(world.train, shown), section)
        child = {**best, section: text_of(world.reflect(prompt))}
        if child == best:
            continue
        rows = rng.sample([*world.train, *world.validation], sample)
        if measured(child, rows) > measured(best, rows):
            best = child
    return best
