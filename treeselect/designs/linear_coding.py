"""How a linear model takes missing values and ordered factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from treeselect.arguments.checks import check_choice
from treeselect.designs.columns import TermSpec
from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.errors import OptionError
from treeselect.frames.values import Labels, read_column, to_series

if TYPE_CHECKING:
    import pandas as pd

MissingRule = Literal["drop", "indicator"]
OrderedRule = Literal["treatment", "scores", "polynomial"]

_MISSING_RULES = ("drop", "indicator")
_ORDERED_RULES = ("treatment", "scores", "polynomial")

_AS_IN_R = {"contr.treatment": "treatment", "contr.poly": "polynomial", "poly": "polynomial"}


@dataclass(frozen=True, slots=True)
class LinearCoding:
    """How a linear model takes missing values and ordered factors.

    Attributes
    ----------
    missing : {"drop", "indicator"}
        Complete cases; or all rows, with a level ``(missing)`` for factors, and for numbers the
        median of the rows with an indicator ``missing(x)``.
    ordered : {"treatment", "scores", "polynomial"}
        Contrasts of ordered factors: differences from the first level; one column of scores, 1 to
        K in the order of the levels; or orthogonal polynomials, as in R.
    """

    missing: MissingRule = "drop"
    ordered: OrderedRule = "treatment"

    @property
    def arguments(self) -> str:
        """The arguments that differ from the defaults, as typed, each behind a comma."""
        said = "" if self.missing == "drop" else f', missing="{self.missing}"'
        return said + ("" if self.ordered == "treatment" else f', ordered="{self.ordered}"')


USUAL = LinearCoding()
"""Complete cases and treatment contrasts."""


def read_coding(
    missing: object, ordered: object, sources: pd.DataFrame, terms: Sequence[TermSpec]
) -> LinearCoding:
    """The coding requested.

    Parameters
    ----------
    missing, ordered
        As given.
    sources : pandas.DataFrame
        The columns behind the terms.
    terms : sequence of TermSpec
        The candidate terms.

    Raises
    ------
    OptionError
        If an argument is not allowed, or contrasts are requested and no term is an ordered factor.
    """
    check_choice("missing", missing, _MISSING_RULES)
    check_choice("ordered", ordered, _ORDERED_RULES, _AS_IN_R)
    coding = LinearCoding(missing, ordered)  # type: ignore[arg-type]
    if coding.ordered != "treatment" and not any(_ordered_factors(sources, terms)):
        raise OptionError(
            f"`ordered={ordered!r}` needs a term that is an ordered factor.\n"
            "  Found: none among the candidate terms. Make a column one in the data, for example"
            " with `.astype(pd.CategoricalDtype([...], ordered=True))`, or leave `ordered` out."
        )
    return coding


def _ordered_factors(sources: pd.DataFrame, terms: Sequence[TermSpec]) -> list[str]:
    names = dict.fromkeys(f.factor.name for t in terms for f in t.factors if f.factor.is_plain)
    return [name for name in names if is_ordered(sources[name])]


def is_ordered(series: pd.Series[Any]) -> bool:
    """Whether a column holds categories whose order has a meaning."""
    return bool(getattr(series.dtype, "ordered", False))


_ORDERED_WORDS = {
    "scores": "one column of scores, 1 to K in the order of the levels",
    "polynomial": "orthogonal polynomials: linear (.L), quadratic (.Q), cubic (.C) and so on",
}


def coded_words(
    sources: pd.DataFrame, terms: Sequence[TermSpec], chosen: Sequence[str], coding: LinearCoding
) -> tuple[str, ...]:
    """How ordered factors among the chosen terms are coded, unless by treatment contrasts."""
    names = _ordered_factors(sources, [spec for spec in terms if spec.term.name in set(chosen)])
    if coding.ordered == "treatment" or not names:
        return ()
    return (f"Ordered factors ({', '.join(names)}) are {_ORDERED_WORDS[coding.ordered]}.",)


# --- missing values ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filling:
    """What replaces missing values.

    Attributes
    ----------
    levels : mapping of str to tuple
        Levels of factors whose missing values are a level, the last.
    values : mapping of str to scalar
        What replaces missing values of the other variables. Each has an indicator.
    term_of : mapping of str to str
        The term to which the indicator of a variable belongs: the first that reads the variable.
    """

    levels: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    term_of: Mapping[str, str] = field(default_factory=dict)

    def fill(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The frame without missing values in the variables that are known here."""
        import pandas as pd

        columns = {str(name): frame[name] for name in frame}
        for name in self.levels.keys() & columns.keys():
            column = columns[name].astype(object)
            columns[name] = column.where(column.notna(), self.levels[name][-1])
        for name in self.values.keys() & columns.keys():
            columns[name] = _filled(columns[name], name, self.values[name])
        return pd.DataFrame(columns, frame.index)

    def declared(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The same frame, with the level of missing values last: the first is the reference."""
        import pandas as pd

        columns = {str(name): frame[name] for name in frame}
        for name, levels in self.levels.items():
            columns[name] = pd.Series(pd.Categorical(columns[name], list(levels)), frame.index)
        return pd.DataFrame(columns, frame.index)

    def indicators(self, frame: pd.DataFrame) -> dict[str, FloatArray]:
        """The indicator of each variable that has one."""
        return {name: frame[name].isna().to_numpy().astype(np.float64) for name in self.values}


def _filled(series: pd.Series[Any], name: str, value: Any) -> pd.Series[Any]:
    column, gaps = read_column(series, name), series.isna().to_numpy(dtype=bool)
    if isinstance(column, Labels):
        codes = column.codes.copy()
        if gaps.any():
            codes[gaps] = column.levels.index(value) if value in column.levels else -1
        if value not in column.levels and gaps.any():
            return series.astype(object).where(~gaps, value)
        return to_series(
            Labels(codes, column.levels, column.declared, column.ordered), series.index
        )
    values = np.where(gaps, value, column.values)
    return to_series(
        type(column)(values, is_integer=column.is_integer, is_bool=column.is_bool), series.index
    )


def learn_filling(
    frame: pd.DataFrame, terms: Sequence[TermSpec], coding: LinearCoding, weight: WeightArray
) -> Filling:
    """What replaces the missing values of these rows.

    Parameters
    ----------
    frame : pandas.DataFrame
        The variables of the terms.
    terms : sequence of TermSpec
    coding : LinearCoding
    weight : ndarray, shape (n_rows,)

    Notes
    -----
    A factor that all its terms take as it is has a level of its own, except for scores and
    polynomials, which need a place in the order. Other variables take their median, for ordered
    factors the median level, for others the first one; which one does not change the fit of a term
    on its own, as there is an indicator. The median is the lower one, a value that occurs.
    """
    levels: dict[str, tuple[Any, ...]] = {}
    values: dict[str, Any] = {}
    term_of: dict[str, str] = {}
    for name in frame:
        gaps = frame[name].isna().to_numpy(dtype=bool)
        if not gaps.any() or gaps.all():
            continue
        name = str(name)
        column = read_column(frame[name], name)
        own = [spec for spec in terms if name in spec.term.variables]
        parts = [f for spec in own for f in spec.factors if name in f.factor.variables]
        if not isinstance(column, Labels):
            values[name] = _lower_median(column.values[~gaps], weight[~gaps])
        elif column.ordered and coding.ordered != "treatment":
            code = _lower_median(column.codes[~gaps].astype(np.float64), weight[~gaps])
            values[name] = column.levels[int(code)]
        elif all(part.factor.is_plain for part in parts):
            occurring = np.unique(column.codes[~gaps])
            found = tuple(column.levels[code] for code in occurring)
            levels[name] = (*found, _free_name(found))
            continue
        else:
            values[name] = column.levels[int(column.codes[~gaps].min())]
        term_of[name] = own[0].term.name
    return Filling(levels, values, term_of)


def _free_name(levels: Sequence[Any]) -> str:
    name = "(missing)"
    while name in levels:
        name = f"({name})"
    return name


def _lower_median(values: FloatArray, weight: WeightArray) -> float:
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order], dtype=np.float64)
    return float(values[order][np.searchsorted(below, below[-1] / 2)])


def filling_words(filling: Filling, frame: pd.DataFrame) -> str:
    """How missing values of these rows are taken, in sentences; empty if there are none."""
    said = []
    if filling.levels:
        said.append(f"Those of {', '.join(filling.levels)} are a level of the factor.")
    for name, value in filling.values.items():
        is_number = not isinstance(read_column(frame[name], name), Labels)
        stand_in = f"the median of the rows ({value:.6g})" if is_number else f"the level {value}"
        said.append(f"Those of {name} are replaced by {stand_in}, with an indicator.")
    return " ".join(said)
