"""The effects of levels: dots in rows, with their names on the left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treeselect.reports.figures.axes import Frame, Tick
from treeselect.reports.figures.forms import TICK
from treeselect.reports.figures.labels import folded, shorten, width
from treeselect.reports.figures.rows import RowName
from treeselect.reports.figures.scales import (
    PANEL,
    Effects,
    curve_sentence,
    point_text,
    short_scale,
)
from treeselect.results.curves import Curve

_TOP, _LINE = 44.0, 15.0
_LONGEST = 13.0
"""Maximum width of a line of a level's name, in ems: two lines hold forty characters."""

_SHARES = 44.0
"""Space for the shares of the rows, on the right."""


@dataclass(frozen=True, slots=True)
class LevelDot:
    """A level: the position of its effect, and the ends of its interval if there is one."""

    name: RowName
    x: float
    y: float
    low: float | None
    high: float | None
    is_missing: bool
    share: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelPanel(Frame):
    """The effects of levels.

    Attributes
    ----------
    title, label : str
        Name of the term, whole and shortened.
    scale_label : str
        The scale of the effect, shortened.
    x_label : str
        The variable, if the term is not just that.
    dots : tuple of LevelDot
    zero : float
        Position of effect 0.
    shares_x : float
        Where the shares of the rows end.
    more : int
        Levels that were left out.
    text : str
        The levels in a sentence.
    is_number : bool
    """

    title: str
    label: str
    scale_label: str
    x_label: str
    dots: tuple[LevelDot, ...]
    zero: float
    shares_x: float
    more: int
    text: str
    is_number: bool = False


def level_panel(curve: Curve, title: str, effects: Effects) -> LevelPanel:
    """Geometry of the levels of a factor."""
    lines = folded([point.label for point in curve.points], _LONGEST)
    left = round(max(width(line, TICK) for own in lines for line in own) + 16.0)
    right = PANEL - _SHARES - 10.0

    def x(effect: float) -> float:
        return round(left + effects.share(effect) * (right - left), 1)

    dots, top = [], _TOP
    for own, point in zip(lines, curve.points, strict=True):
        height = _LINE * len(own) + 7.0
        middle = top + height / 2
        dots.append(
            LevelDot(
                RowName(own, left - 10.0, middle - _LINE * (len(own) - 1) / 2 + 4.0, True),
                x(point.effect),
                middle,
                None if point.low is None else x(point.low),
                None if point.high is None else x(point.high),
                point.is_missing,
                share_text(point.share),
                point_text(point),
            )
        )
        top += height
    x_label = "" if curve.variable == curve.term else shorten(curve.variable, PANEL / TICK)
    return LevelPanel(
        width=PANEL,
        height=int(top + 28.0 + (18.0 if x_label else 0.0)),
        left=left,
        right=right,
        top=_TOP,
        bottom=top,
        title=curve.term,
        label=title,
        scale_label=short_scale(curve.scale, (PANEL - 90.0) / TICK),
        x_label=x_label,
        dots=tuple(dots),
        zero=x(0.0),
        x_ticks=_ticks(effects, left, right),
        shares_x=PANEL - 6.0,
        more=curve.more,
        text=curve_sentence(curve),
    )


def share_text(share: float) -> str:
    """A share of the rows in a few characters."""
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"


def _ticks(effects: Effects, left: float, right: float) -> tuple[Tick, ...]:
    """The ticks of the scale whose labels fit, including 0."""
    zero = min(range(len(effects.ticks)), key=lambda i: abs(effects.ticks[i]))
    found: Sequence[tuple[float, str]] = []
    for every in range(1, len(effects.ticks) + 1):
        found = [
            (left + effects.share(tick) * (right - left), label)
            for i, (tick, label) in enumerate(zip(effects.ticks, effects.labels, strict=True))
            if (i - zero) % every == 0
        ]
        widest = max(width(label, TICK) for _, label in found) + 6
        if (right - left) / (len(effects.ticks) - 1) * every >= widest:
            break
    return tuple(Tick(round(at, 1), label) for at, label in found)
