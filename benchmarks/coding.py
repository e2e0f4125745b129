"""Data as numbers, for libraries that take nothing else.

A column of text becomes indicator columns, which remain one unit. Gaps are filled by the median, or
are a level of their own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd


class Coded(NamedTuple):
    """Numbers only: indicator columns for text, gaps filled.

    Attributes
    ----------
    X : ndarray of float64, shape (n, n_coded)
    unit : ndarray of int, shape (n_coded,)
        The original column behind each coded one.
    names : list of str
        The original columns.
    y : ndarray
        Numbers, or class codes from 0.
    """

    X: np.ndarray
    unit: np.ndarray
    names: list
    y: np.ndarray

    def by_unit(self, values, join=np.add):
        """One value per original column."""
        found = np.full(len(self.names), 0.0 if join is np.add else -np.inf)
        join.at(found, self.unit, np.asarray(values, dtype=float))
        return found

    def ranked(self, values, above=-np.inf):
        """Names by their value, largest first; ties in the order of the columns."""
        values = np.asarray(values, dtype=float)
        order = np.argsort(-values, kind="stable")
        return [self.names[j] for j in order if values[j] > above]

    def columns_of(self, units):
        """Coded columns of some units."""
        return np.flatnonzero(np.isin(self.unit, units))


def is_number(column):
    """Whether a column is numeric (bool counts)."""
    return pd.api.types.is_numeric_dtype(column)


def filled(columns):
    """The frame without gaps: medians, and a level of their own."""
    parts = {}
    for name, column in columns.items():
        if is_number(column):
            middle = column.median()
            parts[name] = column.astype(float).fillna(0.0 if np.isnan(middle) else middle)
        else:
            parts[name] = column.astype(object).where(column.notna(), "(missing)").astype(str)
    return pd.DataFrame(parts, index=columns.index)


def coded_y(y, kind):
    """The response as numbers, or as class codes from 0."""
    if kind == "gaussian":
        return y.to_numpy(dtype=float)
    return pd.factorize(y, sort=True)[0]


def coded(frame, response, kind, scaled=False):
    """Coded columns, of unit variance with `scaled`."""
    columns = filled(frame.drop(columns=response))
    parts, unit = [], []
    for j, column in enumerate(columns.to_dict("series").values()):
        if is_number(column):
            part = column.to_numpy()[:, None]
        else:
            part = pd.get_dummies(column).to_numpy(dtype=float)
        parts.append(part)
        unit += [j] * part.shape[1]
    X = np.hstack(parts)
    if scaled:
        X = X - X.mean(axis=0)
        deviation = X.std(axis=0)
        X /= np.where(deviation > 0, deviation, 1.0)
    return Coded(X, np.array(unit), list(columns), coded_y(frame[response], kind))
