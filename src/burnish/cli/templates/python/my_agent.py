"""An agent and a scorer, both plain functions. They may be `async` too."""

from __future__ import annotations

from typing import Any

import burnish

_METRES = {"m": 1.0, "km": 1000.0, "cm": 0.01, "ft": 0.3048, "mile": 1609.344}


def answer(configuration: dict[str, Any], item: dict[str, Any]) -> str:
    """Turn a length into metres. Whatever is raised here is recorded as a failed item."""
    if item["unit"] not in _METRES:
        text: str = configuration["sections"]["unknown"]
        return text.replace("{{unit}}", item["unit"])
    metres = float(item["value"]) * _METRES[item["unit"]]
    return f"{metres:.{configuration['parameters']['decimals']}f}"


def score(output: str, item: dict[str, Any]) -> burnish.Score:
    """1 for the right number. The reason is what you, or an optimizer, learn from."""
    try:
        right = abs(float(output) - float(item["expected"])) < 0.05
    except ValueError:
        return burnish.Score(0.0, f"{output!r} is no number; expected {item['expected']}")
    return burnish.Score(float(right), "" if right else f"expected {item['expected']}")
