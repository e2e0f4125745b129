"""Model files that are damaged, hostile, or of no model: nothing but one clear error."""

import contextlib
import gzip
import tracemalloc
from types import SimpleNamespace

import msgspec
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from quick import by_mrmr, traced

import treeselect
from treeselect import coding
from treeselect.engine.survival.curves import Baseline
from treeselect.engine.tree.nodes import Nodes, Trees
from treeselect.errors import DataError, FormulaError, ModelFileError, OptionError
from treeselect.modelfile.restored import _check_bins, check_baseline
from treeselect.models.importing import ImportedBins

QUICK = {"method": "controlburn", "forests": 1, "n_trees": 12, "seed": 3}

FORMULA = (
    "died ~ signal*site + bs(noise, 4, extrapolation='clip') + poly(dose, 2):colour + C(flag)"
    " + scale(dose) + hashed(colour, 3) + I(noise > 0) + `odd name`"
)

TIMES = "Surv(begin, end, status == 'dead') ~ . + strata(site)"


@pytest.fixture(scope="module")
def data(mixed):
    return mixed.assign(**{"odd name": np.arange(len(mixed)) % 7})


def times():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    frame["begin"] = rng.integers(0, 3, 60) * 1.0
    frame["end"] = frame["begin"] + rng.exponential(np.exp(-frame["a"])).round(1) + 0.1
    frame["status"] = rng.choice(["dead", "alive"], 60, p=[0.7, 0.3])
    return frame.assign(site=rng.choice(["Bath", "York"], 60))


def affected(mixed):
    """A fit with effects of two terms on 20 resamples."""
    fit = by_mrmr("dose ~ signal + site", mixed.iloc[:100], k=2)
    found = fit.resample(20, effects=True)
    assert np.isfinite(found.model.effects()["low"]).all()
    return found


WITH = ("data", "times")
"""Kinds of fits whose files hold the data."""


@pytest.fixture(scope="module")
def file_of(data, tmp_path_factory):
    """Model files by the name of a kind of fit; each is fitted once."""
    known = {}
    few = {"method": "mrmr", "k": 2, "seed": 1}
    tuned = {"method": "boruta", "n_trees": 10, "max_rounds": 12, "k": None, "seed": 1}
    ways = {
        "fit": lambda: treeselect.select(FORMULA, data, k=6, resamples=3, **QUICK),
        "data": lambda: treeselect.select(FORMULA, data, k=6, **QUICK),
        "searched": lambda: traced(data.drop(columns="odd name")),
        "affected": lambda: affected(data),
        "decided": lambda: treeselect.select("died ~ signal + noise + dose", data, **tuned),
        "boosted": lambda: treeselect.select("died ~ signal + site", data, **few).refit("boosting"),
        "stacked": lambda: treeselect.select("dose ~ signal + site", data, **few).refit("stack"),
        "imputed": lambda: treeselect.select("died ~ signal + site", data, missing="impute", **few),
        "chosen": lambda: treeselect.select(
            "died ~ signal + site", data, method="fcbf", k="1se", folds=2, seed=1
        ),
        "linear": lambda: by_mrmr("died ~ site*colour + poly(dose, 2) + signal", data, k=5).refit(
            "glm", splines={"signal": 3}, missing="indicator"
        ),
        "classes": lambda: by_mrmr("site ~ signal + colour:C(flag)", data, k=2),
        "curved": lambda: treeselect.select("dose ~ signal + site", data, model="gam", **few),
        "times": lambda: treeselect.select(TIMES, times(), method="rrf", n_trees=5, k=1, seed=1),
    }

    def find(name):
        if name not in known:
            path = tmp_path_factory.mktemp("models") / name
            known[name] = ways[name]().save(path, **{"include_data": True} if name in WITH else {})
        return known[name]

    return find


# --- a file, its content, and changes of it ------------------------------------------------------


GONE = object()
"""In place of a value: nothing."""


def content_of(path):
    """The map in a file."""
    return msgspec.msgpack.decode(gzip.decompress(path.read_bytes()), ext_hook=coding._array_of)


def written(folder, document):
    path = folder / "changed"
    path.write_bytes(gzip.compress(coding._encode(document)))
    return path


def places(value, at=()):
    """All places in a content, as keys and numbers."""
    yield at
    inner = value.items() if isinstance(value, dict) else ()
    for key, own in enumerate(value) if isinstance(value, list) else inner:
        yield from places(own, (*at, key))


def put(document, at, value):
    """Change what is at a place; a function makes it of what was there."""
    holder = document
    for key in at[:-1]:
        holder = holder[key]
    new = value(holder[at[-1]]) if callable(value) else value
    if new is GONE:
        del holder[at[-1]]
    else:
        holder[at[-1]] = new


NUMBERS = {name: i for kind in (Trees, Nodes) for i, name in enumerate(kind._fields)}
"""Places of the arrays of trees, which are lists in a file."""


def changed(path, folder, place, value):
    """The file with another value at a place such as ``path.selected``."""
    document = content_of(path)
    keys = [int(key) if key.isdigit() else key for key in place.split(".")]
    keys = [NUMBERS.get(key, key) if "trees" in keys[:i] else key for i, key in enumerate(keys)]
    put(document, ("content", *keys), value)
    return written(folder, document)


def refused(path, *, match=None, errors=ModelFileError):
    with pytest.raises(errors, match=match) as error:
        treeselect.load(path)
    assert path.name in str(error.value)
    assert " encountered in " not in str(error.value), (
        "a warning of NumPy, which the user would see"
    )
    assert len(str(error.value).split("\n")) <= 3 or error.type is FormulaError


# --- bytes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.9, 0.999])
def test_truncated_files(file_of, share, tmp_path):
    whole = file_of("fit").read_bytes()
    (tmp_path / "cut").write_bytes(whole[: int(share * len(whole))])
    refused(tmp_path / "cut")


@pytest.mark.parametrize(("name", "packed"), [("fit", True), ("fit", False), ("linear", False)])
def test_any_damaged_byte_is_an_error_or_harmless(file_of, name, packed, tmp_path):
    """The checksum of gzip sees it; what it does not see must not crash."""
    whole = bytearray(file_of(name).read_bytes())
    whole = whole if packed else bytearray(gzip.decompress(whole))
    rng = np.random.default_rng(0)
    for at in rng.integers(0, len(whole), size=60):
        damaged = whole.copy()
        damaged[at] ^= 0xFF
        new = bytes(damaged) if packed else gzip.compress(bytes(damaged))
        (tmp_path / "damaged").write_bytes(new)
        with contextlib.suppress(ModelFileError, FormulaError):
            treeselect.load(tmp_path / "damaged")


def test_foreign_files(file_of, tmp_path):
    deep = b"\x91" * 100_000
    header = {"format": coding.FORMAT, "version": coding.VERSION, "treeselect": "x", "content": 1}
    for content in (
        b"", b"PK\x03\x04", b"\x80\x04\x95cos\nsystem\n", b"{}", b"a,b\n1,2\n", b"\x1f\x8b",
        *map(gzip.compress, (b"", b"\x90", deep, b"{}", coding._encode({"format": "other"}))),
        *(gzip.compress(coding._encode(header | {"content": own})) for own in (1, {}, "x", [])),
        gzip.compress(coding._encode(header | {"format": "other"})),
        file_of("fit").read_bytes() + b"more",
    ):  # fmt: skip
        (tmp_path / "foreign").write_bytes(content)
        refused(tmp_path / "foreign")


@pytest.mark.parametrize(
    ("version", "way"), [(1, "Use that version"), (coding.VERSION + 1, "Update treeselect")]
)
def test_another_version_says_so(file_of, version, way, tmp_path):
    path = written(tmp_path, content_of(file_of("fit")) | {"version": version, "treeselect": "9.0"})
    said = rf"needs format {version}.\n.*reads format 4; .*written by treeselect '9.0'. {way}."
    refused(path, match=said)


def test_bombs(file_of, tmp_path):
    """Also one that lies of its size, which stands at its end."""
    document = content_of(file_of("fit"))
    bomb = gzip.compress(bytes(200_000_000), 9)
    more = gzip.compress(coding._encode(document | {"more": bytes(60_000_000)}), 9)
    for packed, said in (
        (bomb, r"would expand to more than \d+ MiB"), (more, "would expand to more than"),
        (gzip.compress(bytes(3_000_000), 9), "would expand to more than 2 MiB"),
        (bomb[:-4] + bytes(4), "cut off, or more follows"),
        (bomb[:-4] + (10_000_000).to_bytes(4, "little"), "cut off, or more follows"),
    ):  # fmt: skip
        (tmp_path / "bomb").write_bytes(packed)
        tracemalloc.start()
        refused(tmp_path / "bomb", match=said)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 30_000_000


def test_what_would_expand_too_far_is_stored(tmp_path, monkeypatch):
    path = tmp_path / "m"
    coding.write_record(path, lambda: np.zeros(10_000))
    assert path.stat().st_size < 1_000
    monkeypatch.setattr(coding, "_ALLOWANCE", 0)
    for n, is_stored in ((10_000, True), (10, False)):
        coding.write_record(path, lambda n=n: np.zeros(n))
        assert (path.stat().st_size > 8 * n + 40) is is_stored
        assert len(coding._expanded(path, path.read_bytes())) > 8 * n


# --- arrays --------------------------------------------------------------------------------------


KINDS = ("bool", "int8", "uint8", "uint16", "int32", "int64", "float64")


SHAPES = arrays.array_shapes(max_dims=2, min_side=0)


@given(st.sampled_from(KINDS).flatmap(lambda kind: arrays.arrays(kind, SHAPES)))
def test_arrays_are_the_same_arrays(array):
    again = coding.plain(coding.raw(array), 10**6)
    wanted = np.dtype("int64") if array.dtype.kind in "iu" else array.dtype
    assert again.dtype == wanted
    np.testing.assert_array_equal(again, array)
    assert again.flags.writeable


def array_in(kind, shape, values, code=1):
    """An array as a file might have it."""
    return msgspec.msgpack.Ext(code, msgspec.msgpack.encode((kind, shape, values)))


@pytest.mark.parametrize(
    "array",
    [
        array_in("|O", (3,), bytes(24)), array_in("<U4", (1,), bytes(16)),
        array_in("<c16", (1,), bytes(16)), array_in("<M8[D]", (1,), bytes(8)),
        array_in(">f8", (3,), bytes(24)), array_in("<f8", (10**12,), b""),
        array_in("<f8", (2**62, 4), b""), array_in("<f8", (-1,), bytes(24)),
        array_in("<f8", (1, 1, 1), bytes(8)), array_in("<f8", "__import__('os')", bytes(24)),
        array_in("<f8", (3,), bytes(23)), array_in("<f8", (3,), "text"),
        array_in("<f8", (3,), bytes(24), code=2), msgspec.msgpack.Ext(1, b""),
        b"bytes", "text", None, [1.0], 1.0, {"code": 1},
    ],
    ids=range(20),
)  # fmt: skip
def test_arrays_that_are_not_plain_numbers(file_of, array, tmp_path):
    refused(changed(file_of("fit"), tmp_path, "path.tuning", array))


@pytest.mark.parametrize("array", [(2, (1,), bytes(8)), (1, (1, 1, 1), bytes(8)), (1, (-1,), b"")])
def test_arrays_of_other_kinds_are_refused_whatever_they_stand_for(array):
    code, shape, values = array
    with pytest.raises(ValueError, match="an array of a kind"):
        coding._array_of(code, msgspec.msgpack.encode(("<f8", shape, values)))


def test_truth_values_are_0_or_1():
    found = coding._array_of(1, msgspec.msgpack.encode(("|b1", (3,), b"\0\1\2")))
    assert found.tobytes() == b"\0\1\1"


# --- what no fit has -----------------------------------------------------------------------------


def first(value):
    def edit(array):
        array[0] = value
        return array

    return edit


def last_row(edit):
    def change_last(array):
        array[-1] = edit(array[-1].copy())
        return array

    return change_last


def split_codes(value):
    """The code of every split; that of leaves means nothing."""
    return lambda array: np.where(array > 0, value, array)


def to(kind):
    return lambda array: array.astype(kind)


def added(name):
    return lambda names: [*names, name]


def swapped(array):
    return array[::-1].copy()


def opposed(array):
    """Infinite, with both signs."""
    return array + np.resize([np.inf, -np.inf], array.shape)


EDITS = {
    "fit": [
        *((place, GONE) for place in (
            "design", "call", "method", "path", "seed", "choice", "notes", "design.formula",
            "design.terms", "design.schema", "design.state", "design.units", "design.column_names",
            "design.response", "design.rows", "design.weights", "design.library", "model",
        )),
        ("choice.k", "evil"), ("choice.k", 10**6), ("choice.k", True), ("choice.folds", 1),
        ("choice.folds", "evil"), ("choice.repeats", 0.5), ("choice.groups_name", [1]),
        ("design.response.scoring", "evil"), ("design.response.scoring", ["os.system", True]),
        ("design.response.scoring", [["x"], False]), ("method.0", "os.system"),
        ("method.1", {"evil": 1}), ("method.1", {"code": "x"}), ("design.response.family", "evil"),
        ("design.response.classes", [[1], [2]]), ("design.new_levels", "evil"),
        ("design.schema.signal", "evil"), ("design.terms.0.name", "evil"),
        ("design.terms.0.factors", []), ("design.terms.0.n_missing", -1),
        ("design.units.items", [[99]]), ("design.units.items.0", []), ("design.units.names", ["a"]),
        ("design.units.item_costs", lambda costs: [-1.0] * len(costs)),
        ("design.units.item_costs", lambda costs: [1e308] * len(costs)),
        ("design.n_levels.0", 10**9), ("design.state", []), ("path.cut_from", []),
        ("seed", "evil"), ("resampled.scheme", "evil"), ("resampled", ["evil", 1, 1]),
        ("design.formula.1", []), ("design.formula.0", 3), ("design.weights", [1]),
        ("design.labels", 3), ("design.labels", [3]), ("design.labels", {"signal": 3}),
        ("design.labels", {"signal": ""}), ("design.labels", {"no column": "X"}),
        ("design.na", {"everywhere": [None]}), ("design.na", {"everywhere": [np.nan]}),
        ("asked.arguments.formula", 3), ("asked.arguments.trusted", True), ("asked.arguments", {}),
        ("asked.method", 8), ("held_out", {"score_name": "R2", "score": 0.5, "n_rows": 0}),
        ("design.monotone", {"site": 1}), ("design.monotone", {"signal": 2}),
        ("subforest.trees.nodes.left", first(0)),  # a walk that never ends
        ("subforest.trees.nodes.left", first(10**6)), ("subforest.trees.nodes.left", first(-5)),
        ("subforest.trees.nodes.left", first(2**40)), ("subforest.trees.nodes.left", to(float)),
        ("subforest.trees.nodes.column", first(99)), ("subforest.trees.nodes.column", first(-7)),
        ("subforest.trees.nodes.code", split_codes(255)),  # no such edge or level: nodes(), rules()
        ("subforest.trees.start", swapped), ("subforest.trees.start", lambda a: a + 1),
        ("subforest.trees.start", lambda a: a[:1]),
        ("subforest.trees.start", lambda a: np.array([0, 2**62, -(2**63), -(2**62), a[-1]])),
        ("subforest.weights", lambda a: a[:-1]),
        ("subforest.weights", lambda a: a * 0),  # no tree moves anything: trees(), shape()
        ("subforest.weights", lambda a: -a), ("subforest.weights", lambda a: a + 1e300),
        ("subforest.gains", lambda a: a.T.copy()), ("subforest.gains", lambda a: -a),
        ("subforest.gains", lambda a: a * 0), ("subforest.gains", lambda a: a + 1),
        ("subforest.shares", lambda a: a * 0 + 1e-320), ("subforest.shares", lambda a: a * 2),
        ("subforest.shares", lambda a: -a), ("subforest.group_of", lambda a: swapped(a) + 1),
        ("subforest.groups", lambda a: ~a), ("subforest.importance", lambda a: a * 2),
        ("subforest.importance", lambda a: a * np.nan), ("path.importance", opposed),
        ("subforest.constant", lambda a: a + np.inf),
        ("subforest.trees.nodes.gain", lambda a: a - 1e9),
        ("model.trees.nodes.left", first(0)), ("model.trees.nodes.left", first(10**6)),
        ("model.trees.nodes.left", first(-5)), ("model.trees.nodes.column", first(99)),
        ("model.trees.nodes.column", first(-7)), ("model.trees.nodes.code", split_codes(255)),
        ("model.trees.start", swapped), ("model.trees.start", lambda a: a + 1),
        ("model.trees.start", lambda a: a[:1]),
        ("model.trees.start", lambda a: np.array([0, 2**62, -(2**63), -(2**62), a[-1]])),
        ("model.trees.nodes.left", lambda a: a * np.nan),
        ("model.trees.nodes.value", first(np.nan)), ("model.trees.nodes.value", lambda a: a[:-1]),
        ("model.trees.nodes.value", to("int64")), ("model.trees.nodes.value", lambda a: a + 1e300),
        ("model.trees.nodes.gain", lambda a: a * np.nan),
        ("model.trees.nodes.weight", lambda a: -a), ("model.trees.nodes.weight", to(float)),
        ("model.trees", None), ("model.n_additive", 10**6), ("model.stored_as", "evil"),
        ("model.groups", lambda a: a[:-1]), ("model.groups", swapped),
        ("model.importance", to("int64")), ("model.importance", lambda a: -a - 1),
        ("model.importance", lambda a: a + 1), ("model.constant", to("int64")),
        ("model.constant", lambda a: a[:0]), ("model.constant", lambda a: a * np.nan),
        ("path.selected", lambda a: a[:, :-1]), ("path.selected", to(float)),
        ("path.selected", lambda a: ~a), ("path.selected", last_row(swapped)),
        ("path.selected", last_row(lambda row: row | True)),
        ("path.tuning", lambda a: a[:1]), ("path.tuning", lambda a: a * np.nan),
        ("path.importance", to(bool)), ("path.importance", lambda a: a * 2),
        ("path.importance", lambda a: a - 1), ("path.importance", lambda a: a * np.nan),
        ("path.importance", lambda a: a[:1]),
        ("path.train_score", to("int64")), ("path.train_score", lambda a: a + np.inf),
        ("resampled.selected", lambda a: a[:1]),
        ("resampled.measured_associations", [2.0]), ("resampled.measured_places", [[[1, 0], 1.0]]),
        ("resampled.measured_places", [[[0, 99], 1.0]]), ("resampled.asked", 2),
        ("resampled.measured_places", [[[0, 1], 1.5]]), ("resampled.asked", 3),
        ("resampled.measured_places", [[[-1, 0], 1.0]]), ("design.column_names", added("evil")),
        ("design.state", lambda state: state | {"evil": {}}), ("design.units.items", [[-1]]),
        ("subforest.gains", lambda a: np.where(a > 0, np.inf, a)), ("choice.repeats", 0),
        ("design.units.names", lambda names: [names[0], *names[:-1]]), ("path.gap", []),
        ("design.units.item_costs", [np.inf]), ("design.units.keep", lambda keep: keep[:-1]),
        ("choice.k", 0), ("path.tuning", lambda a: a[:-1]),
        ("path.train_score", lambda a: a[:-1]), ("resampled.fitted", lambda a: a[:-1]),
        ("resampled.assessed", lambda a: a[:-1]),
        ("resampled.asked", 10**9), ("resampled.measured_places", [[[0], 1.0]]),
        ("resampled.measured_places", [[[0, 1], 0.0]]), ("design.response.counts", [1]),
        ("resampled.measured_associations", [-0.1]), ("subforest.shares", lambda a: a[:-1]),
    ],
    "data": [
        ("design.data.weight", lambda a: a * 0), ("design.data.weight", lambda a: a * 2**60),
        ("design.data.y", lambda a: a - 1), ("design.data.y", lambda a: a + 0.5),
        ("design.data.y", lambda a: a * 2), ("design.data.y", lambda a: a[:-1]),
        ("design.data.rows", lambda a: a[:-1]), ("design.data.columns", {}),
        ("design.data.columns.site.values", lambda a: a + 99),
        ("design.data.columns.site.values", lambda a: np.where(a == a.max(), a + 1, a)),
        ("design.data.columns.site.values", lambda a: a - 2), ("design.data.rows", lambda a: a[1:]),
        ("design.data.weight", lambda a: a * np.inf), ("design.data.weight", lambda a: -a),
        ("design.data.columns.site.levels", None), ("design.data.offset", np.zeros(3)),
        ("design.data.groups", np.zeros(3, dtype=int)), ("design.data.folds", np.zeros(3, int)),
    ],
    "imputed": [
        ("imputer", None), ("design.missing", "level"), ("design.missing", "evil"),
        *((f"imputer.{place}", value) for place, value in (
            ("margins", lambda m: m[:1]), ("margins", lambda m: m[::-1]), ("margins.0.0", swapped),
            ("margins.0.1", lambda a: a[:-1]), ("margins.0.1", lambda a: a * np.nan),
            ("margins.1.0", lambda a: a + 99), ("mean", lambda a: a[1:]), ("mean", to("int64")),
            ("mean", lambda a: a + np.inf), ("covariance", lambda a: a[:1]),
            ("covariance", lambda a: -a), ("covariance", first(9.0)),
        )),
    ],
    "searched": [
        ("path.trace.exchanges.0.0", 99), ("path.trace.exchanges.0.0", -99),
        ("path.trace.exchanges.0", lambda e: [e[0], e[0], *e[2:]]),  # a unit for itself
        ("path.trace.exchanges.0", [1, 2]), ("path.trace.exchanges.0.0", 1.5),
        ("path.trace.exchanges.0.2", np.nan), ("path.trace.exchanges.0.2", 1e300),
        ("path.trace.exchanges.0.3", -1.0), ("path.trace.exchanges.0.3", "x"),
        ("path.trace.rivals.0.0", [98, 99]), ("path.trace.rivals.0.0", lambda units: units[::-1]),
        ("path.trace.rivals.0.0", lambda units: units[:1]), ("path.trace.rivals", lambda r: r[:-1]),
        ("path.trace.rivals.0.1", np.inf), ("path.trace.rivals.0.2", -1.0),
        ("path.trace.rivals", []), ("path.trace.exchanges", 8), ("path.trace.n_judged", 7),
        ("path.trace.n_rivals", 9), ("path.trace.n_rivals", -1), ("path.trace.n_judged", 2**40),
        ("path.trace.n_rivals", "8"), ("path.trace.n_judged", GONE),
    ],
    "affected": [
        ("effect_record.effect", lambda a: a[:-1]), ("effect_record.effect", lambda a: a[:, :0]),
        ("effect_record.effect", lambda a: a * np.inf), ("effect_record.low", lambda a: a * np.nan),
        ("effect_record.effect", lambda a: a * np.nan), ("effect_record.effect", to("int64")),
        ("effect_record.low", lambda a: a + 1e9), ("effect_record.high", lambda a: a[1:]),
        ("effect_record.count", lambda a: a + 1), ("effect_record.count", lambda a: a - 99),
        ("effect_record.count", lambda a: a - 1),  # too few for an interval
        ("effect_record.count", to(float)), ("effect_record.curve_low", lambda a: a[1:]),
        ("effect_record.curve_low", lambda a: a + 1e300),
        ("effect_record.curve_high", lambda a: a - 1e9),
        ("effect_record.curve_size", lambda a: a[::-1] - 1),
        ("effect_record.curve_size", lambda a: a - a),
        ("effect_record.terms", ["signal"]), ("effect_record.terms", ["signal", "flag"]),
        ("effect_record.terms", 8), ("effect_record.directions", [["up"], ["sideways"]]),
        ("effect_record.directions", [["up"]]),
        ("effect_record.directions", [["up", "up"], ["up", "up"]]), ("effect_record.contrasts", []),
        ("effect_record.contrasts", lambda c: c[:1]), ("effect_record.contrasts.0.term", 9),
        ("effect_record.contrasts.0.term", "signal"), ("effect_record.contrasts.0.step", "evil"),
        ("effect_record.contrasts.0.start", 1), ("effect_record.n_resamples", 21),
        ("effect_record.n_resamples", 20.5), ("effect_record.n_resamples", None),
    ],
    "decided": [
        ("path.decisions.decision", lambda a: a + 2), ("path.decisions.decision", lambda a: a[:-1]),
        ("path.decisions.decision", to(float)), ("path.decisions.history", lambda a: a[:, :-1]),
        ("path.decisions.history", lambda a: a * np.inf),
        ("path.decisions.shadows", lambda a: a[:-1]),
        ("path.decisions.shadows", lambda a: a * np.nan),
    ],
    "boosted": [
        ("model.trees.nodes.code", split_codes(255)),
        ("model.trees.nodes.value", lambda a: a * np.nan), ("model.groups", lambda a: ~a),
        ("model.trees.nodes.weight", lambda a: -a),
    ],
    "linear": [
        *((place, GONE) for place in ("design", "rule", "chosen", "state", "example", "content")),
        ("terms", ["evil"]), ("terms", lambda t: t[:1]), ("terms", lambda t: [*t, t[0]]),
        ("names", lambda n: n[:-1]), ("names", lambda n: [*n[:-1], "evil"]), ("example", {}),
        ("example.site.levels", None), ("example.site.levels", ["a"]),
        ("example.site.levels", [f"{i}" for i in range(200)]), ("example.site.values", first(99)),
        ("example.dose.values", lambda v: v[:-1]), ("state", {}), ("splines", {}),
        ("splines.signal", swapped), ("splines.signal", lambda k: k[:2]),
        ("splines.signal", lambda k: k * np.nan), ("indicators", [["evil", 1]]),
        ("chosen", lambda c: c[:-1]), ("chosen", lambda c: ~c), ("chosen", to(float)),
        ("rule.estimate", lambda e: e[:-1]), ("rule.covariance", lambda c: c[:-1]),
        ("rule.centre", lambda c: c[:-1]), ("rule.family", "poisson"), ("rule.family", "evil"),
        ("rule.df", -1.0), ("baseline", {}), ("table.numbers", lambda n: n[:, :-1]),
        ("table.term", []), ("shown.column", ["x"]), ("content.rows", [["x"]]),
        ("content.title", 3), ("design.response.family", "poisson"), ("design.formula.0", "a ~ b"),
        ("references", {"site": {"column": 3, "label": "x"}}), ("n_used", "evil"),
    ],
    "classes": [
        ("model.constant", lambda a: a[:2]), ("design.response.classes", ["Bath", "York"]),
        ("design.terms.1.combinations", lambda c: [*c[:-1], [c[-1][0], 2]]),
        ("design.terms.1.combinations", lambda c: c[::-1]),
    ],
    "curved": [
        ("model.parts.0.knots", lambda k: k * 0), ("model.parts.0.knots", lambda k: k[:1]),
        ("model.parts.0.scale", 0.0), ("model.parts.0.scale", np.inf), ("model.trees", [1]),
        ("model.parts.0.centre", np.nan), ("model.parts.0.mean", lambda m: m[:0]),
        ("model.parts.0.mean", lambda m: m * np.inf), ("model.parts.0.slopes", lambda b: b[:-1]),
        ("model.parts.0.table", lambda t: t[:-1]),
        ("model.parts.1.slopes", np.zeros((1, 1))), ("model.parts", lambda parts: parts[:1]),
        ("model.n_additive", 1),
    ],
    "stacked": [("model.n_additive", 10**6), ("model.n_additive", -1)],
    "chosen": [
        ("scores", None), ("scores.scores", lambda a: a[:1]), ("scores.repeats", 0.5),
        ("scores.scores", lambda a: a[:, :1]), ("scores.full", lambda a: np.array([np.inf])),
        ("scores.spared", [0, 5]), ("scores.repeats", 3), ("scores.repeats", 0),
        ("scores.scores", lambda a: a[0]), ("scores.scores", lambda a: a * 1e200),
        ("p_values", np.zeros(3)), ("choice.k", 1),
    ],
    "times": [
        *((f"design.response.follow_up.{part}", value) for part, value in (
            ("n_rows", 61), ("n_rows", "60"), ("n_rows", True), ("n_events", 0), ("n_events", 61),
            ("n_events", 1), ("median", "a"), ("median", -1.0), ("levels", []),
            ("levels", [["Bath"], ["Bath"]]), ("levels", [["Bath"]]), ("levels", [["Bath"], []]),
            ("levels", [["Bath"], [{}]]), ("levels", [["Bath"], ["York"], ["Leeds"]]),
            ("span", [2.0, 1.0]), ("span", [-1.0, 2.0]), ("span", [1.0, np.inf]),
            ("median", np.inf),
        )),
        ("design.response.follow_up", None), ("design.response.family", "gaussian"),
        ("design.formula.0", "a ~ b + c"), ("baseline", None),
        ("design.formula.0", lambda text: text.replace("strata(site)", "site")),
        ("design.data.y", lambda y: y[:, 1]), ("design.data.y", lambda y: y[:, :3]),
        ("design.data.y", lambda y: y[:-1]), ("design.data.y", lambda y: y * np.nan),
        ("design.data.y", lambda y: y[:, [1, 0, 2, 3]]),
        ("design.data.y", lambda y: y - [0, 0, 0, 1]),
        ("design.data.y", lambda y: y + np.array([0, 0, 0.5, 0])),
        ("design.data.y", lambda y: y * [1, 1, 1, 0]),
        ("baseline.time", lambda t: t * 0), ("baseline.time", swapped),
        ("baseline.time", lambda t: t * np.inf),
        ("baseline.time", lambda t: t[1:]), ("baseline.begin", lambda b: b + 1),
        ("baseline.begin", swapped), ("baseline.begin", to(float)), ("baseline.hazard", swapped),
        ("baseline.hazard", lambda h: -h), ("baseline.hazard", lambda h: h[:, None]),
        ("baseline.level", lambda v: v * np.nan), ("baseline.level", lambda v: v[:1]),
        ("baseline.until", lambda u: u[:1]), ("baseline.until", lambda u: u * np.inf),
    ],
}  # fmt: skip
"""Changes of a file, by the kind of its fit: what no fit of the package has."""


CASES = [(name, place, value) for name, edits in EDITS.items() for place, value in edits]


@pytest.mark.parametrize(("name", "place", "value"), CASES, ids=[f"{a}-{b}" for a, b, _ in CASES])
def test_what_no_fit_has(file_of, name, place, value, tmp_path):
    path = changed(file_of(name), tmp_path, place, value)
    refused(path, errors=(ModelFileError, FormulaError))


@pytest.mark.parametrize("name", EDITS)
def test_what_is_not_changed_is_read(file_of, name):
    found = treeselect.load(file_of(name))
    assert found.coef.size if name == "linear" else found.selected


def test_what_a_fit_may_have(file_of, tmp_path):
    found = treeselect.load(changed(file_of("affected"), tmp_path, "asked", None))
    assert treeselect.load(found.save(tmp_path / "again")).selected == found.selected


def test_parts_that_no_single_change_makes():
    """Strata that do not follow each other; thresholds of more columns than there are."""
    none, two = np.zeros(2), np.array([1.0, 2.0])
    known = SimpleNamespace(levels=((), ()), column_names=("x",), n_levels=(None,))
    for middle, source in ((1, [0]), (3, [0, 0])):
        baseline = Baseline(two, np.array([0, middle, 2]), two, none, none)
        bins = ImportedBins((none[:1],), np.array(source), 1, False)
        for check, own in ((check_baseline, baseline), (_check_bins, bins)):
            is_refused = pytest.raises(ValueError, match="inconsistent")
            with is_refused if middle == 3 else contextlib.nullcontext():
                check(own, known)


def test_a_rival_is_another_set(file_of, tmp_path):
    selected = content_of(file_of("searched"))["content"]["path"]["selected"][-1]
    own = np.flatnonzero(selected).tolist()
    refused(changed(file_of("searched"), tmp_path, "path.trace.rivals.0.0", own))


# --- what must not be run, and must not harm -----------------------------------------------------


@pytest.mark.parametrize("name", ["fit", "data"])
@pytest.mark.parametrize(
    "attack",
    [
        "I(__import__('os').system('touch pwned'))",
        "I(site == '`' + str(__import__('os').system('touch pwned')) + '`')",
    ],
)
def test_a_formula_that_was_changed_to_run_code_is_refused(
    file_of, name, attack, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    document = content_of(file_of(name))
    for at in places(document["content"]):
        with contextlib.suppress(AttributeError, IndexError):
            put(document["content"], at, lambda text: text.replace("I(noise > 0)", attack))
    path = written(tmp_path, document)
    with pytest.raises(FormulaError, match="its formula is not allowed"):
        treeselect.load(path)
    assert not (tmp_path / "pwned").exists()


def test_a_call_that_was_put_into_the_times_is_refused(file_of, tmp_path):
    def edit(text):
        return text.replace("end, status", "open('x')")

    with pytest.raises(FormulaError, match="Can't call `open`"):
        treeselect.load(changed(file_of("times"), tmp_path, "design.formula.0", edit))


def test_transforms_learn_nothing_from_new_data(data, tmp_path):
    fit = treeselect.select("dose ~ scale(signal) + noise", data, k=1, **QUICK)
    path = fit.save(tmp_path / "fit")
    for learned in ({"scale(signal)": {}}, {"scale(noise)": {}}, [], 1, None):
        new = changed(path, tmp_path, "design.state.scale(signal)", learned)
        refused(new, match="formula and transforms")
    long = {"scale(signal)": [0.0] * 6000}
    refused(changed(path, tmp_path, "design.state.scale(signal)", long), match="too long")


def test_what_transforms_learned_may_be_nonsense_but_not_harmful(file_of, data, tmp_path):
    document = content_of(file_of("fit"))
    for nonsense in ({}, {"knots": ["a"]}, []):
        names = document["content"]["design"]["state"]
        document["content"]["design"]["state"] = dict.fromkeys(names, nonsense)
        with contextlib.suppress(ModelFileError, DataError):
            treeselect.load(written(tmp_path, document)).predict(data)


def test_trusted_is_a_truth_value(file_of):
    with pytest.raises(OptionError, match="`trusted` must be True or False"):
        treeselect.load(file_of("fit"), trusted="no")


def test_any_changed_number_is_an_error_or_harmless(file_of, data, tmp_path):
    """Whatever can be loaded can be used."""
    rng = np.random.default_rng(0)
    document = content_of(file_of("data"))
    content = document["content"]
    parts = [("content", part) for part in ("model", "subforest", "path")]
    held = [
        (*at, *inner)
        for at in parts
        for inner in places(content[at[1]])
        if inner and inner != ("trees",)
    ]
    values = [0, 1, -1, 3, 255, 1e-320, 1e300, np.nan, np.inf]
    for _ in range(40):
        at = held[rng.integers(len(held))]
        copy = content_of(file_of("data"))

        def edit(array):
            if not isinstance(array, np.ndarray):
                return array
            with np.errstate(all="ignore"):
                value = np.array(values)[rng.integers(len(values), size=1)].astype(array.dtype)
            array.flat[rng.integers(array.size)] = value[0]
            return array

        put(copy, at, edit)
        path = written(tmp_path, copy)
        with contextlib.suppress(ModelFileError):
            again = treeselect.load(path)
            again.predict(data.head(3))
            model = again.model
            for call in (model.trees, model.nodes, model.rules, again.tidy, again.summary):
                str(call())
            again.model.shape(again.selected[0])
