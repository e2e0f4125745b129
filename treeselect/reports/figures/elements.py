"""Elements of SVG, and the sizes at which figures are drawn."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup, escape

from treeselect.shown import shown

# --- two sizes of a figure -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Form:
    """A size at which a figure is drawn, in pixels.

    Attributes
    ----------
    name : str
        The class of its drawing.
    width : int
    beside, above : float
        Longest names on the left of their rows, and above them, where longer ones are moved; 0 if
        they are shortened instead.
    legend : float
        Room for names of lines on the right; 0 if they are below.
    margin : float
        Free space on the right, for half a tick label.
    top, bottom : float
        Ends of the vertical axis.
    inset : float
        Between the ends of an axis of numbers and those of the horizontal one.
    """

    name: str
    width: int
    beside: float
    above: float
    legend: float
    margin: float
    top: float
    bottom: float
    inset: float = 16.0

    @property
    def is_small(self) -> bool:
        """Whether the figure stands beside others."""
        return self.name in ("panel", "square")


WIDE = Form("wide", 680, 290.0, 0.0, legend=190.0, margin=34.0, top=30.0, bottom=272.0)
NARROW = Form("narrow", 340, 112.0, 330.0, legend=0.0, margin=20.0, top=30.0, bottom=222.0)
SMALL = {
    "panel": Form("panel", 320, 156.0, 0.0, legend=0.0, margin=6.0, top=44.0, bottom=170.0,
                  inset=8.0),
    "square": Form("square", 320, 156.0, 0.0, legend=0.0, margin=14.0, top=26.0, bottom=268.0,
                   inset=0.0),
}  # fmt: skip


# --- markup --------------------------------------------------------------------------------------


def tag(name: str, inside: object = None, /, **given: object) -> Markup:
    """An element; texts are escaped, and without control characters."""
    attributes = Markup("").join(
        Markup(' {}="{}"').format(key.strip("_").replace("_", "-"), _plain(value))
        for key, value in given.items()
        if value is not None and value != ""
    )
    if inside is None:
        return Markup("<{}{}/>").format(Markup(name), attributes)
    return Markup("<{0}{1}>{2}</{0}>\n").format(Markup(name), attributes, _plain(inside))


def _plain(value: object) -> object:
    if isinstance(value, float):
        return length(value)
    return value if isinstance(value, Markup | int) else escape(shown(str(value)))


def length(value: float) -> str:
    """A length, to a tenth of a pixel."""
    return f"{round(value, 1) + 0.0:g}" if abs(value) < 1e5 else f"{value:.0f}"


def text(kind: str, x: float, y: float, words: str) -> Markup:
    """A text of a class."""
    return tag("text", words, class_=kind, x=x, y=y)


def path(kind: str, *steps: str) -> Markup:
    """A path, if there is anything on it."""
    return tag("path", class_=kind, d="".join(steps)) if any(steps) else Markup("")


def tip(form: Form, words: str) -> Markup:
    """A tooltip; narrow figures have none."""
    return tag("title", words) if words and form is not NARROW else Markup("")


def group(kind: str, *parts: Markup) -> Markup:
    """Elements of one class."""
    return tag("g", Markup("").join(parts), class_=kind)


def level(y: float, left: float, right: float) -> str:
    """A horizontal line."""
    return f"M{length(left)} {length(y)}H{length(right)}"


def upright(x: float, top: float, bottom: float) -> str:
    """A vertical line."""
    return f"M{length(x)} {length(top)}V{length(bottom)}"
