"""Fit statistics of linear models, as R prints them for each family."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from treeselect.models.linear import LinearFit
from treeselect.quiet import own_filters

Facts = tuple[tuple[str, str], ...]


def fit_statistics(fit: LinearFit, family: str, *, are_copies: bool) -> dict[str, float]:
    """Statistics of a fitted model; those that do not exist or can't be computed are omitted.

    Parameters
    ----------
    fit : LinearFit
    family : {"gaussian", "binomial", "multinomial", "poisson", "cox"}
    are_copies : bool
        Whether case weights are frequencies. The likelihood with other weights, and of
        quasi-Poisson models, is known only up to scale, so ``aic``, ``bic`` and ``ll`` are omitted.

    Returns
    -------
    dict of str to float
        Some of ``deviance``, ``null_deviance``, ``df_resid``, ``df_null``, ``aic``, ``bic``,
        ``ll``, ``ll_null``, ``sigma``, ``r2``, ``adj_r2``, ``dispersion``.
    """
    with own_filters(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # from the null model
        found = _NUMBERS[family](fit.result)
    if fit.dispersion is not None:
        found["dispersion"] = fit.dispersion
    if fit.is_quasi or not are_copies:
        found = {name: value for name, value in found.items() if name not in _OF_LIKELIHOOD}
    return {name: float(value) for name, value in found.items() if np.isfinite(value)}


def fit_facts(fit: LinearFit, family: str, *, are_copies: bool) -> Facts:
    """The same statistics in words, for the head of a summary."""
    return _WORDS[family](fit, fit_statistics(fit, family, are_copies=are_copies))


_OF_LIKELIHOOD = ("aic", "bic", "ll", "ll_null")


# --- numbers -----------------------------------------------------------------------------------


def _least_squares(result: Any) -> dict[str, float]:
    r2 = getattr(result, "rsquared", None)
    if r2 is None:  # of copies of rows, which a gaussian GLM counts
        r2 = 1 - result.deviance / result.null_deviance
    df = result.df_resid
    return {
        "sigma": np.sqrt(result.scale),
        "df_resid": df,
        "r2": r2,
        "adj_r2": 1 - (1 - r2) * (df + result.df_model) / df,
    }


def _deviance(result: Any) -> dict[str, float]:
    return {
        "deviance": result.deviance,
        "df_resid": result.df_resid,
        "null_deviance": result.null_deviance,
        "df_null": result.df_resid + result.df_model,
        "aic": result.aic,
        "bic": result.bic_llf,
        "ll": result.llf,
    }


def _classes(result: Any) -> dict[str, float]:
    return {
        "deviance": -2 * result.llf,
        "null_deviance": -2 * result.llnull,
        "aic": result.aic,
        "bic": result.bic,
        "ll": result.llf,
    }


def _times(result: Any) -> dict[str, float]:
    return {
        "ll": result.llf, "ll_null": result.llnull, "aic": result.aic, "bic": result.bic,
    }  # fmt: skip


_NUMBERS: dict[str, Callable[[Any], dict[str, float]]] = {
    "gaussian": _least_squares,
    "binomial": _deviance,
    "poisson": _deviance,
    "multinomial": _classes,
    "cox": _times,
}


# --- words -------------------------------------------------------------------------------------


def _errors(fit: LinearFit, found: dict[str, float]) -> Facts:
    facts = []
    if "sigma" in found:
        df = f"{found['df_resid']:,.0f} degrees of freedom"
        facts.append(("Residual s.e.", f"{found['sigma']:.4g} on {df}"))
    if "r2" in found:
        adjusted = f", adjusted {found['adj_r2']:.3f}" if "adj_r2" in found else ""
        facts.append(("R-squared", f"{found['r2']:.3f}{adjusted}"))
    return tuple(facts)


def _deviances(fit: LinearFit, found: dict[str, float]) -> Facts:
    facts = []
    if "deviance" in found:
        said = f"{found['deviance']:,.2f}{_on(found, 'df_resid')}"
        if "null_deviance" in found:
            said += f"; null {found['null_deviance']:,.2f}{_on(found, 'df_null')}"
        facts.append(("Deviance", said))
    if "aic" in found:
        facts.append(("AIC", f"{found['aic']:,.2f}"))
    return (*facts, *dispersion_fact([fit]))


def dispersion_fact(fits: Sequence[LinearFit]) -> Facts:
    """Pearson's dispersion of counts, the median over several fits, and what became of it."""
    known = [fit.dispersion for fit in fits if fit.dispersion is not None]
    if not known:
        return ()
    said = f"{np.median(known):.3g} (Pearson; 1 if Poisson)"
    several = f", median of {len(known)} fits" if len(known) > 1 else ""
    if any(fit.n_groups is not None for fit in fits):
        return (("Dispersion", f"{said}{several}; errors are robust to it"),)
    n = sum(fit.is_quasi for fit in fits)
    if not n:
        return (("Dispersion", f"{said}{several}, within chance"),)
    where = f" in {n} of them" if several else ""
    return (("Dispersion", f"{said}{several}, above chance{where}: quasi-Poisson errors"),)


def _on(found: dict[str, float], name: str) -> str:
    return f" on {found[name]:,.0f} df" if name in found else ""


def _events(fit: LinearFit, found: dict[str, float]) -> Facts:
    own = fit.result
    return (
        ("Events", f"{fit.n_events:,}"),
        ("Log-likelihood", f"{own.llf:.2f}; null {own.llnull:.2f}"),
        ("AIC, BIC", f"{own.aic:.2f}, {own.bic:.2f} (BIC by number of events)"),
    )


_WORDS: dict[str, Callable[[LinearFit, dict[str, float]], Facts]] = {
    "gaussian": _errors,
    "binomial": _deviances,
    "poisson": _deviances,
    "multinomial": _deviances,
    "cox": _events,
}
