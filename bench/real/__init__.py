"""Real tasks with real models: a small one answers, a larger one reflects where it is asked.

The protocol, written down before the first run that is reported:

- Tasks: `banking77_eight`, `clinc_eleven`, `bbh_snarks`, `bbh_hyperbaton`, `bbh_sports_understanding`
  and `bbh_navigate`, each with the first prompt, the labels and the scorer of its `meta.json`.
- Seeds 0 and 1. A seed shuffles the rows and is given to the optimizer; both contestants get the same
  rows. Test: 150 rows, or what leaves 60 for the search (`bbh_snarks`: 118). The rest is halved into
  rows to learn from and rows to choose by, of at most 75 each: 75 and 75, 50 and 50, 30 and 30.
- Answers: SmolLM2-135M as a prompt agent with labels, at temperature 0: the text that is optimized is
  the system message, the row the user's message, and a grammar allows labels only. Both contestants
  use this agent and this scorer.
- Reflections: Qwen2.5-Coder-1.5B at temperature 0, a context of 8,192 tokens, answers of at most 1,024.
- Budget of a search: 700 evaluations, 5 reflections. The test is not in it.
- `gepa`: as it is by default, but for its two settings that bound reflections: `population_size` 2,
  and `evaluations_per_reflection` such that there are 5 in all. It asks as it asks embedded models, by
  a schema.
- `gepa_package`: gepa 0.1.4 with its defaults (mini-batches of 3, Pareto selection, one proposal at a
  time) and its own reflection prompt in free text; it is stopped once it has asked 5 times. Feedback
  says "wrong, score 0. expected X, got Y", and names all labels, which `gepa` shows too.
- Result: accuracies of the first prompt and of the winner on the test rows, their paired difference
  with a 95% interval (bootstrap); over runs the mean gain with its bootstrap interval. Every run is in
  the table. Seeds from 100 up are for trying things out.

    python -m bench real --data DIR --jobs 2 --tasks banking77_eight,clinc_eleven,bbh_snarks,\
bbh_hyperbaton,bbh_sports_understanding,bbh_navigate

Five reflections, because one costs about 40 seconds of a CPU and 100 evaluations 13 (`banking77_eight`)
to 27 (`bbh_navigate`). Finished runs stand in `build/bench/real.jsonl`, all answers in
`build/bench/real-calls.db`: a command that was killed goes on. What it ended with is merged into
`bench/results/real.jsonl` (figures and digests only, committed), which counts as finished on any
machine as long as the code that decides a contestant's result is the same, and into the results page.
`--show` prints what is finished.

Without a key: contestants that ask nobody, with 1,000 evaluations, seeds 0 to 2, the same rows.

    python -m bench real --data DIR --evaluations 1000 --seeds 3 --tasks … \
        --contestants auto,joint,few_shot,edits,dspy_bootstrap

- `auto` without a model that writes; `joint` and `auto` ask for probabilities of labels, which change
  no answer by themselves.
- Other libraries (`dspy_bootstrap`, `dspy_mipro`, `capo`, `opro`, `opik_few_shot`, see `foreign.py`)
  run in environments of their own, on an endpoint of ours, with as many task calls; a request that was
  made before costs nothing. Those that ask get `--reflections`; it says how many they asked.
- Verdicts: a third of the test rows says what a run would say; all other held-out rows, with up to 150
  that nobody used, say whether that was right. Where the first prompt was kept, they are asked about
  the best other prompt of the search.

`python -m bench soft --data DIR` measures what probabilities of labels save: `joint` with and without.
"""
