"""What a vignette's kernel knows before the first cell: how frames, figures and values look."""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd

MOST_ROWS = 20
"""Rows of a frame that are shown."""


def begin() -> None:
    """Set up the kernel that calls this."""
    import matplotlib.pyplot as plt
    from IPython.core.getipython import get_ipython
    from matplotlib_inline.backend_inline import set_matplotlib_formats

    set_matplotlib_formats("svg")
    plt.rcParams.update(
        {
            # Text stays text, and what is behind it is the page, light or dark.
            "svg.fonttype": "none",
            "svg.hashsalt": "treeselect",
            "figure.facecolor": "none",
            "axes.facecolor": "none",
            "legend.framealpha": 0,
            "font.size": 11,
        }
    )
    plt.close(plt.figure())  # builds matplotlib's list of fonts, of which it tells on stderr
    html: Any = get_ipython().display_formatter.formatters["text/html"]  # type: ignore[union-attr]
    html.for_type(pd.DataFrame, frame_html)


def inline(*values: object) -> None:
    """Print values as the texts that stand in the prose, for the builder to read."""
    print(json.dumps([inline_text(value) for value in values]))


def inline_text(value: object) -> str:
    """A value in a sentence.

    Parameters
    ----------
    value : str, number, or sequence of str
        Text stays as it is, names become code.

    Raises
    ------
    TypeError
        If it is something else.

    Examples
    --------
    >>> from vignettes.session import inline_text
    >>> inline_text(1309), inline_text(0.85812), inline_text(("sex", "age", "fare"))
    ('1,309', '0.858', '`sex`, `age` and `fare`')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Integral):
        return f"{int(value):,}"
    if isinstance(value, numbers.Real):
        return f"{float(value):.3g}"
    if isinstance(value, Sequence) and all(isinstance(name, str) for name in value):
        names = [f"`{name}`" for name in value]
        return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]])) or "nothing"
    raise TypeError(f"Prose can't say a {type(value).__name__}: make it text or a number.")


def frame_html(frame: pd.DataFrame) -> str:
    """A frame as a table: numbers of a column with as many decimals, missing values a dash.

    Examples
    --------
    >>> import pandas as pd
    >>> from vignettes.session import frame_html
    >>> "<td>0.500</td>" in frame_html(pd.DataFrame({"share": [0.5]}))
    False
    >>> '<td class="number">0.500</td>' in frame_html(pd.DataFrame({"share": [0.5]}))
    True
    """
    shown = frame.head(MOST_ROWS)
    columns = {str(name): _column(shown.iloc[:, i]) for i, name in enumerate(shown.columns)}
    types = pd.api.types
    numeric = [types.is_numeric_dtype(t) and not types.is_bool_dtype(t) for t in shown.dtypes]
    named = frame.index.name is not None or not types.is_integer_dtype(frame.index.dtype)
    heads = [*([str(frame.index.name or "")] if named else []), *columns]
    left = [*([False] if named else []), *numeric]
    head = "".join(
        f'<th scope="col"{_class(right)}>{escape(name)}</th>'
        for name, right in zip(heads, left, strict=True)
    )
    rows = []
    for i in range(len(shown)):
        label = f'<th scope="row">{escape(str(shown.index[i]))}</th>' if named else ""
        cells = (
            f"<td{_class(right)}>{escape(texts[i])}</td>"
            for texts, right in zip(columns.values(), numeric, strict=True)
        )
        rows.append(f"<tr>{label}{''.join(cells)}</tr>")
    more = len(frame) - len(shown)
    told = f'<p class="more">and {more:,} more rows</p>' if more else ""
    body = "\n".join(rows)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>{told}"


def _class(right: bool) -> str:
    return ' class="number"' if right else ""


def _column(values: pd.Series[Any]) -> list[str]:
    if not pd.api.types.is_float_dtype(values.dtype):
        return [_cell(value) for value in values]
    known = np.abs(values.to_numpy(dtype=np.float64, na_value=np.nan))
    known = known[np.isfinite(known) & (known > 0)]
    if not len(known) or (known.max() > 1 and (known == np.round(known)).all()):
        decimals = 0
    else:
        decimals = max(3 - int(known.max() >= 10) - int(known.max() >= 100), _places(known.min()))
    texts: list[str] = []
    for value in values:
        if pd.isna(value) or math.isinf(value):
            texts.append(_cell(value))
        else:
            texts.append(f"{value:,.{decimals}f}" if decimals < 6 else f"{value:.2g}")
    return texts


def _places(least: float) -> int:
    """Decimals with which the least number has two digits."""
    return max(0, 1 - math.floor(math.log10(least)))


def _cell(value: object) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "–"
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, float) and math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_):
        return f"{int(value):,}"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return str(value)
