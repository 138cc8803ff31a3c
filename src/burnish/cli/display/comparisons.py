"""What changed between two experiments, in words."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from burnish.cli.display.rows import print_rows
from burnish.cli.wording import short_id
from burnish.evaluation.statistics import PairedComparison

_SIGNIFICANT = 0.05


def verdict(comparison: PairedComparison) -> Text:
    """Better, worse, or not known."""
    if comparison.p_value >= _SIGNIFICANT or comparison.delta == 0:
        return Text("no clear difference", style="yellow")
    if comparison.delta > 0:
        return Text("better", style="bold green")
    return Text("worse", style="bold red")


def print_comparison(console: Console, comparison: PairedComparison, baseline_id: str) -> None:
    """The paired comparison with a baseline."""
    head = f"against {short_id(baseline_id)}, item by item: "
    console.print(Text.assemble((head, "bold"), verdict(comparison)))
    print_rows(console, comparison_rows(comparison))


def comparison_rows(comparison: PairedComparison) -> list[tuple[str, Text]]:
    """The numbers with their labels."""
    delta = Text.assemble(
        (f"{comparison.delta:+.3f}", "bold cyan"),
        (f"  95% {comparison.ci_low:+.3f} to {comparison.ci_high:+.3f}", "dim"),
    )
    items = Text()
    items.append(f"{comparison.improved} improved", style="green" if comparison.improved else "")
    items.append(" · ")
    items.append(f"{comparison.worsened} worsened", style="red" if comparison.worsened else "")
    items.append(f" · {comparison.unchanged} unchanged", style="dim")
    p_value = Text(p_words(comparison.p_value))
    p_value.append("  how likely chance alone does this", style="dim")
    return [("change", delta), ("items", items), ("p-value", p_value)]


def p_words(p_value: float) -> str:
    """A p-value as papers print it."""
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"
