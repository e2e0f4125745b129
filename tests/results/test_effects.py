"""Effects of terms: simulated truth, terms of all kinds, words, files."""

import numpy as np
import pandas as pd
import pytest
from quick import by_mrmr, changed
from survival_data import small_fit, small_times

import treeselect
from treeselect.designs.weights import no_weights, quartiles
from treeselect.errors import TreeselectWarning
from treeselect.models.probing import read_model, read_resample
from treeselect.results import shapes
from treeselect.results.curves import curves
from treeselect.results.effects import (
    direction,
    effect_cells,
    effect_notes,
    effect_points,
    effect_table,
    effect_tables,
    main_effects,
)


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    n = 160
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n), "z": rng.uniform(1, 5, size=n),
            "u": rng.uniform(-2, 2, size=n), "f": rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2]),
            "b": rng.random(n) < 0.4,
            "rare": np.where(rng.random(n) < 0.85, 0.0, rng.exponential(size=n)),
            "rarest": np.where(np.arange(n) % 20 == 0, np.arange(n) / n, 0.0),
            "w": rng.integers(1, 4, n),
        }
    )  # fmt: skip
    frame["y"] = 2 * frame.x - frame.z + 2 * frame.u**2 + 3 * (frame.f == "c") + frame.b
    frame["y"] += rng.normal(size=n) * 0.2
    small = rng.normal(size=n) * 0.1
    frame["of_x"], frame["of_z"], frame["of_u"] = frame.x + small, small - frame.z, frame.u**2
    frame["three"] = np.select([frame.x > 0.6, frame.x < -0.6], ["hi", "lo"], "mid")
    frame["count"] = rng.poisson(np.exp(frame.x))
    frame["exposure"] = 0.5
    frame.loc[::9, "z"] = np.nan
    frame.loc[::7, "f"] = None
    return frame


@pytest.fixture(scope="module")
def told(data):
    """Two of three terms on each of 24 resamples, with their effects."""
    return by_mrmr("y ~ x + f + b", data, k=2).resample(24, effects=True)


def by_term(fit):
    return effect_table(fit._fit).drop_duplicates("term").set_index("term")


def test_truth_is_found():
    rng = np.random.default_rng(3)
    n = 600
    frame = pd.DataFrame(rng.uniform(-1, 1, size=(n, 3)), columns=["x", "down", "u"])
    frame["f"] = rng.choice(["a", "b"], n, p=[0.6, 0.4])
    frame["y"] = 2 * frame.x - frame.down + 2 * frame.u**2 + (frame.f == "b")
    fit = by_mrmr("y ~ x + down + u + f", frame, k=4)
    found = by_term(fit)
    step = float(found["to"]["x"]) - float(found["from"]["x"])
    assert found["effect"]["x"] == pytest.approx(2 * step, rel=0.25)  # forests smooth
    assert found["effect"]["f"] == pytest.approx(1, rel=0.25)
    assert found["effect"]["down"] == pytest.approx(-step, rel=0.25)
    assert found["direction"].to_dict() == {
        "x": "up", "down": "down", "u": "mixed", "f": "by level",
    }  # fmt: skip
    assert found["step"].to_dict() == {
        "x": "quartiles", "down": "quartiles", "u": "quartiles", "f": "levels",
    }  # fmt: skip
    assert (found["from"]["f"], found["to"]["f"]) == ("a", "b")


def test_intervals_surround_effects_and_bands_curves(told):
    found = effect_table(told._fit)
    x = found[found["term"] == "x"].iloc[0]
    assert x["n_resamples"] == 24
    assert 0 < x["low"] < x["effect"] < x["high"] < 4
    shape = told.model.shape("x")
    assert (shape["low"] <= shape["high"]).all()
    inside = (shape["low"] <= shape["effect"]) & (shape["effect"] <= shape["high"])
    assert inside.mean() > 0.8
    selected = told.stability.tidy().set_index("term")["frequency"] * 24
    for row in found.itertuples():
        assert row.n_resamples <= round(selected[row.term])
        assert np.isnan(row.low) == (row.n_resamples < 20)


def test_a_summary_has_a_column_of_intervals_where_there_are_any(told, data):
    (table,) = told.summary().content.more
    assert table.columns == ("Effect on the mean response", "Change", "2.5 to 97.5%")
    few = by_mrmr("y ~ x + f + b", data, k=2).resample(2, effects=True)
    (other,) = few.summary().content.more
    assert other.columns == table.columns[:2]
    assert other.rows == tuple(row[:2] for row in table.rows)


def test_a_term_without_a_step_needs_no_more_resamples(data, recwarn):
    found = by_mrmr("y ~ x + f:x", data, k=2).resample(20, effects=True).model.effects()
    assert found["step"].tolist().count("none") == 1
    assert not [w for w in recwarn if "Draw more" in str(w.message)]


def test_processes_order_of_columns_and_effects_themselves_change_nothing(told, data):
    turned = data[data.columns[::-1]]
    again = by_mrmr("y ~ b + f + x", turned, k=2).resample(24, effects=True, n_jobs=2)
    pd.testing.assert_frame_equal(again.model.effects(), told.model.effects())
    pd.testing.assert_frame_equal(again.model.shape("x"), told.model.shape("x"))
    pairs = (fit.model.interactions()[["strength", "size"]] for fit in (again, told))
    pd.testing.assert_frame_equal(*pairs)
    plain = by_mrmr("y ~ x + f + b", data, k=2, resamples=24)
    np.testing.assert_array_equal(plain.stability.selected, told.stability.selected)
    assert "low" not in plain.model.shape("x")
    pd.testing.assert_frame_equal(  # the same model, without intervals
        plain.model.effects()[["term", "effect", "direction"]],
        told.model.effects()[["term", "effect", "direction"]],
    )
    assert plain.model.effects()["low"].isna().all()


def test_a_checkpoint_holds_what_models_say(told, data, tmp_path):
    fit = by_mrmr("y ~ x + f + b", data, k=2)
    fit.resample(2, effects=True, checkpoint=tmp_path)
    first, second = sorted(tmp_path.rglob("*.treeselect"))[:2]
    second.write_bytes(second.read_bytes()[:-9])
    taken = []
    with pytest.warns(TreeselectWarning):
        again = fit.resample(
            24, effects=True, checkpoint=tmp_path, on_piece=lambda p: taken.append(p.was_saved)
        )
    assert sum(taken) == 1
    assert first.exists()
    pd.testing.assert_frame_equal(again.model.effects(), told.model.effects())
    pd.testing.assert_frame_equal(again.model.shape("x"), told.model.shape("x"))


def test_files_keep_effects_and_another_model_has_others(told, tmp_path):
    loaded = treeselect.load(told.save(tmp_path / "model"))
    pd.testing.assert_frame_equal(loaded.model.effects(), told.model.effects())
    pd.testing.assert_frame_equal(loaded.tidy(), told.tidy())
    assert effect_tables(loaded._fit) == effect_tables(told._fit)
    assert effect_notes(loaded._fit) == effect_notes(told._fit)
    whole = treeselect.load(told.save(tmp_path / "whole", include_data=True))
    pd.testing.assert_frame_equal(whole.model.shape("x"), told.model.shape("x"))
    boosted = told.refit("boosting")
    assert boosted._fit.effect_record is None
    assert boosted.model.effects()["low"].isna().all()
    assert told.resample(2)._fit.effect_record is None


def test_resamples_fit_the_model_that_predicts(data, monkeypatch):
    monkeypatch.setattr(shapes, "LEAST_RESAMPLES", 2)
    few = data.iloc[:60]
    boosted = by_mrmr("b ~ x + y", few, keep=["x"], k=1).refit("boosting").resample(2, effects=True)
    row = boosted.model.effects().iloc[0]
    assert -1 <= row["low"] <= row["high"] <= 1  # probabilities, though the trees add log-odds
    shape = boosted.model.shape(boosted.selected[0])
    assert (shape["low"] <= shape["high"]).all()


@pytest.mark.parametrize(
    ("formula", "direction", "step", "ends"),
    [
        ("of_x ~ x", "up", "quartiles", "x"),
        ("of_z ~ log(z)", "down", "quartiles", "z"),
        ("of_x ~ poly(x, 2)", "up", "quartiles", "x"),
        ("of_x ~ x:z", None, "quartiles", None),
        ("of_u ~ u", "mixed", "quartiles", "u"),
        ("of_x ~ I(x > 0)", "up", "values", ("False", "True")),
        ("y ~ rare", None, "deciles", "rare"),
        ("y ~ rarest", None, "range", "rarest"),
        ("y ~ f:x", "joint", "none", (None, None)),
    ],
)
def test_terms(data, formula, direction, step, ends):
    fit = by_mrmr(formula, data, k=1)
    (row,) = fit.model.effects().to_dict("records")
    assert direction in (None, row["direction"])
    assert row["step"] == step
    if isinstance(ends, tuple):
        assert tuple(None if end != end else end for end in (row["from"], row["to"])) == ends
        assert np.isnan(row["effect"]) == (ends[0] is None)
    elif ends is not None:
        values = data[ends].dropna()
        levels = {"range": [0, 1], "deciles": [0.1, 0.9]}.get(step, [0.25, 0.75])
        found = [float(row["from"]), float(row["to"])]
        np.testing.assert_allclose(found, values.quantile(levels), atol=0.1)


def test_quartiles_main_effects_and_directions_by_hand():
    curve, share = np.array([0.0, -0.1, -0.2, -0.1, 2.0]), np.full(5, 0.2)  # the last point decides
    assert [direction(curve, share, by) for by in (0.1, -0.1)] == ["up", "mixed"]
    assert [direction(-curve, share, by) for by in (-0.1, 0.1)] == ["down", "mixed"]
    values = np.array([3.0, 2.0, 1.0, 4.0])
    assert quartiles(values, np.ones(4)) == (1, 4)
    assert quartiles(values, np.array([1.0, 6.0, 1.0, 1.0])) == (2, 2)
    assert quartiles(np.arange(7.0), np.ones(7)) == (1, 5)
    steps = [("a", "x", "y", 0.1), ("a", "x", "missing", 0.4), ("b", "x", "missing", 0.2)]
    table = pd.DataFrame(steps, columns=["term", "from", "to", "effect"])
    assert main_effects(table)["to"].to_dict() == {"a": "y", "b": "missing"}


def test_a_level_called_missing_is_known():
    site = np.array(["a", "missing", "z", None], dtype=object)[np.arange(80) % 4]
    frame = pd.DataFrame({"y": 5.0 * (site == "missing") + np.arange(80) % 7, "site": site})
    fit = by_mrmr("y ~ site", frame, k=1)
    table = effect_table(fit._fit)
    assert table["to"].to_list() == ['"missing"', "z", "missing"]
    assert main_effects(table).loc["site", "to"] == '"missing"'
    (curve,) = curves(fit._fit, "site")[:1]
    assert {point.label for point in curve.points} == {"a", '"missing"', "z", "missing"}


def test_factors_start_at_the_reference_and_imputed_values_stand_nowhere(data):
    often = data["f"].where(data["f"].isna() | (data.index % 2 == 0), "b")  # not the first level
    assert often.value_counts().index[0] == "b"
    found = by_mrmr("y ~ f", data.assign(f=often), k=1).model.effects()
    assert found["from"].tolist() == ["a"] * 3
    assert found["to"].tolist() == ["b", "c", "missing"]
    assert found["effect"][1] > 1
    fit = by_mrmr("y ~ x + z + f", data, k=3, missing="impute")
    found = fit.model.effects()
    assert found.loc[found["term"] == "f", "to"].tolist() == ["b", "c"]
    shape = fit.model.shape("f")
    known = data["f"].value_counts(normalize=True)
    assert shape["f"].tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(shape["share"], known[["a", "b", "c"]])
    pair = fit.model.shape("f", "z")
    assert pair["share"].sum() == pytest.approx(1)
    assert pair.notna().all(axis=None)
    assert fit.model.interactions()["strength"].between(0, 1).all()
    apart = data.assign(z=data["z"].where(data.index < 80), f=data["f"].where(data.index >= 80))
    found = by_mrmr("y ~ x + z + f", apart, k=3, missing="impute").model
    assert len(found.interactions()) == 2  # no row tells z and f
    assert found.shape("z", "f")["share"].sum() == pytest.approx(1)


def test_levels_of_two_factors_and_of_many_have_points_by_frequency(data):
    rng = np.random.default_rng(0)
    wide = data.assign(g=rng.choice(["p", "q"], len(data)), many=rng.integers(0, 300, len(data)))
    fit = by_mrmr("y ~ f:g + C(many)", wide, k=2, new_levels="missing")
    found = fit.model.effects()
    both = found[found["term"] == "f:g"]
    assert set(both["to"]) | set(both["from"]) >= {"a:p", "a:q", "c:p", "missing"}
    assert (found["term"] == "C(many)").sum() == 99
    cells = [own for own in effect_cells(found) if own.term == "C(many)"]
    assert len(cells) == 7
    assert cells[-1].step == "93 others, with smaller changes"
    shape = by_mrmr("y ~ f:b", data, k=1).model.shape("f:b").dropna()
    assert shape["f"].tolist() == ["a", "b", "c", "a or b or c"]
    assert shape["b"].tolist() == [True, True, True, False]
    rng = np.random.default_rng(0)
    level = np.minimum(rng.exponential(60, size=900), 149).astype(int)
    frame = pd.DataFrame({"f": level.astype(str), "y": level % 7 + rng.normal(size=900)})
    fit = by_mrmr("y ~ f", frame, k=1, model="glm")
    shape, share = fit.model.shape("f").set_index("f")["share"], frame["f"].value_counts() / 900
    assert len(shape) == 100 < len(share)
    np.testing.assert_allclose(shape, share[shape.index])
    assert shape.min() >= share.drop(shape.index).max()
    (curve,) = curves(fit._fit, "f")
    assert curve.more == len(share) - 12


def test_terms_of_groups_classes_offsets_and_weights_have_effects(data):
    fit = by_mrmr("y ~ x + z + b", data, groups={"both": ["x", "z"]}, keep=["both"], k=1)
    assert by_term(fit)["direction"].to_dict() == {"x": "up", "z": "down"}
    found = by_mrmr("three ~ x", data, k=1).model.effects()
    assert found["class"].tolist() == ["hi", "lo", "mid"]
    assert found["direction"].tolist()[:2] == ["up", "down"]
    assert found["effect"].sum() == pytest.approx(0, abs=1e-9)  # probabilities sum to 1
    fit = by_mrmr("count ~ x", data, k=1, offset="exposure", weights="w", weights_kind="precision")
    assert by_term(fit)["effect"]["x"] > 0.3
    record = changed(fit, effect_record=fit.resample(2, effects=True)._fit.effect_record)
    assert "changes in the linear predictor" in effect_notes(record._fit)[0]


def test_shapes_and_nodes_of_a_hundred_classes_warn_of_nothing(recwarn):
    table = pd.DataFrame({"x": np.arange(400) % 100, "y": [f"c{i % 100}" for i in range(400)]})
    fit = treeselect.select("y ~ x", table, method="mrmr", k=1, resamples=0, seed=1)
    recwarn.clear()
    assert fit.model.shape("x").filter(like="mean").shape[1] == 100
    assert fit.model.nodes().filter(like="value").shape[1] == 100
    assert not recwarn.list


def test_of_times_effects_are_log_hazard_ratios():
    fit = small_fit("Surv(time, dead) ~ risky", 1)
    (row,) = fit.model.effects().to_dict("records")
    frame = small_times()
    ends = [
        np.mean(fit.predict(frame.assign(risky=float(row[end])), type="link"))
        for end in ("from", "to")
    ]
    assert row["effect"] == pytest.approx(ends[1] - ends[0], abs=0.02)  # ends are rounded
    shape = fit.model.shape("risky").set_index("risky")["mean"]
    assert shape.iloc[-1] > shape.iloc[0] + 0.5
    record = fit.resample(2, effects=True)._fit
    (note,) = effect_notes(record)
    assert note.startswith("Effects are changes in the log hazard under the final model")
    assert "A change of +0.69 doubles the hazard" in note
    assert effect_tables(record)[0].columns[0] == "Effect on the log hazard"


def test_readings_are_those_of_shapes_as_far_as_a_resample_knows(data):
    fit = by_mrmr("y ~ x + f + bs(u, 4)", data, k=3)
    points = effect_points(fit._fit)
    found = read_model(fit.model.fitted, points.probes, fit.data.design.problem)
    sizes = [len(probe.grid) for probe in points.probes.terms]
    parts = dict(zip(points.terms, np.split(found.curve[:, 0], np.cumsum(sizes)[:-1]), strict=True))
    for term in points.terms:
        np.testing.assert_allclose(np.sort(parts[term]), np.sort(fit.model.shape(term)["mean"]))
    fit = by_mrmr("y ~ f + b", data, k=2)
    points, problem = effect_points(fit._fit), fit.data.design.problem
    rows = np.flatnonzero((data["f"] != "c") & data["b"])
    found = read_resample(fit.model.fitted, points.probes, problem, rows)
    known = {
        (points.terms[own.term], own.end): bool(np.isfinite(found.ends[ends]).all())
        for own, ends in zip(points.contrasts, points.ends, strict=True)
    }
    assert known == {
        ("f", "b"): True, ("f", "c"): False, ("f", "missing"): True, ("b", "True"): False,
    }  # fmt: skip
    assert np.isnan(found.curve).sum() == 3  # one level of the factor, both values of the other
    everything = read_resample(fit.model.fitted, points.probes, problem, no_weights(len(data)).rows)
    assert np.isfinite(everything.curve).all()
    fit = by_mrmr("y ~ x + f", data, k=2)
    other = by_mrmr("y ~ x + f", data, k=1)
    found = read_model(other.model.fitted, effect_points(fit._fit).probes, fit.data.design.problem)
    assert np.isnan(found.ends).any(axis=1).sum() in (2, 6)
