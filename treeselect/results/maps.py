"""What maps show, whoever draws them: the mean response at pairs of values, and a number for each
pair of terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treeselect.engine.arrays import FloatArray
from treeselect.results.curves import scale_of, takes_numbers, value_text
from treeselect.results.shapes import shape_table, value_column

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.resampling.fit import Fit


@dataclass(frozen=True, slots=True)
class ShapeMap:
    """Mean response at each pair of values of two terms.

    Attributes
    ----------
    x, y : tuple of str
        Values of the first and of the second term as texts: numbers rising, levels in their order,
        missing ones last.
    x_label, y_label : str
        The variables behind the terms.
    means : ndarray of float, shape (len(y), len(x))
        Not a number where a pair does not occur; of more than two classes those of the class that
        varies most.
    scale : str
        What the means are.
    """

    x: tuple[str, ...]
    y: tuple[str, ...]
    x_label: str
    y_label: str
    means: FloatArray
    scale: str


def shape_map(result: Fit, term: str, other: str) -> ShapeMap:
    """The map of two selected terms with one variable each."""
    table = shape_table(result, term, other)
    x, x_names = _places(result, table, term)
    y, y_names = _places(result, table, other)
    label = _most_varying(result, table)
    means = np.full((len(y_names), len(x_names)), np.nan)
    means[y, x] = table[f"mean_{label}" if label else "mean"]
    columns = (result.design.spec[t].term.variables[0] for t in (term, other))
    x_label, y_label = map(result.design.word_for, columns)
    return ShapeMap(x_names, y_names, x_label, y_label, means, scale_of(result, label))


def _places(result: Fit, table: pd.DataFrame, term: str) -> tuple[list[int], tuple[str, ...]]:
    """Place of each row on the axis of a term, and the names of all places; missing ones last."""
    values = table[value_column(result, result.design.spec[term].term.variables[0])]
    missing = values.isna().to_numpy()
    if takes_numbers(result, term):
        ranks = values.to_numpy(dtype=np.float64, na_value=np.nan)
        texts = [value_text(None if np.isnan(v) else float(v)) for v in ranks]
    else:
        texts = [value_text(v) for v in values]
        levels = result.design.spec[term].factors[0].levels or (False, True)
        order = {value_text(level): i for i, level in enumerate(levels)}
        ranks = np.array([order.get(text, len(order)) for text in texts], dtype=np.float64)
    keys = list(zip(missing.tolist(), np.where(missing, 0.0, ranks).tolist(), strict=True))
    names = dict(zip(keys, texts, strict=True))
    places = {key: i for i, key in enumerate(sorted(names))}
    return [places[key] for key in keys], tuple(names[key] for key in sorted(names))


def _most_varying(result: Fit, table: pd.DataFrame) -> str:
    """Of more than two classes the one whose mean varies most, else nothing."""
    classes = [str(c) for c in result.design.response.classes]
    if len(classes) <= 2:
        return ""
    share = table["share"].to_numpy()

    def variance(label: str) -> float:
        mean: FloatArray = table[f"mean_{label}"].to_numpy()
        return float(share @ (mean - share @ mean / share.sum()) ** 2)

    return max(classes, key=variance)


@dataclass(frozen=True, slots=True)
class PairMap:
    """A number for each pair of terms.

    Attributes
    ----------
    terms : tuple of str
        Selected terms that are in any pair, most important first.
    values : ndarray of float, shape (n_terms, n_terms)
        Symmetric; not a number where there is none, as on the diagonal.
    """

    terms: tuple[str, ...]
    values: FloatArray


def pair_map(result: Fit, table: pd.DataFrame, column: str) -> PairMap:
    """A table with the columns ``term``, ``other`` and `column` as a map."""
    among = set(table["term"]) | set(table["other"])
    terms = tuple(term for term in result.selected if term in among)
    at = {term: i for i, term in enumerate(terms)}
    values = np.full((len(terms), len(terms)), np.nan)
    for a, b, value in zip(table["term"], table["other"], table[column], strict=True):
        values[at[a], at[b]] = values[at[b], at[a]] = value
    return PairMap(terms, values)
