"""The rules for the number of units: by hand, and the smallest sufficient set."""

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from quick import normal
from scipy.stats import norm
from sklearn.model_selection import StratifiedKFold
from tasks import task_of

import treeselect
from treeselect.algorithms.forests.regularised import RRF
from treeselect.algorithms.search.exchange import ExchangeSearch
from treeselect.algorithms.task import Step, Task, step_of_size
from treeselect.arguments.checks import USUAL_SIZE
from treeselect.designs.problem import Problem
from treeselect.designs.weights import row_weights
from treeselect.errors import OptionError, StabilityError
from treeselect.resampling import choosing
from treeselect.resampling.assessing import resample_weights
from treeselect.resampling.choosing import (
    LEVEL,
    Choice,
    Procedure,
    Sufficiency,
    best_size,
    choose_sufficient,
    one_standard_error_size,
    spared_rows,
    sufficient_words,
)
from treeselect.resampling.cross_validation import ScoreBySize, known_scores
from treeselect.resampling.folds import Folds

# Four folds; means 0.5, 0.7, 0.78, 0.8. At size 3 the standard deviation of (.7, .9, .7, .9) is
# 0.11547, its standard error half of that: 0.0577.
SCORES = ScoreBySize(np.array([[0.5, 0.70, 0.78, 0.7], [0.5, 0.70, 0.78, 0.9]] * 2))


def test_best_and_one_standard_error():
    assert best_size([0, 1, 2, 3], SCORES) == 3
    # 0.8 - 0.0577 = 0.7423: size 2 is within, size 1 is not.
    assert one_standard_error_size([0, 1, 2, 3], SCORES) == 2
    # Some sizes alone may be there to choose from.
    assert one_standard_error_size([0, 1, 3], SCORES) == 3
    flat = ScoreBySize(np.array([[0.5, 0.8, 0.8], [0.5, 0.8, 0.8]]))
    assert best_size([0, 1, 2], flat) == 1


def step(selected, importance):
    return Step(1.0, np.array(selected, dtype=bool), np.array(importance), 0.0)


PATH = (step([0, 0, 0, 0], [0, 0, 0, 0]), step([1, 1, 1, 0], [0.2, 0.5, 0.3, 0.0]))


@pytest.mark.parametrize(
    ("size", "keep", "selected", "cut_from"),
    [
        (0, [0, 0, 0, 0], [0, 0, 0, 0], None),
        (1, [0, 0, 0, 0], [0, 1, 0, 0], 3),
        (2, [0, 0, 0, 0], [0, 1, 1, 0], 3),
        (2, [1, 0, 0, 0], [1, 1, 0, 0], 3),
        (3, [0, 0, 0, 0], [1, 1, 1, 0], None),
        (4, [0, 0, 0, 0], [1, 1, 1, 0], None),
    ],
)
def test_a_size_that_the_path_jumps_over_is_cut(size, keep, selected, cut_from):
    found = step_of_size(PATH, size, np.array(keep, dtype=bool))
    assert found.selected.astype(int).tolist() == selected
    assert found.cut_from == cut_from
    assert found.importance.sum() == pytest.approx(1.0 if any(selected) else 0.0)


@dataclass(frozen=True)
class Leaps(treeselect.Method):
    """The columns in their order, none, the first and then all of them at once."""

    name = "leaps"

    def path(self, task):
        n = len(task.problem.groups.names)
        worth = np.arange(n, 0, -1.0)
        return [self.scored_step(task, m, np.arange(n) < m, worth) for m in (0, 1, n)]


@pytest.fixture(scope="module")
def leaping():
    return normal(1, 150, "abcde", a=2, b=2, c=2)


def test_a_path_without_a_smaller_set_does_not_jump(leaping):
    free = dict.fromkeys("abcde", 0)
    fit = treeselect.select("y ~ .", leaping, method="rrf", n_trees=5, k=2, costs=free, seed=1)
    assert "The path begins with 5 terms: the larger" in fit.summary().as_text()


@pytest.mark.parametrize("rule", ["1se", "best"])
def test_sizes_that_the_path_skips_are_chosen_as_in_a_comparison(leaping, rule):
    options = {"k": rule, "folds": 3, "seed": 1}
    fit = treeselect.select("y ~ .", leaping, method=Leaps(), **options)
    compared = treeselect.compare("y ~ .", leaping, methods=[Leaps()], **options)
    assert fit.k == compared.glance()["k"][0] == 3
    assert set(fit.selected) == {"a", "b", "c"}
    assert fit.search.scores.mean[:6] == pytest.approx(compared.curves()["score"].to_numpy())
    text = " ".join(fit.summary().as_text().split())
    assert "The path jumps from 1 to 5 terms: the larger set was cut to the 3 most" in text
    assert "No model with exactly 2, 3 or 4 terms lies on the path; the next larger one was" in text
    drawn = fit.plot("path", ax=Figure().add_subplot())
    # Marked, although no step has it
    assert [3, 3] in [list(line.get_xdata()) for line in drawn.lines]


def test_the_most_units_are_told_only_where_there_are_more(leaping, monkeypatch):
    assert f"All consider at most {choosing.MOST_UNITS}." in treeselect.select.__doc__
    monkeypatch.setattr(choosing, "MOST_UNITS", 2)
    data = leaping.assign(y=leaping["a"] + leaping["b"] + leaping["c"])
    said = "At most 2 terms were considered"
    for columns, is_told in (("a + b + c", True), ("a + b", False)):
        fit = treeselect.select(f"y ~ {columns}", data, method="lasso", k="best", folds=3, seed=1)
        assert fit.k == 2
        assert (said in fit.summary().as_text()) == is_told


def test_a_path_without_a_step_of_none_may_select_nothing():
    found = step_of_size(PATH[1:], 0, np.zeros(4, dtype=bool))
    assert found.size == 0
    assert found.tuning == np.inf
    assert found.cut_from is None


def test_paths_may_jump_over_the_largest_size_and_more_may_be_kept():
    """Columns of a Hadamard matrix in pairs of the same coefficient enter together."""
    from scipy.linalg import hadamard

    columns = hadamard(64)[:, 1:38].astype(float)
    weights = np.concatenate([[40.0], np.repeat(np.arange(20.0, 2.0, -1.0), 2)])
    data = pd.DataFrame(columns, columns=[f"x{j:02}" for j in range(37)])
    data["y"] = columns @ weights
    fixed = treeselect.select("y ~ .", data, method="lasso", k=30, seed=1)
    assert fixed.path["k"].tolist()[-2:] == [29, 31]
    fit = treeselect.select("y ~ .", data, method="lasso", k="best", folds=3, seed=1)
    assert fit.path["k"].tolist()[-1] == 29
    assert fit.path["cv_score"].notna().all()
    data = normal(0, 60, [f"x{j:02}" for j in range(34)], x00=1)
    kept = [f"x{j:02}" for j in range(32)]
    fit = treeselect.select("y ~ .", data, method="lasso", keep=kept, k="1se", folds=3, seed=1)
    assert set(fit.selected) == set(kept)


class Ends(treeselect.Method):
    """A path of the first column alone."""

    name = "ends"
    title = "First column"
    purpose = "Selects the first column, and stops."

    def path(self, task):
        groups = task.problem.groups.names
        worth = np.arange(len(groups)) == 0
        return [
            self.scored_step(task, tuning, selected, worth * 1.0)
            for tuning, selected in [(np.inf, worth & False), (1.0, worth)]
        ]


def ending_early(n_columns, k):
    """A fit to a sum of columns whose path ends with the first."""
    names = [f"x{j:02}" for j in range(n_columns)]
    data = normal(2, 150, names, 0.2, **dict.fromkeys(names[:6], 1))
    return treeselect.select("y ~ .", data, method=Ends(), k=k, folds=4, seed=1), data


@pytest.mark.parametrize("k", ["1se", "best"])
def test_the_full_model_is_chosen_where_a_path_ends_too_early(k):
    fit, data = ending_early(6, k)
    assert fit.k == 6
    assert fit.path["k"].tolist() == [0, 1, 6]
    assert fit.path["cv_score"].notna().all()
    assert fit.search.scores.sizes == [0, 1, 6]
    whole = treeselect.select("y ~ .", data, method="mrmr", k=k, folds=4, seed=1)
    np.testing.assert_allclose(fit.search.scores.full, whole.search.scores.scores[:, 6])
    np.testing.assert_allclose(fit.search.scores.full, whole.search.scores.full)
    assert any("Most paths end with at most 1 term: of larger sets" in n for n in fit.search.notes)
    said = f"All or none: {fit.search.scores.full_mean:.3f} with all 6 terms, -0.0"
    assert said in " ".join(str(fit.summary()).split())
    row = fit.glance().iloc[0]
    assert (row["cv_full"], row["cv_null"]) == (row["cv_score"], fit.search.scores.mean[0])


@pytest.mark.filterwarnings("ignore:Can't find the method")  # the class of a test
def test_a_full_model_with_more_terms_than_are_considered_is_told(tmp_path):
    fit, _ = ending_early(34, "1se")
    assert fit.k == 1
    assert fit.search.scores.full_mean > fit.search.scores.mean[1]
    assert any("A model with all 34 terms predicts better" in note for note in fit.search.notes)
    assert (
        f"all 34 terms: {fit.search.scores.full_mean:.3f}" in fit.report(tmp_path / "a").read_text()
    )
    words = [text.get_text() for text in fit.plot("path").texts]
    assert words == [f"all 34 terms: {fit.search.scores.full_mean:.3f}"]
    loaded = treeselect.load(fit.save(tmp_path / "model"))
    assert np.isnan(fit.search.scores.scores[:, 2:]).all()
    np.testing.assert_array_equal(loaded.search.scores.full, fit.search.scores.full)
    np.testing.assert_array_equal(loaded.search.scores.scores, fit.search.scores.scores)


def test_all_units_raise_the_bar_where_paths_end_early():
    """Means 0.5, 0.7, 0.72, and 0.8 with all seven; their standard errors are 0, 0, 0.01, 0.2."""
    scores = np.full((4, 8), np.nan)
    scores[:, :3] = [[0.5, 0.7, 0.70], [0.5, 0.7, 0.70], [0.5, 0.7, 0.74], [0.5, 0.7, 0.74]]
    spread = np.array([-1, -1, 1, 1]) * 0.2 * np.sqrt(3)
    for error, size in [(1.0, 2), (0.2, 7)]:  # a bar of 0.6 lowers nothing, one of 0.76 is not met
        full = 0.8 + error * spread
        scores[:, 7] = full
        found = ScoreBySize(scores.copy(), full)
        assert one_standard_error_size(found.sizes, found) == size
        few = ScoreBySize(scores[:, :3].copy(), full)  # more units than sizes that are considered
        assert one_standard_error_size(few.sizes, few) == 2


# --- rows that a search spares score its sets ----------------------------------------------------


SEARCHED = 300


@pytest.fixture
def short(monkeypatch):
    """Searches on 300 rows, so that 1,309 are long data."""
    monkeypatch.setattr(ExchangeSearch, "searches_on", SEARCHED)
    monkeypatch.setattr(choosing, "_LEAST_RARE", 20)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(1200, 4))
    chance = 1 / (1 + np.exp(-2 * x[:, 0] - x[:, 1]))
    frame = pd.DataFrame(x, columns=list("abcd"))
    return frame.assign(y=np.where(rng.uniform(size=1200) < chance, "yes", "no"))


@pytest.fixture(scope="module")
def problem(data):
    return treeselect.select("y ~ .", data, k=1, seed=1, n_jobs=1).data.design.problem_for(
        ExchangeSearch()
    )


def asked(problem, folds):
    weights = row_weights(np.ones(len(problem.y), dtype=np.int64))
    return Procedure(problem, ExchangeSearch(), weights, Choice("1se", folds))


@pytest.mark.usefixtures("short")
def test_rows_are_searched_or_held_out_at_most_so_many_and_classes_balanced(problem, monkeypatch):
    found = spared_rows(asked(problem, Folds(4)), seed=1)
    searched, held_out = found[0].train, [split.test for split in found]
    assert len(searched) <= SEARCHED
    assert len(held_out) == 4
    together = np.concatenate([searched, *held_out])
    assert sorted(together.tolist()) == list(range(1200))
    share = problem.y.mean()
    for rows in (searched, *held_out):
        assert problem.y[rows].sum() == pytest.approx(share * len(rows), abs=1)
    monkeypatch.setattr(choosing, "_MOST_HELD_OUT", 500)
    found = spared_rows(asked(problem, Folds(5)), seed=1)
    held_out = np.concatenate([split.test for split in found])
    assert len(np.unique(held_out)) == len(held_out)
    assert 400 <= len(held_out) <= 500


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("case", ["splitter", "repeats", "clusters", "method", "rare", "few"])
def test_otherwise_sets_are_cross_validated(problem, monkeypatch, case):
    if case == "rare":
        monkeypatch.setattr(choosing, "_LEAST_RARE", 500)
    usual = asked(problem, Folds(5))
    other = {
        "splitter": asked(problem, Folds(StratifiedKFold(5))),
        "repeats": asked(problem, Folds(5, repeats=2)),
        "clusters": usual._replace(weights=usual.weights.in_groups(np.arange(1200) // 3)),
        "method": usual._replace(method=RRF()),
        "rare": usual,
        "few": usual.on(np.arange(2 * SEARCHED)),
    }[case]
    assert spared_rows(other, seed=1) is None


@pytest.mark.usefixtures("short")
def test_a_fit_says_so_and_its_file_keeps_it(data, tmp_path):
    fit = treeselect.select("y ~ .", data, k="1se", seed=1, n_jobs=1)
    assert fit.search.scores.spared == (300, 900)
    assert fit.search.scores.scores.shape == (5, 5)
    assert set(fit.selected) >= {"a", "b"}
    said = " ".join(str(fit.summary()).split())
    assert "900 held-out rows in 5 parts" in said
    assert ", on held-out rows" in said
    assert "The search used 300 rows; 900 others scored its models" in said
    page = fit.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "900 held-out rows in 5 parts; the search used 300 other rows" in page
    fit.save(tmp_path / "fit.tsel")
    loaded = treeselect.load(tmp_path / "fit.tsel")
    assert loaded.search.scores.spared == fit.search.scores.spared
    assert "900 others" in " ".join(str(loaded.summary()).split())
    again = treeselect.select("y ~ .", data[["d", "b", "y", "c", "a"]], k="1se", seed=1, n_jobs=2)
    assert set(again.selected) == set(fit.selected)
    assert np.array_equal(again.search.scores.scores, fit.search.scores.scores)


# the smallest sufficient set: simulated truth, interactions, noise, and what the rule records


def fitted(frame, formula="y ~ .", **options):
    options = {"k": "auto", "seed": 1, "n_jobs": 1, "progress": False, "resamples": 0} | options
    return treeselect.select(formula, frame, **options)


def numbers(x):
    return pd.DataFrame(x, columns=[f"x{j}" for j in range(x.shape[1])])


@pytest.fixture(scope="module")
def linear():
    return normal(0, 300, [f"x{j}" for j in range(6)], x0=1, x1=0.4)


@pytest.fixture(scope="module")
def fit(linear):
    return fitted(linear, resamples=6)


def test_linear_effects_are_found_by_tests_and_what_is_said_of_them(fit):
    assert set(fit.selected) == {"x0", "x1"}
    assert "no larger set was found to predict better (p = " in fit._fit.call.rule
    p_values = fit.search.p_values
    assert len(p_values) == fit.k + 1
    assert (p_values[:2] < LEVEL).all()
    assert p_values[2] > LEVEL
    assert fit._fit.steps[-1].size == 4  # two more
    text = " ".join(str(fit.summary()).split())
    assert "tests on all rows chose k" in text
    assert "same folds chose" not in text
    assert "Most paths end" not in text
    told = " ".join(str(fit.search.citation()).split())
    assert "the number of terms was chosen on all rows" in told
    assert "In 6 half-samples, each scored on other rows, R2 with this number" in told


def test_interactions_are_found_nothing_in_noise_and_clusters_are_no_rows():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((400, 6))
    frame = numbers(x).assign(y=((x[:, 0] > 0) != (x[:, 1] > 0)).astype(int))
    assert set(fitted(frame).selected) == {"x0", "x1"}
    rng = np.random.default_rng(2)
    frame = numbers(rng.standard_normal((120, 5))).assign(y=rng.standard_normal(120))
    fit = fitted(frame)
    assert fit.selected == ()
    text = " ".join(str(fit.summary()).split())
    assert "no set was found to predict better than none" in text
    assert f"No term was selected: {fit.search.rule}." in text
    assert "cross-validated score enough" not in text
    rng = np.random.default_rng(4)
    x = rng.standard_normal((40, 4))
    y = rng.standard_normal(40)
    frame = numbers(np.repeat(x, 5, axis=0)).assign(y=np.repeat(y, 5), who=np.repeat(range(40), 5))
    frame["y"] += 0.2 * rng.standard_normal(200)
    assert fitted(frame, fold_groups="who").selected == ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert fitted(frame.drop(columns="who")).selected != ()


def test_any_method_can_leave_k_to_the_tests_which_remove_redundant_units(linear, tmp_path):
    for method in ("mrmr", "lasso", "importance"):
        assert set(fitted(linear, method=method).selected) == {"x0", "x1"}

    class Wrong(treeselect.Method):
        """Noise first."""

        name = "wrong"

        def path(self, task):
            order = ["x4", "x0", "x1", "x2"]
            names = np.array(task.problem.groups.names)
            return [
                self.scored_step(task, n, np.isin(names, order[:n]), np.ones(len(names)))
                for n in range(5)
            ]

    fit = fitted(linear, method=Wrong())
    assert set(fit.selected) == {"x0", "x1"}  # no step of the path
    assert fit.path.set_index("k").loc[2, ["tuning", "train_score"]].isna().all()
    text = " ".join(str(fit.summary()).split())
    said = "no step of the path: tests left out terms of a larger one."
    assert said in text
    assert said in fit.search.citation().methods
    assert "R2: not known Seed" in text
    page = fit.report(tmp_path / "page.md").read_text(encoding="utf-8")
    assert "| 2 (chosen) |  | – | x0 and x1 |" in page
    assert "nan" not in page
    own = fitted(linear, method="mrmr")
    assert np.array_equal(own.search.steps[2].selected, own.search.step.selected)
    assert own.path["train_score"].notna().all()
    assert "no step of the path" not in str(own.summary())


def test_half_samples_repeat_the_choice_and_score_sets_on_the_other_half(fit, linear):
    stability = fit.stability
    assert (stability.scheme, stability.n_resamples, stability.fixed_size) == (
        "complementary", 6, False,
    )  # fmt: skip
    assert len(set(stability.selected.sum(axis=1).tolist())) > 1  # k varies
    assert stability.frequency[0] == 1
    assert fit.search.scores.sizes == [0, 1, 2, 3, 4]
    y = linear["y"].to_numpy()
    for number, score in enumerate(fit.search.scores.scores[:, 0]):  # the mean of the half
        half = resample_weights(
            fit.data.design.problem, fit.data.design.row_weights, "complementary", number,
            stability.seed,
        ).used  # fmt: skip
        left = ((y[~half] - y[half].mean()) ** 2).sum()
        assert score == pytest.approx(1 - left / ((y[~half] - y[~half].mean()) ** 2).sum())
    gain = np.diff(fit.search.scores.mean)
    assert (gain[:2] > 0.05).all()
    assert (gain[2:] < 0.02).all()


def test_rows_that_no_half_is_scored_on_make_no_difference(linear, monkeypatch):
    monkeypatch.setattr("treeselect.resampling.assessing._SCORED_ROWS", 40)
    scores = []
    for can_be_cut in (True, False):
        monkeypatch.setattr(Problem, "can_be_cut", can_be_cut)
        scores.append(fitted(linear[["x0", "x1", "y"]], resamples=2).search.scores.scores)
    np.testing.assert_allclose(*scores, rtol=1e-8)


def test_scores_are_of_half_samples_or_of_folds(linear):
    fit = fitted(linear[["x0", "x1", "y"]])
    assert fit.search.scores is None
    assert fit._fit.resampled is None
    assert fit.search.p_values is not None
    few = linear[["x0", "x1", "y"]]
    assert fitted(few, k=USUAL_SIZE, method="mrmr", folds=2, resamples=None)._fit.choice.k == "1se"
    with pytest.raises(OptionError, match='`folds` needs `k="1se"`'):
        fitted(few, method="mrmr", folds=2)
    idle = fitted(few, method="mrmr", k=1, folds=2, repeats=3)
    assert "Not used, as no scores chose `k`: `folds`, `repeats`." in idle.summary().as_text()
    with pytest.raises(OptionError, match='"1se" or "best"'):
        treeselect.compare("y ~ .", linear, ["mrmr", "lasso"], k="auto", progress=False)


def test_too_few_events_for_halves_are_told_and_no_error():
    rng = np.random.default_rng(0)
    x = np.arange(12.0)
    data = pd.DataFrame({"x": x, "z": rng.standard_normal(12), "y": x == 11})
    fit = treeselect.select("y ~ x + z", data, keep="x", seed=1, progress=False)
    assert fit._fit.resampled is None
    assert "No half-samples were searched." in " ".join(str(fit.summary()).split())
    with pytest.raises(StabilityError, match="constant response"):
        treeselect.select("y ~ x + z", data, keep="x", resamples=4, seed=1, progress=False)


@pytest.mark.parametrize(
    ("p_values", "said"),
    [
        ([0.001, 0.002], "no larger set on the path predicts notably better"),
        ([0.002, 0.3], "no larger set was found to predict better (p = 0.30, counting the search)"),
        ([0.3], "no set was found to predict better than none (p = 0.30, counting the search)"),
        ([0.002, 0.034], "(p = 0.034, counting the search; level 0.032)"),  # not 0.03
        ([0.002, 0.02, 1.0], "each smaller set on the path was found to predict worse"),
        ([np.nan, 0.02, 1.0], "each smaller set on the path was found to predict worse"),
        ([np.nan, np.nan, 1.0], "there is no larger set"),
    ],
)
def test_the_choice_in_words(p_values, said):
    """Of two units, an unusual level where a reader would take the usual one for granted."""
    assert sufficient_words(np.array(p_values), 2).endswith(said)


def test_where_the_path_ends_before_a_set_is_sufficient_this_is_said():
    names = [f"x{i}" for i in range(35)]
    data = normal(0, 300, names, 0.1, **dict.fromkeys(names, 1))
    fit = fitted(data, method="lasso", k="auto")
    assert fit.k == 30
    assert fit.search.p_values[-1] < LEVEL
    said = "the largest set considered, though larger ones were found to predict better"
    assert said in " ".join(str(fit.summary()).split())
    assert f"chosen by tests at level {LEVEL}: {said}." in fit.search.citation().methods


@pytest.fixture(scope="module")
def task(linear):
    design = fitted(linear, method="mrmr", k=1).data.design
    return Task(design.problem_for(ExchangeSearch()), design.row_weights, max_size=6, seed=1)


@pytest.mark.parametrize(
    ("enough", "to", "size", "shown"), [(2, 0, 2, 5), (0, 4, 0, 4), (9, 0, 6, 6)]
)
def test_the_first_sufficient_set_is_chosen_or_else_the_last(
    task, monkeypatch, enough, to, size, shown
):
    """By tests that say what they are told; the path goes on for three sizes, or to a size."""
    tested = []

    def p_value(_, selected, larger):
        tested.append((selected.sum(), *(other.sum() for other in larger)))
        return float(selected.sum() >= enough)

    monkeypatch.setattr(Sufficiency, "p_value", p_value)
    monkeypatch.setattr(Sufficiency, "is_nearly_best", lambda *_: False)
    monkeypatch.setattr(Sufficiency, "reduced", lambda *_: None)
    found = choose_sufficient(task, treeselect.MRMR(), to)
    assert found.step.size == size
    assert found.p_values.tolist() == [float(n >= enough) for n in range(size + 1)]
    assert [step.size for step in found.steps] == list(range(shown + 1))
    assert tested == [tuple(range(n, min(n + 3, 6) + 1)) for n in range(size + 1)]


def test_a_path_without_the_next_sizes_is_followed_on(task):
    class Jumping(treeselect.MRMR):
        def path(self, task):
            return [step for step in super().path(task) if step.size in (0, 5)]

    assert choose_sufficient(task, Jumping()).step.size > 0


def test_of_three_units_needed_least_that_of_the_largest_p_value_is_removed(monkeypatch):
    """By tests that say what they are told of the set without a unit."""
    alone = {0: 0.2, 1: 0.7, 2: 0.5, 3: 0.9, 4: 0.8}
    monkeypatch.setattr(Sufficiency, "__init__", lambda _: None)
    monkeypatch.setattr(Sufficiency, "rises_without", lambda *_: np.array([1, 9, 2, 0, 5, 3.0]))
    monkeypatch.setattr(Sufficiency, "_of_larger", lambda _, rest, __: rest[3] or LEVEL)
    monkeypatch.setattr(Sufficiency, "p_value", lambda _, rest, __: alone[int(np.argmin(rest))])
    own = np.ones(6, dtype=bool)
    for kept, removed in (([], 2), ([2], 4), ([0, 1, 2, 4], None)):
        found = Sufficiency().reduced(own, np.isin(range(6), [*kept, 5]), {})
        assert (None if found is None else found[0].argmin()) == removed
        assert found is None or found[1] == alone[removed]


def test_what_is_left_is_no_worse_than_the_rejected_set_of_its_size(monkeypatch):
    """Without b, which tells most, nothing is found, as little is explained."""
    data = pd.DataFrame(np.random.default_rng(3).normal(size=(60, 3)), columns=list("abc"))
    task = task_of(data.assign(y=data["b"]), ExchangeSearch())
    monkeypatch.setattr(Sufficiency, "_of_larger", lambda *_: 1.0)
    monkeypatch.setattr(Sufficiency, "p_value", lambda _, rest, __: 0.5 if rest[1] else 0.9)
    tests, none, b = Sufficiency(task), np.zeros(3, dtype=bool), np.arange(3) == 1
    selected = np.array([False, True, True])
    assert tests.reduced(selected, none, {})[0].tolist() == [False, False, True]
    assert tests.reduced(selected, none, {1: b})[0].tolist() == [False, True, False]


@pytest.mark.parametrize("strata", ["", " + strata(site)"])
def test_strata_are_those_of_the_response(linear, strata):
    frame = linear.assign(time=1.0 + np.arange(len(linear)), event=True)
    frame["site"] = np.arange(len(frame)) % 2
    design = fitted(frame, f"Surv(time, event) ~ x0{strata}", method="mrmr", k=1).data.design
    tests = Sufficiency(Task(design.problem, design.row_weights, max_size=1, seed=1))
    assert tests._strata is None if not strata else set(tests._strata) == {0, 1}


def test_sets_that_could_have_been_found_are_counted(task):
    tests = Sufficiency(task)
    names = np.array(task.problem.groups.names)
    one, two = np.isin(names, ["x0"]), np.isin(names, ["x0", "x1"])
    three = np.isin(names, ["x0", "x1", "x2"])
    assert tests.of_set(one, two) < LEVEL
    assert tests.of_set(two, three) > LEVEL
    # one to three: 10 pairs of the other units, and the level is halved once
    left, gained = tests._judge.residuals(one), tests._judge.residuals(three)
    mean, error = tests._judge.mean((left * (left - gained)).sum(axis=1))
    by_hand = 20 * norm.sf(mean / error / np.sqrt(1.5))
    assert tests.of_set(one, three) == pytest.approx(by_hand)
    rises = [tests._judge.rise(two, np.isin(names, [name]))[0] for name in ("x1", "x0")]
    assert tests.rises_without(two).tolist() == rises
    assert tests.of_units(one) < LEVEL
    assert tests.of_units(np.ones(len(names), dtype=bool)) == 1


def responses(family, effect, seed):
    """A response of a family, and the formula and options of its model."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((150, 4))
    frame, eta = numbers(x), effect * x[:, 0]
    if family == "cox":
        time, until = rng.exponential(np.exp(-eta)), rng.exponential(1.0, 150)
        frame = frame.assign(
            time=np.minimum(time, until), event=time <= until, site=rng.choice(3, 150)
        )
        return frame, "Surv(time, event) ~ . - site + strata(site)"
    y = {
        "gaussian": lambda: eta + rng.standard_t(3, 150),
        "binomial": lambda: (rng.logistic(size=150) < eta - 1).astype(int),
        "multinomial": lambda: np.array(["a", "b", "c"])[
            np.digitize(eta + rng.logistic(size=150), [-1, 1])
        ],
        "poisson": lambda: rng.poisson(np.exp(eta)),
    }[family]()
    return frame.assign(y=y), "y ~ ."


@pytest.mark.parametrize("family", ["gaussian", "binomial", "multinomial", "poisson", "cox"])
def test_p_values_of_nothing_are_uniform_on_noise_and_small_where_there_is_an_effect(family):
    def p_values(effect):
        for seed in range(20):
            frame, formula = responses(family, effect, seed)
            task = task_of(frame, ExchangeSearch(), formula, max_size=1, seed=1, family=family)
            yield Sufficiency(task).of_units(np.zeros(4, dtype=bool))

    assert np.mean(list(p_values(0.0))) == pytest.approx(0.5, abs=0.2)
    assert np.median(list(p_values(0.8))) < LEVEL


def test_counts_that_vary_more_than_chance_allows_do_not_make_noise_significant():
    def p_value(seed):
        rng = np.random.default_rng(seed)
        log_area, size = rng.normal(scale=1.2, size=200), rng.gamma(2, 0.5, 200)
        frame = numbers(rng.normal(size=(200, 3))).assign(log_area=log_area)
        frame["y"] = rng.poisson(2 * size * np.exp(log_area))
        task = task_of(
            frame, ExchangeSearch(), max_size=1, seed=1, family="poisson", offset="log_area"
        )
        return Sufficiency(task).of_units(np.zeros(3, dtype=bool))

    assert np.mean([p_value(seed) <= LEVEL for seed in range(40)]) < 0.15


@pytest.mark.parametrize(
    ("p_value", "words"), [(0.01, ""), (0.032, ""), (0.04, "; level 0.032"), (0.05, ""), (0.3, "")]
)
def test_the_level_stands_behind_p_values_between_it_and_the_usual_one(p_value, words):
    assert choosing.level_words(p_value) == words


@pytest.mark.parametrize(("ends", "last"), [([1, 2], 2), ([2, 1, 3, 3], 3), ([1, 1, 2], 1)])
def test_a_size_that_half_of_the_paths_reach_has_a_score(ends, last):
    scores = np.arange(len(ends) * 5.0).reshape(-1, 5)
    known = known_scores(scores, ends, scores[:, 0], np.ones(9, dtype=bool), treeselect.MRMR())
    assert np.isfinite(known).all(axis=0).tolist() == [size <= last for size in range(5)]
    assert sum(end >= last for end in ends) >= len(ends) / 2 > sum(end > last for end in ends)


def test_constant_columns_do_not_end_a_path_early():
    rng = np.random.default_rng(1)
    data = numbers(rng.normal(size=(100, 3))).assign(same=1.0, one="a", yes=True)
    data["y"] = data[["x0", "x1", "x2"]].sum(axis=1) + rng.normal(size=100) / 9
    fit = treeselect.select("y ~ .", data, method="mrmr", k="best", seed=1)
    assert fit.k == 3
    assert not any("end with" in note for note in fit.search.notes)
    fit = treeselect.select("y ~ .", data, method="mrmr", k="auto", resamples=0, seed=1)
    assert fit.search.rule == "each smaller set on the path was found to predict worse"
    fit = treeselect.select("y ~ same + one", data, method="mrmr", k="best", seed=1)
    assert fit.k == 0
