"""Words of settings for forms: what each does, one sentence for whoever fills it in.

By the setting's name, and by kind and name where one kind means something else. What is not here keeps
the sentence of its docstring, as settings of other packages do.
"""

from __future__ import annotations

from typing import Any

_ENDS = "Stop as soon as a candidate has this score; without it, at a perfect 1.0."
_WORDS = {
    "absolute": "How far off a number may be.",
    "answer_field": "The column that holds the right answer; empty finds it by itself.",
    "batch": "How many training items are run to learn from.",
    "criteria": "What a good answer is, in plain words; the judge reads them.",
    "decimal": "The sign before the decimals, a dot or a comma.",
    "failures": "How many failed items the model is shown.",
    "field": "The column to compare the output with.",
    "fields": "The columns that the judge sees; all of them when empty.",
    "flags": "Flags of the pattern, such as i for any case.",
    "ignore_case": "Whether upper and lower case count as the same.",
    "match": "Whether all texts have to be there, or any one of them.",
    "max_edits": "How many edits a candidate may have.",
    "max_examples": "How many examples a prompt may show.",
    "max_prompt_tokens": "The longest prompt that is tried, in tokens.",
    "name": "What the score is called in results.",
    "parameters": "Parameters of the model's calls, such as a temperature.",
    "path": "Where the value stands in the answer's JSON, such as order.total.",
    "patience": "Stop after so many tries in a row without a better one.",
    "pattern": "A regular expression that the output has to contain.",
    "relative": "How far off a number may be, as a share of the expected one: 0.01 is 1 %.",
    "repair": "Whether JSON with small mistakes is mended before it is read.",
    "schema": "A JSON schema that the answer has to keep to.",
    "strip": "Whether spaces around the output are left out.",
    "target": _ENDS,
    "text": "The text that the output has to contain, in place of a column.",
    "threshold": "Passes from this score on; without it the judge or the suite decides.",
    "timeout_seconds": "How long one call may take.",
    "weight": "How much this scorer counts beside others.",
}
_CALLS = "The column with the expected calls."
_OF_KIND = {
    ("asserts", "field"): "The column that holds each row's own list of asserts.",
    ("asserts", "model"): "Judges asserts of the type llm-rubric; all others need none.",
    (
        "auto",
        "model",
    ): "Writes new texts where that promises most; without one edits are mechanical.",
    ("compress", "model"): "Rewrites sections shorter; without one lines are only left out.",
    ("compress", "min_section_tokens"): "Sections shorter than this stay as they are.",
    ("compress", "sections"): "Only these sections are shortened; all of them when empty.",
    ("compress", "lines"): "Whether single lines and examples may go too.",
    ("compress", "screened"): "On how many items each cut is tried alone first.",
    (
        "compress",
        "drop_untested",
    ): "Whether lines go that no item tests. They stay unless you say so.",
    ("compress", "protected"): "Lines that contain one of these texts always stay.",
    ("edits", "edit_cost"): "How much better each edit has to make the score to be kept.",
    ("edits", "collapse_penalty"): "How much worse a prompt counts that answers everything alike.",
    ("evolve", "model"): "Writes new texts; without one they are changed mechanically.",
    ("evolve", "population"): "How many of the best candidates new ones are made from.",
    ("evolve", "tournament"): "How many are drawn of which the best becomes a parent.",
    ("evolve", "crossover"): "The share of new candidates that are made of two.",
    ("gepa", "model"): "Reads the failures and writes better prompts. Best a strong one.",
    ("gepa", "max_iterations"): "The most trials; without it the budget alone decides.",
    ("gepa", "population_size"): "How many candidates run side by side.",
    ("gepa", "exploration_temperature"): "Higher: weaker candidates are built upon more often.",
    ("gepa", "accept_threshold"): _ENDS,
    ("gepa", "stop_no_improve"): "Stop after so many trials in a row without a better one.",
    ("gepa", "mutation_strategies"): "The sections that may be rewritten, by their names.",
    ("gepa", "look"): "How many training items are looked at before the first rewrite.",
    ("gepa", "guidance"): "What the model is told besides, with every question.",
    ("gepa", "section_guidance"): "The same for single sections, by their names.",
    ("gepa", "evaluations_per_reflection"): "The model is asked at most once in so many item runs.",
    ("gepa_reference", "model"): "Reads the failures and writes better prompts.",
    ("gepa_reference", "minibatch_size"): "On how many items a rewrite is tried first.",
    ("gepa_reference", "candidate_selection"): "Which candidate the next rewrite is made from.",
    ("gepa_reference", "module_selector"): "Which sections a rewrite changes: one in turn, or all.",
    ("gepa_reference", "use_merge"): "Whether rewrites of different lines are joined.",
    ("gepa_reference", "max_merge_invocations"): "How often they are joined at most.",
    ("grid", "steps"): "Into how many values each range of parameters is cut.",
    ("grid", "sections"): "Texts to try, by section.",
    (
        "grid",
        "target",
    ): "Stop as soon as a candidate has this score; without it the whole grid is run.",
    ("joint", "block"): "How many items candidates run before the weak ones are left behind.",
    ("joint", "length_penalty"): "How much worse the longest prompt counts, others in proportion.",
    ("joint", "soft_scores"): "Whether the probability of the right label counts too.",
    ("joint", "population_size"): "How many candidates run side by side.",
    ("judge", "model"): "The model that judges. Best another one than the agent's.",
    ("meta_prompt", "model"): "Writes new texts of one section at a time.",
    ("meta_prompt", "shown"): "How many earlier texts with their scores it is shown.",
    ("parameters", "sampler"): "How values are drawn: learning from earlier ones, or at random.",
    ("parameters", "sections"): "Texts to choose from, by section, beside those of now.",
    ("parameters", "startup"): "How many values are drawn at random first.",
    ("judge", "transcript"): "Whether it sees the messages and tool calls of the run too.",
    ("steps", "field"): "The column with how many steps the item may take.",
    ("steps", "most"): "How many messages the assistant may write.",
    ("steps", "least"): "How many messages it has to write.",
    ("tool_arguments", "calls"): "Calls that are expected of every item: names and arguments.",
    ("tool_arguments", "exact"): "Whether a call may have no other arguments.",
    ("tool_arguments", "field"): f"{_CALLS} With a tool, just its arguments.",
    ("tool_arguments", "schema"): "A JSON schema that the arguments have to keep to.",
    ("tool_arguments", "tool"): "The tool whose arguments are looked at.",
    ("tool_called", "field"): "The column with the tools that have to be called.",
    ("tool_called", "tools"): "The tools that have to be called.",
    ("tool_not_called", "field"): "The column with the tools that may not be called.",
    ("tool_not_called", "tools"): "The tools that may not be called; * stands for anything.",
    ("tool_order", "calls"): "Tools in the order in which they have to be called.",
    ("tool_order", "field"): _CALLS,
    ("tool_order", "strict"): "Whether no other calls may stand between.",
    ("turns", "field"): "The column with how often the user may have to speak.",
    ("turns", "most"): "How often the user may have to speak.",
    ("turns", "least"): "How often the user has to speak.",
    ("regex", "field"): "The column that holds the pattern, or what its match has to equal.",
}
_CHOICES = {
    ("contains", "match"): ["all", "any"],
    ("numeric", "decimal"): [".", ","],
    ("parameters", "sampler"): ["tpe", "random"],
    ("gepa_reference", "candidate_selection"): [
        *("pareto", "current_best", "epsilon_greedy", "top_k_pareto"),
    ],
    ("gepa_reference", "module_selector"): ["round_robin", "all"],
}


def worded(kind: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a built-in kind's settings, in words for users and with its choices."""
    properties = {}
    for name, one in schema["properties"].items():
        words = _OF_KIND.get((kind, name)) or _WORDS.get(name)
        chosen: dict[str, Any] = {"description": words} if words else {}
        if (kind, name) in _CHOICES:
            chosen["enum"] = _CHOICES[kind, name]
        properties[name] = {**one, **chosen}
    return {**schema, "properties": properties}
