"""Qwen2.5-Coder-1.5B, embedded, as an agent with tools and as a judge: does optimizing improve either?

The protocol, written down before the first run that is reported:

- `qwen-tools`: the desk of a library (`library.py`), 60 questions written by hand with their answers,
  four tools whose descriptions are as short as people write them. The model calls tools by grammar,
  at temperature 0, at most 4 steps. An answer is right that contains what is asked for. 20 questions
  to learn from, 20 to choose by, 20 held out. Every text is a section: instructions, tools, parameters.
- `qwen-judge`: 60 messages of `banking77_eight` (from `--data`, nothing of it is kept here), each with
  an intent as its answer, the right one in half of them and a seeded other one else. The judge gives
  a score and no reason. 18 to learn from, 18 to choose by, 24 held out; agreement is the score.
- Optimizer: `gepa` with the same model reflecting, seed 0, budget of 120 (tools) and 220 (judge)
  evaluations.
- Result: the first and the winning configuration on the held-out items, with their paired difference,
  its 95% interval and p-value, and what was changed; told whichever way it goes.

    python -m bench qwen-tools --minutes 30
    python -m bench qwen-judge --data DIR --minutes 30

All answers of the model stand in `build/bench/qwen-*-calls.db`: a command that was stopped or killed
goes on where it was. `--minutes` ends it, with what is known until then; `--items 2` takes some items
only, to see how long one takes, and writes no page.
"""
