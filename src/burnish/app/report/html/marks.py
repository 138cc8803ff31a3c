"""The marks of charts. All marks of a kind are one path, so thousands of them stay small."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Point = tuple[float, float, int]
"""Where a mark stands, and the number of its candidate."""

_FEW, _SOME = 150, 1_000
WORDS = {
    "completed": "completed",
    "pruned": "ended early, scored on fewer items",
    "failed": "failed, without a score",
}


def mark_size(number: int) -> float:
    """Half the width of a mark: the more there are, the smaller."""
    return 4.0 if number <= _FEW else 3.0 if number <= _SOME else 1.75


def marks(kind: str, points: Iterable[Point], size: float, *, lit: bool = False) -> str:
    """One path for all points: dots, hollow diamonds or crosses."""
    if kind == "completed":
        shape = "h0"
    elif kind == "pruned":
        shape = f"m-{size:g} 0l{size:g}-{size:g} {size:g} {size:g}-{size:g} {size:g}z"
    else:
        across = 2 * size
        shape = f"m-{size:g}-{size:g}l{across:g} {across:g}m0-{across:g}l-{across:g} {across:g}"
    path = "".join(f"M{x:g} {y:g}{shape}" for x, y, _ in points)
    width = f' stroke-width="{2 * size:g}"' if kind == "completed" else ""
    classes = f"mark {kind} lit" if lit else f"mark {kind}"
    return f'<path class="{classes}"{width} d="{path}"/>\n' if path else ""


def ring(kind: str, point: Point) -> str:
    """A mark around one point."""
    return f'<circle class="ring {kind}" cx="{point[0]:g}" cy="{point[1]:g}" r="8"/>\n'


def legend(entries: Mapping[str, str]) -> str:
    """What the marks mean; the drawings are of the same classes as those in the chart."""
    shapes = {
        "completed": marks("completed", [(9, 8, 0)], 4),
        "pruned": marks("pruned", [(9, 8, 0)], 4),
        "failed": marks("failed", [(9, 8, 0)], 4),
        "best-line": '<path class="best-line" d="M1 12H9V4H17"/>',
        "baseline-line": '<path class="baseline-line" d="M1 8H17"/>',
        "front-line": '<path class="front-line" d="M1 12H9V4H17"/>',
        "ring best": '<circle class="ring best" cx="9" cy="8" r="6"/>',
        "ring baseline": '<circle class="ring baseline" cx="9" cy="8" r="6"/>',
    }
    items = "".join(
        f'<li><svg width="18" height="16" viewBox="0 0 18 16" aria-hidden="true">{shapes[kind]}</svg>'
        f"{words}</li>"
        for kind, words in entries.items()
    )
    return f'<ul class="legend">{items}</ul>\n'


def picture(name: str, title: str, description: str, size: tuple[float, float], body: str) -> str:
    """A chart that says in words what it shows."""
    width, height = size
    return (
        f'<div class="chart" tabindex="0" role="region" aria-label="{title}">'
        f'<svg id="{name}" role="img" aria-labelledby="{name}-t {name}-d" '
        f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">'
        f'<title id="{name}-t">{title}</title><desc id="{name}-d">{description}</desc>\n'
        f"{body}</svg></div>\n"
    )
