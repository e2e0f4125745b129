"""A figure in two forms: one for wide screens and paper, one for phones.

Both are on the page, and the style sheet shows one of them, so figures need neither unreadable
scaling nor scrolling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

NAME, TICK = 13.0, 12.0
"""Sizes of type that the style sheet gives to names, and to ticks and labels, in pixels."""


@dataclass(frozen=True, slots=True)
class Form:
    """A size at which a figure is drawn, in pixels.

    Attributes
    ----------
    name : str
        The class of its drawing.
    width : int
    beside : float
        Room for names to the left of their rows; longer ones are above them.
    above : float
        Room for names above their rows; 0 if they are shortened to fit on the left.
    legend : float
        Room for names of lines on the right; 0 if they are below.
    margin : float
        Free space on the right, for half a tick label.
    bottom : float
        Height of the horizontal axis below lines.
    """

    name: str
    width: int
    beside: float
    above: float
    legend: float
    margin: float
    bottom: float


WIDE = Form("wide", 680, beside=290.0, above=0.0, legend=190.0, margin=34.0, bottom=272.0)
NARROW = Form("narrow", 340, beside=112.0, above=330.0, legend=0.0, margin=20.0, bottom=222.0)

Drawing = TypeVar("Drawing")


@dataclass(frozen=True, slots=True)
class Figure(Generic[Drawing]):
    """The same figure twice.

    Attributes
    ----------
    wide, narrow : Drawing
    text : str
        Description for screen readers.
    more : int
        Number of rows or lines that were omitted.
    """

    wide: Drawing
    narrow: Drawing
    text: str
    more: int = 0


def in_both_forms(draw: Callable[[Form], Drawing], text: str, more: int = 0) -> Figure[Drawing]:
    """A figure in both forms from one geometry."""
    return Figure(draw(WIDE), draw(NARROW), text, more)
