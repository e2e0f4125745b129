"""Shared by panels of partial dependence: the scale of effects, and points in words."""

from __future__ import annotations

from dataclasses import dataclass

from treeselect.printing import significant_text
from treeselect.reports.figures.labels import ems, shorten
from treeselect.results.curves import Curve, CurvePoint, definite

PANEL = 320
"""Width of a panel in pixels: two side by side on wide screens, one on a phone."""


@dataclass(frozen=True, slots=True)
class Effects:
    """Ticks of the effect, and their labels."""

    ticks: tuple[float, ...]
    labels: tuple[str, ...]

    def share(self, effect: float) -> float:
        """Position of an effect, from 0 to 1."""
        return (effect - self.ticks[0]) / (self.ticks[-1] - self.ticks[0])


def short_scale(scale: str, most: float) -> str:
    """A scale in at most so many ems: if it is too long, the class is shortened first."""
    if scale.startswith("P("):
        what, of, label = scale[:-1].partition(" = ")
        end = ")"
    else:
        what, of, label = scale.partition(" of ")
        end = ""
    room = most - sum(map(ems, what + of + end))
    return f"{what}{of}{shorten(label, room)}{end}" if room > 4 else shorten(scale, most)


def point_text(point: CurvePoint) -> str:
    """A point in words."""

    def text(effect: float) -> str:
        return significant_text(effect, 3, "+")

    low, high = point.low, point.high
    interval = "" if low is None or high is None else f", {text(low)} to {text(high)}"
    return f"{point.label}: {text(point.effect)}{interval} ({point.share:.1%} of rows)"


def curve_sentence(curve: Curve) -> str:
    """A curve in a sentence, for readers who can't see it."""
    lowest = min(curve.points, key=lambda p: p.effect)
    highest = max(curve.points, key=lambda p: p.effect)
    return (
        f"Centred partial dependence of {definite(curve.scale)} on {curve.term}:"
        f" lowest, {significant_text(lowest.effect, 3, '+')}, at {lowest.label};"
        f" highest, {significant_text(highest.effect, 3, '+')}, at {highest.label}."
    )
