"""What figures share: colours, marks, axes, and errors for what can't be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from treeselect.errors import MissingPackageError, OptionError, did_you_mean, listing, near
from treeselect.reports.figures import distinct
from treeselect.scalars import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACCENT = "#1f5f8b"
SOFT = "#5a6373"
INK = "#20252e"
GRID = "#e9ecf1"
COLOURS = (ACCENT, "#c4532b", "#3b8f6b", "#8a5a9e", "#9a7b1f", "#4f5a6e", "#b03a6a", "#2c93a8")
MARKS = "os^DvPX*"
"""Lines differ in their marks, too: colour alone is not seen by everybody, nor printed."""


def check_kind(kind: object, kinds: Sequence[str]) -> None:
    """Raise an OptionError unless there is a figure of that name."""
    if not isinstance(kind, str) or kind not in kinds:
        close = near(shown(kind), kinds)
        raise OptionError(
            f"`kind` must be one of {listing(kinds)}.\n"
            f"  Found: {shown(kind)}.{' ' + did_you_mean(close) if close else ''}"
        )


def need_matplotlib() -> None:
    """Raise a MissingPackageError if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingPackageError(
            "Can't plot without matplotlib, which is not installed.\n"
            '  Install it: `pip install "treeselect[plot]"`. Reports do not need it.'
        ) from error


def new_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The user's axes as they are, or new ones."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def whole_numbers(ax: Axes) -> None:
    """Ticks of the horizontal axis at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Names on the rows of a figure, the first on top."""
    ax.set_yticks(range(len(names)), short_names(names, 20.0))
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)


def short_names(names: Sequence[str], most: float) -> list[str]:
    """Names that fit into so many ems and stay distinct."""
    return [plain(name) for name in distinct(names, most)]


def plain(text: str) -> str:
    """Text in which a dollar sign begins no formula."""
    return text.replace("$", r"\$")
