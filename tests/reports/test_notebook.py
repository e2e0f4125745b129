"""What a notebook and a prompt show of results."""

import dataclasses
import re

import pytest
from quick import WITH_GAPS, changed

import treeselect
from treeselect.printing.markup import style_sheet

pytestmark = WITH_GAPS


LONGEST = 700
"""Characters of what a prompt shows of anything."""


@pytest.fixture(scope="module")
def fit(mixed):
    data = mixed.rename(columns={"site": "<b>|site"})
    groups = {"pair": ["signal", "noise"]}
    return treeselect.select(
        "died ~ . - dose - copy", data, method="importance", k=2, seed=1, n_trees=20, groups=groups
    ).resample(10)


def pages(fit):
    found = {
        "fit": fit, "stability": fit.stability, "performance": fit.performance(2),
        "inference": fit.inference(seed=1), "refit": fit.refit("glm"),
        "coefficients": fit.model.coefficient_stability(),
    }  # fmt: skip
    return {name: result._repr_html_() for name, result in found.items()}


def test_html_has_no_script_and_shows_the_first_screen_of_the_report(fit):
    for name, page in pages(fit).items():
        assert page.startswith('<div class="treeselect"><style>'), name
        assert page.rstrip().endswith("</div>"), name
        assert "<script" not in page, name
        assert "<b>" not in page, name
        assert "<table" in page, name
        assert " id=" not in page, name  # would meet those of other outputs
        assert page.count("<div") == page.count("</div>"), name
    page = fit._repr_html_()
    assert f'<p class="answer">{repr(fit).splitlines()[0]}: ' in page
    assert page.count('<p class="value">') == 3
    assert "<caption>Selected terms" in page


def test_a_fit_prints_five_lines_and_nothing_selected_is_shown(mixed, fit, capsys):
    empty = treeselect.select("died ~ noise", mixed, method="lasso", lam=1e9, seed=1)
    assert empty.selected == ()
    assert "did not select the only candidate term" in empty._repr_html_()
    assert (
        repr(empty)
        .splitlines()[0]
        .endswith("did not select the only candidate term to predict died")
    )
    both = treeselect.select("died ~ noise + signal", mixed, method="lasso", k=2, seed=1)
    assert repr(both).splitlines()[0] == "Group lasso selected both candidate terms to predict died"
    assert repr(empty).splitlines()[1] == "  Selected: nothing"
    print(fit)
    first, selected, score, stability, more = capsys.readouterr().out.splitlines()
    assert (
        first
        == "Random forest importance selected 2 of 4 candidate units (3 of 5 terms) to predict died"
    )
    assert selected.startswith("  Selected: ")
    assert "<b>|site" in selected
    assert score.startswith("  AUC: ")
    assert score.endswith(" (optimistic: the units were selected on the same rows)")
    assert "of 10 bootstrap resamples" in stability
    assert ".summary()" in more


def test_the_style_reaches_nothing_else():
    style = style_sheet()
    assert style.startswith(".treeselect{& {")
    depth = [style[: i + 1].count("{") - style[: i + 1].count("}") for i in range(len(style))]
    assert min(depth[11:-1]) > 0  # all of it stands in the rule of the element
    assert depth[-1] == 0
    assert re.search(r"[{}]\s*(:root|html|body|main)\b", style) is None
    assert "@page" not in style
    assert "& { box-sizing" in style


@pytest.mark.parametrize(("n", "said"), [(0, "not assessed"), (3, "too few for a verdict")])
def test_without_a_verdict_the_line_says_why(fit, n, said):
    bare = changed(fit, resampled=None)
    fewer = fit.stability if n == 0 else dataclasses.replace(
        fit.stability, selected=fit.stability.selected[:n]
    )  # fmt: skip
    made = bare if n == 0 else changed(fit, resampled=fewer)
    assert said in repr(made).splitlines()[3]


def test_what_is_promised_can_be_called_and_no_array_is_dumped(fit, mixed, tmp_path):
    loaded = treeselect.load(fit.save(tmp_path / "fit"))
    assert ".with_data(data).performance()" in repr(loaded)
    assert ".pfer()" not in repr(loaded.stability)  # of a bootstrap
    none = treeselect.select(
        "dose ~ . - died", mixed.head(30), method="lasso", lam=1e6, resamples=5, seed=1
    )
    assert "not assessed, because no term was selected" in repr(none)
    assert ".plot()" not in repr(none)
    assert any("No resamples were drawn" in note for note in none.summary().content.notes)
    with pytest.raises(
        treeselect.errors.StabilityError, match=r"`fit = fit\.resample\(100, k=1\)`"
    ):
        none.plot("stability")
    assert none.resample(3, k=1).stability.n_resamples == 3
    kept = treeselect.select("died ~ flag + noise", mixed, method="mrmr", k=1, keep="noise")
    assert "optimistic" not in repr(kept)
    boosted = fit.refit("boosting")
    found = [
        fit, fit.stability, fit.data.design, fit.data.design.spec, fit.data.design.arrays,
        fit.search.step, fit.model.fitted, boosted.model.fitted, fit._fit.choice, fit._fit.call,
        fit.performance(2), fit.inference(seed=1), fit.refit("glm"),
        fit.model.coefficient_stability(), fit.data.design.problem,
        fit.resample(2, scheme="complementary", path=2).stability.along,
        fit.inference(seed=1).splits[0],
    ]  # fmt: skip
    for thing in found:
        assert len(repr(thing)) < LONGEST, type(thing)
        assert "array([" not in repr(thing), type(thing)


def test_stability_prints_what_came_up_and_kept_units_have_no_frequency(fit, mixed):
    first, *others = repr(fit.stability).splitlines()
    assert first == "Stability on 10 bootstrap resamples"
    assert [line.split(":")[0].strip() for line in others] == [
        "Number of units (k)", "Selected by the fit", "Most frequent others",
        "Stability index", "More",
    ]  # fmt: skip
    summary = fit.stability.summary()
    assert len(summary.content.rows) == 4
    assert summary.as_latex().count(r"\begin{tabular}") == 1
    fit = treeselect.select("died ~ signal + noise", mixed, method="mrmr", k=1, keep="noise")
    content = fit.resample(2).stability.summary().content
    assert ("noise", "forced in", "", "yes") in content.rows
    assert dict(content.facts)["Selected by the fit"] == "noise (forced in)"
