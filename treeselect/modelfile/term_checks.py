"""What a model file says of a term must fit together."""

from __future__ import annotations

from treeselect.designs.columns import TermSpec
from treeselect.modelfile.checks import check


def check_term(spec: TermSpec) -> None:
    """Raise a ModelFileError unless levels, combinations and counts of a term fit together."""
    _check_combinations(spec)
    _check_counts(spec)


def _check_combinations(spec: TermSpec) -> None:
    labelled = [n for i in spec.order if (n := spec.factors[i].levels) is not None]
    check((spec.combinations is None) == (len(labelled) < 2), "levels and combinations")
    for combination in spec.combinations or ():
        check(
            len(combination) == len(labelled)
            and all(0 <= c < len(n) for c, n in zip(combination, labelled, strict=True)),
            "levels and combinations",
        )
    combinations = list(spec.combinations or ())
    check(combinations == sorted(set(combinations)), "combinations")


def _check_counts(spec: TermSpec) -> None:
    n, most = spec.n_occurring, spec.n_levels
    check((n is None) == (most is None), "levels that occur")
    check(n is None or (type(n) is int and 0 <= n <= (most or 0)), "levels that occur")
    gaps = spec.n_missing
    check(gaps is None or (type(gaps) is int and gaps >= 0), "missing values")
