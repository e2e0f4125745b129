"""Model files: the same predictions after a round trip, and nothing but an error otherwise."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import struct
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from quick import changed

import treeselect
from treeselect.algorithms.task import Exchange, Rival, Trace
from treeselect.errors import DataError, FormulaError, ModelFileError, NewDataError, OptionError
from treeselect.modelfile import file as archive
from treeselect.modelfile import models

QUICK = {"method": "controlburn", "forests": 1, "n_trees": 12, "seed": 3}

FORMULA = (
    "died ~ signal*site + bs(noise, 4, extrapolation='clip') + poly(dose, 2):colour + C(flag)"
    " + scale(dose) + hashed(colour, 3) + I(noise > 0) + `odd name`"
)


@pytest.fixture(scope="module")
def data(mixed):
    return mixed.assign(**{"odd name": np.arange(len(mixed)) % 7})


@pytest.fixture(scope="module")
def fit(data):
    return treeselect.select(FORMULA, data, k=6, resamples=3, **QUICK)


@pytest.fixture(scope="module")
def file(fit, tmp_path_factory):
    return fit.save(tmp_path_factory.mktemp("models") / "fit.treeselect")


@pytest.fixture(scope="module")
def traced(mixed):
    """A fit as a search leaves it."""
    fit = treeselect.select("died ~ . - dose", mixed, method="mrmr", k=2, seed=1)
    inside, outside = (
        np.flatnonzero(fit.search.step.selected == part).tolist() for part in (True, False)
    )
    rivals = [
        Rival(tuple(sorted((kept, other))), 0.125, 0.25) for kept in inside for other in outside
    ]
    trace = Trace((Exchange(outside[0], inside[0], -0.5, 0.25),) * 2, tuple(rivals), 8, 14)
    return changed(fit, step=dataclasses.replace(fit.search.step, trace=trace))


@pytest.fixture(scope="module")
def searched(traced, tmp_path_factory):
    return traced.save(tmp_path_factory.mktemp("models") / "searched")


@pytest.mark.parametrize("include_data", [False, True])
def test_a_round_trip_changes_nothing(fit, data, include_data, tmp_path):
    again = treeselect.load(fit.save(tmp_path / "m", include_data=include_data))
    shuffled = data.sample(frac=1, random_state=0)
    for kind in ("response", "link", "class"):
        pd.testing.assert_series_equal(again.predict(shuffled, kind), fit.predict(shuffled, kind))
    pd.testing.assert_frame_equal(again.tidy(), fit.tidy())
    pd.testing.assert_frame_equal(again.glance(), fit.glance())
    pd.testing.assert_frame_equal(again.path, fit.path)
    pd.testing.assert_frame_equal(again.stability.tidy(), fit.stability.tidy())
    assert again.summary().as_text() == fit.summary().as_text()
    assert (again.selected, again.formula, again.family) == (fit.selected, fit.formula, fit.family)
    for ours, theirs in zip(
        fit.data.design.spec.encode(data), again.data.design.spec.encode(data), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)
    assert again.report(tmp_path / "r.html").exists()
    twice = again.save(tmp_path / "twice", include_data=include_data)
    assert twice.read_bytes() == (tmp_path / "m").read_bytes()


def test_a_round_trip_of_cross_validation_groups_costs_and_weights(mixed, tmp_path):
    data = mixed.assign(w=np.arange(len(mixed)) % 3)
    fit = treeselect.select(
        "dose ~ . - died", data, folds=3, weights="w", groups={"g": ["noise", "flag"]},
        costs={"g": 2.0}, keep="site", new_levels="other", **QUICK,
    )  # fmt: skip
    again = treeselect.load(fit.save(tmp_path / "m"))
    assert again.summary().as_text() == fit.summary().as_text()
    new = mixed.assign(site="Hull")
    pd.testing.assert_series_equal(again.predict(new), fit.predict(new))
    resampled = again.with_data(data).resample(2).stability.tidy()
    pd.testing.assert_frame_equal(resampled, fit.resample(2).stability.tidy())


def test_real_weights_are_kept_with_the_data(mixed, tmp_path):
    weight = np.linspace(0, 1, len(mixed))
    fit = treeselect.select("died ~ signal + site + dose", mixed, k=1, weights=weight, **QUICK)
    again = treeselect.load(fit.save(tmp_path / "m", include_data=True))
    np.testing.assert_array_equal(again.data.design.weight, fit.data.design.weight)
    pd.testing.assert_frame_equal(
        again.resample(3).stability.tidy(), fit.resample(3).stability.tidy()
    )


def test_a_round_trip_of_an_empty_selection(mixed, tmp_path):
    fit = treeselect.select("dose ~ . - died", mixed, lam=1e6, **QUICK)
    again = treeselect.load(fit.save(tmp_path / "m"))
    assert again.selected == ()
    pd.testing.assert_series_equal(again.predict(mixed), fit.predict(mixed))


def correlation(y_true, prediction):
    """Not defined for a constant."""
    return float(np.corrcoef(y_true, prediction)[0, 1]) if np.ptp(prediction) > 0 else np.nan


@pytest.mark.parametrize("method", ["exchange", "mrmr", "lasso"])
@pytest.mark.parametrize("scoring", ["accuracy", correlation])
def test_a_round_trip_of_another_score(mixed, method, scoring, tmp_path):
    options = {"method": method, "scoring": scoring, "k": 1, "seed": 1}
    fit = treeselect.select("died ~ signal + noise", mixed, **options)
    assert fit.path["k"].tolist() == [0, 1]
    assert fit.path["train_score"].isna().tolist() == [scoring is correlation, False]
    pd.testing.assert_frame_equal(treeselect.load(fit.save(tmp_path / "m")).path, fit.path)


def test_a_round_trip_of_the_trace_of_a_search(traced, searched):
    again = treeselect.load(searched)
    assert again.search.step.trace == traced.search.step.trace
    assert again.summary().as_text() == traced.summary().as_text()
    pd.testing.assert_frame_equal(again.search.exchanges(), traced.search.exchanges())
    pd.testing.assert_frame_equal(again.search.alternatives(), traced.search.alternatives())


def test_a_round_trip_of_a_search_that_found_nothing(traced, tmp_path):
    nothing = dataclasses.replace(traced.search.step, trace=Trace((), (), 0, 0))
    again = treeselect.load(changed(traced, step=nothing).save(tmp_path / "m"))
    assert again.search.step.trace == Trace((), (), 0, 0)


def test_calls_that_need_the_data_take_them(fit, data, file):
    again = treeselect.load(file)
    with pytest.raises(DataError, match="with_data"):
        again.resample(3)
    with pytest.raises(DataError, match="without the data"):
        again.data.design.model_matrix()
    found = again.with_data(data).resample(3).stability.tidy()
    pd.testing.assert_frame_equal(found, fit.resample(3).stability.tidy())
    with pytest.raises(NewDataError, match="must be the data that the model was fitted to"):
        again.with_data(data.head(50)).resample(3)


def test_the_data_are_kept_if_asked_for(fit, data, tmp_path):
    again = treeselect.load(fit.save(tmp_path / "m", include_data=True))
    pd.testing.assert_frame_equal(
        again.resample(3).stability.tidy(), fit.resample(3).stability.tidy()
    )
    ours, theirs = again.data.design.model_matrix(), fit.data.design.model_matrix()
    pd.testing.assert_frame_equal(ours, theirs, check_dtype=False)
    without = treeselect.load(fit.save(tmp_path / "n"))
    with pytest.raises(ModelFileError, match="loaded from a file without them"):
        without.save(tmp_path / "o", include_data=True)


def test_no_value_of_the_data_is_in_the_file_unless_asked_for(mixed, tmp_path):
    data = mixed.assign(secret=np.arange(400) + 0.123456789, name="Jane Doe")
    fit = treeselect.select("died ~ signal + site + colour", data, k=2, **QUICK)
    with zipfile.ZipFile(fit.save(tmp_path / "m")) as archive:
        assert not {"y", "rows", "weight"} & {n[7:-4] for n in archive.namelist()}
        assert b"Jane Doe" not in b"".join(archive.read(n) for n in archive.namelist())


def test_weights_that_were_an_array_are_asked_for(mixed, tmp_path):
    weights = np.arange(len(mixed)) % 3
    fit = treeselect.select("died ~ signal + site", mixed, k=1, weights=weights, **QUICK)
    again = treeselect.load(fit.save(tmp_path / "m"))
    with pytest.raises(OptionError, match="`weights` must be given with `data`"):
        again.with_data(mixed).resample(2)
    found = again.with_data(mixed, weights=weights).resample(2).stability.tidy()
    pd.testing.assert_frame_equal(found, fit.resample(2).stability.tidy())


def test_the_library_of_the_data_is_remembered(mixed, tmp_path):
    fit = treeselect.select("dose ~ signal + noise", pl.from_pandas(mixed), k=1, **QUICK)
    again = treeselect.load(fit.save(tmp_path / "m"))
    assert isinstance(again.tidy(), pl.DataFrame)
    assert isinstance(again.predict(pl.from_pandas(mixed)), pl.Series)


def test_trusted_is_never_stored_and_the_guard_runs_again(mixed, tmp_path):
    fit = treeselect.select("dose ~ {signal.abs()} + noise", mixed, k=1, trusted=True, **QUICK)
    path = fit.save(tmp_path / "m")
    assert b'"trusted"' not in members(path)["model.json"]  # only the words of the call have it
    with pytest.raises(FormulaError, match="its formula is not allowed"):
        treeselect.load(path)
    again = treeselect.load(path, trusted=True)
    pd.testing.assert_series_equal(again.predict(mixed), fit.predict(mixed))


@pytest.mark.parametrize("include_data", [False, True])
@pytest.mark.parametrize(
    "attack",
    [
        "I(__import__('os').system('touch pwned'))",
        "I(site == '`' + str(__import__('os').system('touch pwned')) + '`')",
    ],
)
def test_a_formula_that_was_changed_to_run_code_is_refused(
    fit, include_data, attack, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    honest = fit.save(tmp_path / "honest", include_data=include_data)

    def edit(document):
        content = json.dumps(document["content"])
        document["content"] = json.loads(content.replace("I(noise > 0)", json.dumps(attack)[1:-1]))

    path = change(honest, tmp_path, edit)
    with pytest.raises(FormulaError, match="its formula is not allowed"):
        treeselect.load(path)
    assert not (tmp_path / "pwned").exists()


def test_transforms_learn_nothing_from_new_data(data, tmp_path):
    fit = treeselect.select("dose ~ scale(signal) + noise", data, k=1, **QUICK)
    path = fit.save(tmp_path / "fit")
    for learned in ({"dict": [["scale(signal)", {"dict": []}]]},
                    {"dict": [["scale(noise)", {"dict": []}]]},
                    {"dict": [["scale(signal)", {"list": [0.0] * 6000}]]}):  # fmt: skip

        def edit(document, learned=learned):
            document["content"]["state"][0][1] = learned

        with pytest.raises(ModelFileError, match="formula and transforms"):
            treeselect.load(change(path, tmp_path, edit))


def test_trusted_is_a_truth_value(file):
    with pytest.raises(OptionError, match="`trusted` must be True or False"):
        treeselect.load(file, trusted="no")


def test_labels_that_json_cannot_hold(mixed, tmp_path):
    days = pd.Categorical(pd.to_datetime(["2020-01-01", "2021-01-01"] * 200))
    fit = treeselect.select("dose ~ signal + day", mixed.assign(day=days), k=1, **QUICK)
    with pytest.raises(ModelFileError, match="labels must be text, numbers or truth values"):
        fit.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_cannot_be_finished_leaves_the_old_one(fit, tmp_path, monkeypatch):
    path = fit.save(tmp_path / "m")
    before = path.read_bytes()

    def full(*arguments, **options):
        raise OSError("No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(ModelFileError, match="No space left"):
        fit.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_where_a_model_cannot_be_written_or_found(fit, tmp_path):
    with pytest.raises(ModelFileError, match="Can't find the folder"):
        fit.save(tmp_path / "no" / "m")
    with pytest.raises(ModelFileError, match="Can't find the model file"):
        treeselect.load(tmp_path / "m")
    with pytest.raises(ModelFileError, match="Can't find the model file"):
        treeselect.load(tmp_path)


# --- broken and hostile files ------------------------------------------------------------------


def members(file):
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(folder, content, compression=zipfile.ZIP_STORED):
    path = folder / "changed"
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return path


def change(file, folder, edit):
    """The same file with its JSON edited."""
    content = members(file)
    document = json.loads(content["model.json"])
    edit(document)
    return write(folder, content | {"model.json": json.dumps(document).encode()})


def npy(array, **changes):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def header(shape, descr="<f8", tail=b""):
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + tail


def refused(path):
    with pytest.raises(ModelFileError) as error:
        treeselect.load(path)
    assert path.name in str(error.value)
    assert len(str(error.value).split("\n")) <= 3


@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.9, 0.999])
def test_truncated_files(file, share, tmp_path):
    whole = file.read_bytes()
    (tmp_path / "cut").write_bytes(whole[: int(share * len(whole))])
    refused(tmp_path / "cut")


def test_any_damaged_byte_is_an_error_or_harmless(file, data, tmp_path):
    """Checksums of the zip see most of it; what they do not see must not crash."""
    whole = bytearray(file.read_bytes())
    rng = np.random.default_rng(0)
    for at in rng.integers(0, len(whole), size=60):
        damaged = whole.copy()
        damaged[at] ^= 0xFF
        (tmp_path / "damaged").write_bytes(bytes(damaged))
        with contextlib.suppress(ModelFileError):
            treeselect.load(tmp_path / "damaged")


def test_a_rule_without_its_scores_is_refused(data, tmp_path):
    fit = treeselect.select("died ~ .", data, method="fcbf", k="1se", folds=2, seed=1)
    content = members(fit.save(tmp_path / "whole"))
    del content["arrays/fold_scores.npy"]
    refused(write(tmp_path, content))


def test_foreign_files(tmp_path):
    for content in (b"", b"PK\x03\x04", b"\x80\x04\x95cos\nsystem\n", b"{}", b"a,b\n1,2\n"):
        (tmp_path / "foreign").write_bytes(content)
        refused(tmp_path / "foreign")
    refused(write(tmp_path, {"hello.txt": b"hello"}))
    refused(write(tmp_path, {"model.json": b"[]"}))
    refused(write(tmp_path, {"model.json": b'{"format": "other"}'}))
    refused(write(tmp_path, {"model.json": b"[" * 100_000}))
    refused(write(tmp_path, {"model.json": b'{"format": NaN}'}))
    header = b"\x93NUMPY\x01\x00\x10\x00{'a': ((((((((((("
    refused(write(tmp_path, {"model.json": b"{}", "arrays/y.npy": header}))


@pytest.mark.parametrize("version", [1, 4])
def test_another_version_says_so(file, version, tmp_path):
    path = change(file, tmp_path, lambda d: d.update(version=version, treeselect="9.0"))
    way = "Use that version" if version < 2 else "Update treeselect"
    said = (
        rf"needs format {version}.\n.*reads formats 2 and 3; .*written by treeselect '9.0'. {way}."
    )
    with pytest.raises(ModelFileError, match=said):
        treeselect.load(path)


@pytest.mark.parametrize(
    "name",
    ["../evil.npy", "arrays/../../evil.npy", "/etc/evil", "arrays/evil.py", "arrays/a/b.npy",
     "arrays\\evil.npy", "C:evil.npy", "arrays/.npy"],
)  # fmt: skip
def test_members_that_no_model_file_has(file, name, tmp_path):
    refused(write(tmp_path, members(file) | {name: b"x"}))
    assert [p.name for p in tmp_path.iterdir()] == ["changed"]


def test_zip_bombs(file, tmp_path):
    bomb = members(file) | {"arrays/bomb.npy": bytes(80_000_000)}
    path = write(tmp_path, bomb, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 2_000_000
    with pytest.raises(ModelFileError, match="it would expand to 76 MiB"):
        treeselect.load(path)
    small = {f"arrays/bomb{i}.npy": bytes(4_000_000) for i in range(20)}  # together as large
    refused(write(tmp_path, members(file) | small, zipfile.ZIP_DEFLATED))
    refused(write(tmp_path, members(file) | {"arrays/x.npy": b"x"}, zipfile.ZIP_BZIP2))


def resized(path, folder, compressed=None, expanded=None):
    """The file with other sizes of its last member in the directory."""
    raw = bytearray(path.read_bytes())
    at = raw.rindex(b"PK\x01\x02")
    own = struct.unpack_from("<II", raw, at + 20)
    struct.pack_into("<II", raw, at + 20, compressed or own[0], expanded or own[1])
    (folder / "lies").write_bytes(bytes(raw))
    return folder / "lies"


def test_members_that_lie_about_their_size(file, tmp_path):
    refused(resized(file, tmp_path, 2**31, 2**31))
    refused(resized(file, tmp_path, expanded=10**7))  # more than there is
    refused(resized(file, tmp_path, expanded=40))
    refused(resized(file, tmp_path, compressed=20))  # ends before its end
    refused(resized(file, tmp_path, compressed=file.stat().st_size // 2))  # over the directory


def test_no_member_expands_beyond_the_size_it_declares(file, tmp_path):
    bomb = members(file) | {"arrays/bomb.npy": bytes(200_000_000)}
    path = resized(write(tmp_path, bomb, zipfile.ZIP_DEFLATED), tmp_path, expanded=1000)
    tracemalloc.start()
    refused(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50_000_000


def test_members_that_share_bytes(file, tmp_path):
    raw = bytearray(file.read_bytes())
    first = raw.index(b"PK\x01\x02")
    second = raw.index(b"PK\x01\x02", first + 1)
    raw[second + 42 : second + 46] = raw[first + 42 : first + 46]
    (tmp_path / "shared").write_bytes(bytes(raw))
    with pytest.raises(ModelFileError, match="its members overlap"):
        treeselect.load(tmp_path / "shared")


def test_what_would_expand_too_far_is_stored(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "_ALLOWANCE", 41_000)
    arrays = {"zeros": np.zeros(5000), "more": np.zeros(5200), "few": np.zeros(10)}
    archive.write_archive(tmp_path / "m", "{}", arrays)
    with zipfile.ZipFile(tmp_path / "m") as written:
        deflated = [m.compress_type == zipfile.ZIP_DEFLATED for m in written.infolist()]
    assert deflated == [True, True, False, True]  # the second is too much
    document, again = archive.read_archive(tmp_path / "m")
    assert document == {}
    for name, array in arrays.items():
        np.testing.assert_array_equal(again[name], array)


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_narrow_numbers_are_the_same_numbers(numbers):
    array = np.array(numbers, dtype=np.int64)
    narrow = models.narrowed(array)
    again = models.widened(narrow, np.int64)
    assert again.dtype == np.int64
    np.testing.assert_array_equal(again, array)
    if len(array) and abs(array).max() > 2**40:
        with pytest.raises(ValueError, match="whole numbers"):
            models.widened(array, np.int32)


@pytest.mark.parametrize(
    "array",
    [
        npy(np.array([{"a": 1}], dtype=object)),
        npy(np.array(["text"])),
        npy(np.array([1 + 2j])),
        npy(np.array(["2020-01-01"], dtype="M8[D]")),
        npy(np.zeros(3, dtype=[("a", "<f8")])),
        header((10**12,)),
        header((2**62, 4)),
        header((-1,)),
        header((3,), "|O", b"\0" * 24),
        header((3,), ">f8", b"\0" * 24),
        header((1, 1, 1), "<f8", b"\0" * 8),
        header("__import__('os').system('touch pwned')"),
        header((3,), "<f8", b"\0" * 24).replace(b"<f8", rb"\d8"),  # Python warns of this escape
        b"\x93NUMPY\x03\x00" + b"\0" * 200,
        b"",
    ],
    ids=range(15),
)
def test_arrays_that_are_not_plain_numbers(file, array, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(write(tmp_path, members(file) | {"arrays/forest_value.npy": array}))
    assert not (tmp_path / "pwned").exists()


def with_array(file, folder, name, edit):
    content = members(file)
    array = np.load(io.BytesIO(content[f"arrays/{name}.npy"]))
    if name.endswith(
        ("_left", "_column", "_code", "_weight", "_ones")
    ):  # as narrow as their numbers
        array = array.astype(np.int64)
    return write(folder, content | {f"arrays/{name}.npy": npy(edit(array))})


def at_first_split(value):
    def edit(array):
        array[0] = value
        return array

    return edit


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("forest_left", at_first_split(0)),  # a walk that never ends
        ("forest_left", at_first_split(10**6)),
        ("forest_left", at_first_split(-5)),
        ("forest_column", at_first_split(99)),
        ("forest_column", at_first_split(-7)),
        ("forest_start", lambda a: a[::-1].copy()),
        ("forest_start", lambda a: a + 1),
        ("forest_start", lambda a: a[:1]),
        ("forest_start", lambda a: np.array([0, 2**62, -(2**63), -(2**62), a[-1]])),
        ("sub_start", lambda a: np.array([0, 2**62, -(2**63), -(2**62), a[-1]])),
        ("sub_weights", lambda a: a[:-1]),
        ("sub_gains", lambda a: a.T.copy()),
        ("sub_group_of", lambda a: a[::-1].copy() + 1),
        ("sub_groups", lambda a: ~a),
        ("forest_leaf_ones", lambda a: a[:-1]),
        ("forest_leaf_ones", lambda a: a.astype(np.float64)),
        ("forest_leaf_weight", lambda a: a[:, np.newaxis]),
        ("forest_groups", lambda a: a[:-1]),
        ("edges", lambda a: a[::-1].copy()),
        ("edges", lambda a: np.full_like(a, np.nan)),
        ("edges_start", lambda a: a * 2),
        ("path_selected", lambda a: a[:, :-1]),
        ("path_selected", lambda a: a.astype(np.float64)),
        ("path_tuning", lambda a: a[:1]),
        ("resample_selected", lambda a: a[:1]),
        ("path_importance", lambda a: a.astype(bool)),
        ("path_train_score", lambda a: a.astype(np.int64)),
        ("forest_importance", lambda a: a.astype(np.int64)),
        ("forest_constant", lambda a: a.astype(np.int64)),
        ("forest_constant", lambda a: a[:0]),
    ],
)
def test_arrays_that_do_not_fit_together(file, name, edit, tmp_path):
    refused(with_array(file, tmp_path, name, edit))


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("exchange_units", lambda a: a + 99),
        ("exchange_units", lambda a: a - 99),
        ("exchange_units", lambda a: a * 0),  # a unit for itself
        ("exchange_units", lambda a: a[:1]),
        ("exchange_units", lambda a: a.astype(np.float64)),
        ("exchange_units", np.ravel),
        ("exchange_rises", lambda a: a * np.nan),
        ("exchange_rises", lambda a: a * 1e300),
        ("exchange_rises", lambda a: -a),
        ("exchange_rises", lambda a: a.astype(np.int64)),
        ("rival_units", lambda a: a + 99),
        ("rival_units", lambda a: a[:, ::-1].copy()),
        ("rival_units", lambda a: a[:, :1].copy()),
        ("rival_units", lambda a: a[:-1]),
        ("rival_units", lambda a: a.astype(np.int32)),
        ("rival_rises", lambda a: a * np.inf),
        ("rival_rises", lambda a: -a),
        ("rival_rises", lambda a: a[:0]),
    ],
)
def test_traces_that_no_search_leaves(searched, name, edit, tmp_path):
    refused(with_array(searched, tmp_path, name, edit))


def test_a_rival_is_another_set(searched, traced, tmp_path):
    own = np.flatnonzero(traced.search.step.selected)
    refused(with_array(searched, tmp_path, "rival_units", lambda a: np.tile(own, (len(a), 1))))


@pytest.fixture(scope="module")
def affected(mixed, tmp_path_factory):
    """A file with effects of two terms on 20 resamples."""
    rows = mixed.iloc[:100]
    fit = treeselect.select("dose ~ signal + site", rows, method="mrmr", k=2, seed=1)
    found = fit.resample(20, effects=True)
    assert np.isfinite(found.model.effects()["low"]).all()
    return found.save(tmp_path_factory.mktemp("models") / "affected")


def swap_ends(values):
    """The low ends for the high ones."""
    n = values.shape[1]
    return values[:, [*range(n - 2), n - 1, n - 2]]


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("effect_values", lambda a: a[:-1]),
        ("effect_values", lambda a: a[:, :-1]),
        ("effect_values", lambda a: a * np.inf),
        ("effect_values", lambda a: a * np.nan),
        ("effect_values", lambda a: a.astype(np.int64)),
        ("effect_values", swap_ends),
        ("effect_count", lambda a: a + 1),
        ("effect_count", lambda a: a - 99),
        ("effect_count", lambda a: a - 1),  # too few for an interval
        ("effect_count", lambda a: a.astype(np.float64)),
        ("effect_bands", lambda a: a[1:]),
        ("effect_bands", lambda a: a + 1e300),
        ("effect_bands", swap_ends),
        ("effect_points", lambda a: a[::-1] - 1),
        ("effect_points", lambda a: a - a),
        ("interaction_values", lambda a: a[:0]),
        ("interaction_values", lambda a: a[:, :2]),
        ("interaction_values", lambda a: a + 1),
        ("interaction_values", lambda a: -1 - a),
        ("interaction_values", lambda a: a * np.nan),
        ("interaction_values", lambda a: a.astype(np.float32)),
        ("interaction_values", lambda a: a[:, [0, 2, 1]]),
        ("interaction_count", lambda a: a + 1),
        ("interaction_count", lambda a: a - 1),  # too few for an interval
        ("interaction_count", lambda a: a - 99),
        ("interaction_count", lambda a: a[:0]),
        ("interaction_count", lambda a: a.astype(np.float64)),
    ],
)
def test_effects_that_no_fit_has(affected, name, edit, tmp_path):
    refused(with_array(affected, tmp_path, name, edit))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("terms", ["signal"]),
        ("terms", ["signal", "flag"]),
        ("terms", 8),
        ("directions", [["up"], ["sideways"]]),
        ("directions", [["up"]]),
        ("directions", [["up", "up"], ["up", "up"]]),
        ("contrasts", []),
        ("contrasts", [[0, "quartiles", "1", "2"]]),
        ("contrasts", [[9, "levels", "a", "b"]] * 4),
        ("contrasts", [["signal", "levels", "a", "b"]] * 4),
        ("pairs", []),
        ("pairs", [["signal", "signal"]]),
        ("pairs", [["signal", "flag"]]),
        ("pairs", [["signal"]]),
        ("pairs", [["signal", "site"], ["site", "signal"]]),
        ("pairs", 8),
        ("n_resamples", 21),
        ("n_resamples", 20.0),
        ("n_resamples", None),
    ],
)
def test_words_of_effects_that_no_fit_has(affected, key, value, tmp_path):
    refused(change(affected, tmp_path, put("effects", key, value=value)))


@pytest.mark.parametrize("counts", [[8], [8, 7], [9, 14], [-1, 14], [8, 2**40], ["8", 14], 8, None])
def test_counts_that_no_search_has(searched, counts, tmp_path):
    refused(change(searched, tmp_path, lambda d: d["content"].update(trace=counts)))


def drop(key):
    return lambda d: d["content"].pop(key)


def put(*keys, value):
    def edit(document):
        at = document["content"]
        for key in keys[:-1]:
            at = at[key]
        at[keys[-1]] = value

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        *map(drop, ["formula", "terms", "schema", "state", "units", "columns", "response", "rows",
                    "weights", "notes", "library", "call", "method", "cut_from", "seed", "choice"]),
        put("choice", "k", value="evil"),
        put("choice", "k", value=10**6),
        put("choice", "folds", value=1),
        put("choice", "folds", value="evil"),
        put("choice", "repeats", value=0.5),
        put("choice", "groups", value=[1]),
        put("response", "scoring", value="evil"),
        put("response", "scoring", value=["os.system", True]),
        put("response", "scoring", value=[["x"], False]),
        put("method", 0, value="os.system"),
        put("method", 1, value={"dict": [["evil", 1]]}),
        put("method", 1, value={"code": "x"}),
        put("response", "family", value="evil"),
        put("response", "classes", value=[[1], [2]]),
        put("new_levels", value="evil"),
        put("schema", 0, value=["signal", "evil"]),
        put("terms", 0, "name", value="evil"),
        put("terms", 0, "factors", value=[]),
        put("units", "items", value=[[99]]),
        put("units", "items", 0, value=[]),
        put("call", "formula", value="\ud800"),
        put("units", "names", value=["a"]),
        put("columns", 1, 0, value=10**9),
        put("state", value=[]),
        put("cut_from", value=[]),
        put("seed", value="evil"),
        put("resamples", value=["evil", 1, 1]),
        put("formula", "columns", value=[]),
        put("formula", "text", value=3),
        put("weights", value=[1]),
    ],
)  # fmt: skip
def test_documents_that_do_not_fit_together(file, edit, tmp_path):
    path = change(file, tmp_path, edit)
    with pytest.raises((ModelFileError, FormulaError)):
        treeselect.load(path)


def test_what_transforms_learned_may_be_nonsense_but_not_harmful(file, data, tmp_path):
    for nonsense in ({"dict": []}, {"dict": [["knots", {"list": ["a"]}]]}, {"list": []}):

        def edit(document, nonsense=nonsense):
            document["content"]["state"] = [
                [name, nonsense] for name, _ in document["content"]["state"]
            ]

        path = change(file, tmp_path, edit)
        with contextlib.suppress(ModelFileError, DataError):
            treeselect.load(path).predict(data)


def test_labels_are_in_the_file(fit, tmp_path):
    labels = {"colour": "Colour", "signal": "Signal (mV)"}
    labelled = changed(fit, design=dataclasses.replace(fit.data.design, labels=labels))
    again = treeselect.load(path := labelled.save(tmp_path / "m"))
    assert again.data.design.labels == labels
    assert again.summary().as_text() == labelled.summary().as_text()
    older = change(path, tmp_path, lambda d: d["content"].pop("labels"))
    assert treeselect.load(older).data.design.labels == {}


@pytest.mark.parametrize(
    "labels", [3, [3], [["signal"]], [["signal", 3]], [["signal", ""]], [["no column", "X"]]]
)
def test_labels_in_a_file_are_labels_of_its_columns(file, labels, tmp_path):
    with pytest.raises(ModelFileError, match="damaged"):
        treeselect.load(change(file, tmp_path, lambda d: d["content"].update(labels=labels)))


# --- what a file says must be what a model can be ------------------------------------------------


@pytest.fixture(scope="module")
def with_data(fit, tmp_path_factory):
    return fit.save(tmp_path_factory.mktemp("models") / "data", include_data=True)


@pytest.fixture(scope="module")
def boosted(data, tmp_path_factory):
    fit = treeselect.select("died ~ signal + site", data, method="mrmr", k=2, seed=1)
    return fit.refit("boosting").save(tmp_path_factory.mktemp("models") / "boosted")


def split_codes(value):
    """The code of every split; that of leaves means nothing."""
    return lambda array: np.where(array > 0, value, array).astype(array.dtype)


def last_row(edit):
    def change_last(array):
        array = array.copy()
        array[-1] = edit(array[-1])
        return array

    return change_last


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("forest_code", split_codes(255)),  # no such edge or level: nodes(), rules()
        ("sub_code", split_codes(255)),
        ("sub_weights", lambda a: a * 0),  # no tree moves anything: trees(), shape()
        ("sub_weights", lambda a: -a),
        ("sub_weights", lambda a: a + 1e300),
        ("sub_shares", lambda a: a * 0 + 1e-320),
        ("sub_shares", lambda a: a * 2),
        ("sub_shares", lambda a: -a),
        ("sub_gains", lambda a: -a),
        ("sub_gains", lambda a: a * 0),
        ("sub_gains", lambda a: a + 1),
        ("sub_importance", lambda a: a * 2),
        ("sub_importance", lambda a: a * np.nan),
        ("sub_constant", lambda a: a + np.inf),
        ("sub_gain", lambda a: a - 1e9),
        ("forest_leaf_ones", lambda a: -a - 1),
        ("forest_leaf_ones", lambda a: a + 10**6),
        ("forest_leaf_weight", lambda a: a * 0),
        ("forest_leaf_weight", lambda a: a + 2**62),
        ("forest_constant", lambda a: a * np.nan),
        ("forest_importance", lambda a: -a - 1),
        ("forest_importance", lambda a: a + 1),
        ("forest_groups", lambda a: a[::-1].copy()),
        ("path_selected", lambda a: ~a),
        ("path_selected", last_row(lambda row: row[::-1].copy())),
        ("path_selected", last_row(lambda row: row | True)),
        ("path_importance", lambda a: a * 2),
        ("path_importance", lambda a: a - 1),
        ("path_importance", lambda a: a * np.nan),
        ("path_tuning", lambda a: a * np.nan),
        ("path_train_score", lambda a: a + np.inf),
        ("weight", lambda a: a * 0),
        ("weight", lambda a: a * 2**60),
        ("y", lambda a: a - 1),
        ("y", lambda a: a + 0.5),
        ("y", lambda a: a * 2),
    ],
)
def test_numbers_that_no_model_has(with_data, name, edit, tmp_path):
    refused(with_array(with_data, tmp_path, name, edit))


@pytest.fixture(scope="module")
def of_numbers(tmp_path_factory):
    """A model whose trees have no counts in place of their values."""
    data = treeselect.datasets.load("titanic_correlated")
    fit = treeselect.select("age ~ sex + pclass + sibsp", data, method="mrmr", k=2, seed=1)
    return fit.refit("stack").save(tmp_path_factory.mktemp("numbers") / "fit.treeselect")


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("stack_value", at_first_split(np.nan)),
        ("stack_value", lambda a: a[:-1]),
        ("stack_value", lambda a: a.astype(np.int64)),
        ("stack_value", lambda a: a + 1e300),
        ("stack_gain", lambda a: a * np.nan),
        ("stack_weight", lambda a: -a),
    ],
)
def test_nodes_that_no_trees_have(of_numbers, name, edit, tmp_path):
    refused(with_array(of_numbers, tmp_path, name, edit))


@pytest.mark.parametrize("name", ["boost_code", "boost_value", "boost_groups", "boost_weight"])
def test_numbers_that_no_boosted_trees_have(boosted, name, tmp_path):
    edits = {"boost_code": split_codes(255), "boost_value": lambda a: a * np.nan}
    edit = edits.get(name, lambda a: ~a if a.dtype == bool else -a)
    refused(with_array(boosted, tmp_path, name, edit))


def test_any_changed_number_is_an_error_or_harmless(with_data, data, tmp_path):
    """Whatever can be loaded can be used."""
    rng = np.random.default_rng(0)
    content = members(with_data)
    names = [
        name for name in content if name.startswith(("arrays/forest", "arrays/sub", "arrays/path"))
    ]
    values = [0, 1, -1, 3, 255, 1e-320, 1e300, np.nan, np.inf]
    for _ in range(40):
        name = names[rng.integers(len(names))]
        array = np.load(io.BytesIO(content[name]))
        with np.errstate(all="ignore"):
            value = np.array(values)[rng.integers(len(values), size=1)].astype(array.dtype)
        array.flat[rng.integers(array.size)] = value[0]
        path = write(tmp_path, content | {name: npy(array)})
        with contextlib.suppress(ModelFileError):
            again = treeselect.load(path)
            again.predict(data.head(3))
            model = again.model
            for call in (model.trees, model.nodes, model.rules, again.tidy, again.summary):
                str(call())
            again.model.shape(again.selected[0])
