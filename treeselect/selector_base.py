"""What the selectors for scikit-learn have in common: parameters, seeds and encoded output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from treeselect.algorithms.registry import find_method
from treeselect.arguments.checks import (
    JOINT,
    USUAL_SIZE,
    check_flag,
    described,
    nested_parameters,
    read_seed,
    with_nested,
)
from treeselect.engine.arrays import FloatArray
from treeselect.errors import OptionError

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.result import SelectionResult

_METHOD = "method" + JOINT


class SelectorBase(BaseEstimator):
    """Parameters of a selector; options of a method object are nested: ``method__gamma``."""

    method: Any
    encode: bool
    method_options: Mapping[str, Any] | None
    k: Any
    random_state: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name.

        Parameters
        ----------
        deep : bool
            Include the options of a method object, as ``method__gamma``.
        """
        found: dict[str, Any] = super().get_params(deep=deep)
        if deep:
            nested = nested_parameters(self.method)
            found |= {_METHOD + name: value for name, value in nested.items()}
        return found

    def set_params(self, **params: Any) -> Any:
        """Set parameters, and options of a method object, as ``method__gamma=0.2``.

        Raises
        ------
        ValueError
            If there is no such parameter or option.
        """
        nested = {name: value for name, value in params.items() if name.startswith(_METHOD)}
        super().set_params(**{name: v for name, v in params.items() if name not in nested})
        if nested:
            options = {name.removeprefix(_METHOD): value for name, value in nested.items()}
            self.method = with_nested(self.method, options, "method")
        return self

    def _selection_arguments(self) -> dict[str, Any]:
        """Arguments of ``select`` that both selectors give it."""
        options = self.method_options
        if options is None:
            options = {}
        elif not isinstance(options, Mapping):
            raise OptionError(
                "`method_options` must be a dictionary from names to values.\n"
                f"  Found: {described(options)}."
            )
        check_flag("encode", self.encode)
        find_method(self.method, options)  # an argument of `select` is none of these
        return {
            "method": self.method,
            # Clones are equal texts, and `select` knows the default by its identity.
            "k": USUAL_SIZE if isinstance(self.k, str) and self.k == USUAL_SIZE else self.k,
            "seed": _seed(self.random_state),
            "progress": False,
            **options,
        }


def columns_at(X: Any, places: Sequence[int], wanted: str) -> Any:
    """Columns of a frame by number, with its rows and types.

    `wanted` is the library of ``set_output``; with ``"default"`` that of the frame.
    """
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        X = X.iloc[:, list(places)]  # of no columns, narwhals would keep no rows
    chosen = nw.from_native(X, eager_only=True)
    if not isinstance(X, pd.DataFrame):
        chosen = chosen[:, list(places)]
    if wanted == "polars":
        return chosen.to_polars()
    if wanted == "pandas" and not chosen.implementation.is_pandas():
        return chosen.to_pandas()
    return chosen.to_native()


def encoded(result: SelectionResult, frame: pd.DataFrame) -> tuple[list[str], FloatArray]:
    """Names and values of the selected terms as numeric columns, shape (n_rows, n_columns).

    One column per number and spline basis, one per level of a factor. Missing numbers and
    infinite ones (log of 0) are NaN; a missing label is 0 in all columns of its factor.
    """
    spec, terms = result.design.spec, result.selected
    if not terms:
        return [], np.empty((len(frame), 0))
    names, values = spec.one_hot_of(terms, spec.encode(frame, terms))
    return names, np.where(np.isfinite(values), values, np.nan)


def _seed(random_state: Any) -> int:
    if isinstance(random_state, np.random.RandomState) or random_state is np.random:
        return int(check_random_state(random_state).randint(2**31 - 1))
    return read_seed(random_state, "random_state")
