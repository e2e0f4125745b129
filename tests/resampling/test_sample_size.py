"""Riley's criteria for the number of rows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import OptionError
from treeselect.resampling.sample_size import least_rows

KNOWN = pd.read_csv(Path(__file__).parents[1] / "reference" / "sample_size.csv")
ARGUMENTS = [
    *("parameters", "r2", "prevalence", "shrinkage", "rate", "follow_up", "horizon", "mean", "sd")
]


@pytest.mark.parametrize("family", ["binomial", "cox", "gaussian"])
def test_numbers_are_those_of_pmsampsize(family):
    known = KNOWN[KNOWN["family"] == family]
    assert len(known) >= 40
    for row in known.to_dict("records"):
        given = {name: row[name] for name in ARGUMENTS if row[name] == row[name]}
        found = treeselect.sample_size(int(given.pop("parameters")), family, **given)
        asked = [row[f"n{i}"] for i in range(1, 5) if row[f"n{i}"] == row[f"n{i}"]]
        own = [n for _, n, _ in found.criteria]
        assert own == asked[: len(own)]
        assert found.n == row["n"]
        assert round(found.criteria[1][2], 3) == min(row["shrinkage2"], 1.0)  # of one, above 1
        if family != "gaussian":
            assert found.largest == pytest.approx(row["max_r2a"], rel=1e-12)
            assert found.events == pytest.approx(row["events"])
        if family == "cox":
            ends = [max(row["int_lci"], 0.0), row["int_uci"]]  # pmsampsize goes below 0
            assert [round(end, 3) for end in found.risk[1:]] == ends


def test_the_papers_have_the_same_numbers_in_any_unit_of_time():
    """Riley et al. (2020), boxes of section "Worked examples", and the help of pmsampsize."""
    assert treeselect.sample_size(24, "binomial", r2=0.288, prevalence=0.174).n == 662
    assert treeselect.sample_size(25, "gaussian", r2=0.2, mean=1.9, sd=0.6).n == 918
    found = treeselect.sample_size(25, "cox", r2=0.051, rate=0.065, follow_up=2.07, horizon=2)
    assert found.n == 4286
    for row in KNOWN[KNOWN["family"] == "area"].itertuples():
        found = treeselect.sample_size(10, "binomial", auc=row.auc, prevalence=row.prevalence)
        assert found.r2 == pytest.approx(row.r2, abs=1.5e-3)
    of = {"parameters": 1, "family": "cox", "r2": 0.15}
    found = treeselect.sample_size(**of, rate=0.01, follow_up=2, horizon=10).risk
    assert found[1] == 0
    other = treeselect.sample_size(**of, rate=100, follow_up=2e-4, horizon=1e-3).risk
    assert other == pytest.approx(found)


def test_what_is_precise_and_what_is_explained_if_nothing_is_known():
    found = treeselect.sample_size(5, "gaussian", r2=0.3, mean=-1.0, sd=3.0)
    rows = dict((name, n) for name, n, _ in found.criteria)["mean within 10%"]
    from scipy.stats import t

    half = [3 * 0.7**0.5 / n**0.5 * t.ppf(0.975, n - 6) for n in (rows - 1, rows)]
    assert half[0] > 0.1 >= half[1]
    assert len(treeselect.sample_size(5, "gaussian", r2=0.3).criteria) == 3
    found = treeselect.sample_size(10, "binomial", prevalence=0.3)
    assert found.r2 == pytest.approx(0.15 * found.largest)
    assert least_rows("binomial", 10, 0.3) == found.n
    same = treeselect.sample_size(10, "binomial", prevalence=0.3, r2=found.r2)
    assert same.criteria == found.criteria
    more = treeselect.sample_size(20, "binomial", prevalence=0.3, explained=0.15)
    assert more.n == pytest.approx(2 * found.n, abs=1)


@pytest.mark.parametrize(
    ("p", "r2", "shrinkage"), [(300, 0.1, 0.7), (1000, 0.3, 0.85), (40, 0.2, 0.75)]
)
def test_more_rows_than_needed_shrink_no_more(p, r2, shrinkage):
    # With p + 2 rows the factor is high, too: so few rows explain nearly everything.
    found = treeselect.sample_size(p, "gaussian", r2=r2, shrinkage=shrinkage)
    for _, n, factor in found.criteria:
        assert n <= found.n
        if n == found.n:
            assert factor >= shrinkage


@pytest.mark.parametrize("p", [1, 24, 1_000_000])
def test_the_factor_of_each_criterion_is_that_of_its_rows(p):
    found = treeselect.sample_size(p, "binomial", r2=0.288, prevalence=0.174)
    assert len(found.criteria) == 3
    for _, n, factor in found.criteria:  # van Houwelingen and le Cessie's, of the apparent R2
        if factor > 0.288:
            assert factor == pytest.approx(1 + p / (n * np.log(1 - 0.288 / factor)), abs=0.01)
    factors = [factor for *_, factor in treeselect.sample_size(1, "gaussian", r2=0.3).criteria]
    assert factors == [1, 1, 1]


def test_what_is_printed():
    found = treeselect.sample_size(25, "cox", r2=0.051, rate=0.065, follow_up=2.07, horizon=2)
    said = found.summary().as_text()
    assert "Rows needed:          4,286, 577 with the event" in said
    assert "Overall risk:         0.122 (95% interval 0.113 to 0.131)" in said
    assert repr(found) == "<SampleSize: 4,286 rows for 25 candidate parameters>"
    assert found.tidy()["per_parameter"].round(2).to_list() == [23.07, 4.66]
    assert "Rows per parameter" in treeselect.sample_size(3, "gaussian").summary().as_text()


BINOMIAL = {"family": "binomial", "prevalence": 0.3}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"r2": 0.9}, "`r2` must be a number above 1e-06 and below 0.70"),
        ({"auc": 0.5}, "`auc` must be a number above 0.5"),
        ({"auc": 0.9999, "shrinkage": 0.3}, "`shrinkage` must be above the expected R2"),
        ({"auc": 0.7, "r2": 0.1}, "Only one of `r2`, `explained` and `auc`"),
        ({"explained": 1}, "`explained` must be"),
        ({"prevalence": 1}, "`prevalence` must be"),
        ({"prevalence": None}, "`prevalence` must be given for the family binomial"),
        ({"rate": 0.1}, "`rate` must be left out for the family binomial"),
        ({"shrinkage": 1}, "`shrinkage` must be a number above 0 and below 0.9999"),
        ({"family": "cox", "prevalence": None, "rate": 1, "follow_up": 2}, r"`rate \* follow_up`"),
        ({"family": "cox", "prevalence": None, "rate": -1, "follow_up": 2}, "`rate` must be"),
        ({"family": "gaussian", "prevalence": None, "mean": 1}, "must be given together"),
        ({"family": "gaussian", "prevalence": None, "mean": 0, "sd": 1}, "must not be about 0"),
        ({"family": "gaussian", "prevalence": None, "mean": np.nan, "sd": 1}, "`mean` must be"),
    ],
)  # fmt: skip
def test_arguments_are_checked(given, said):
    with pytest.raises(OptionError, match=said):
        treeselect.sample_size(**{"parameters": 10, **BINOMIAL, **given})
