"""Opening of files; codes for missing values."""

import sys
import zipfile
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import pyreadstat
import pytest

import treeselect
from treeselect.errors import DataError, MissingPackageError, OptionError
from treeselect.frames import files
from treeselect.frames.files import labels_in
from treeselect.frames.opening import read_codes
from treeselect.frames.reading import read_data
from treeselect.results import calls

STUDY = pd.DataFrame(
    {
        "sex": [1.0, 2, 1, 9, 2], "age": [20.0, 30, 99, 41, 50],
        "seen": pd.to_datetime(["2020-01-01", "2020-02-01", None, "2021-01-01", "2022-01-01"]),
        "ward": ["b", "", "a", "a", "b"], "score": [1.0, 2, 3, 4, 97],
    }
)  # fmt: skip
LABELS = {"sex": "Sex", "age": "Age (years)"}
VALUES = {"sex": {1: "male", 2: "female", 9: "refused"}, "score": {97: "very many"}}
WRITERS = {
    "study.sav": pyreadstat.write_sav,
    "study.zsav": lambda frame, path, **about: pyreadstat.write_sav(
        frame, path, compress=True, **about
    ),
    "study.dta": pyreadstat.write_dta,
    "study.xpt": pyreadstat.write_xport,
    "study.por": pyreadstat.write_por,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for name, write in WRITERS.items():
        about = {"column_labels": LABELS}
        if not name.endswith(("xpt", "por")):
            about["variable_value_labels"] = VALUES
        if name.endswith("sav"):
            about["missing_ranges"] = {"sex": [9], "age": [{"lo": 98, "hi": 99}]}
        write(STUDY, str(folder / name), **about)
    return folder


@pytest.mark.parametrize("name", WRITERS)
def test_statistical_files(folder, name):
    path = folder / name
    frame = treeselect.read(path)
    frame.columns = frame.columns.str.lower()  # portable files have capitals only
    assert frame["score"].tolist() == STUDY["score"].tolist()  # one label makes no factor
    assert frame["seen"].dtype.kind == "M"
    assert frame["seen"].isna().tolist() == [False, False, True, False, False]
    assert frame["ward"].fillna("-").tolist() == ["b", "-", "a", "a", "b"]
    levels = {
        "sav": ["male", "female"],
        "zsav": ["male", "female"],
        "dta": [*VALUES["sex"].values()],
    }
    expected = levels.get(path.suffix[1:])
    if expected is None:
        assert frame["sex"].tolist() == STUDY["sex"].tolist()
    else:
        assert frame["sex"].cat.categories.tolist() == expected
        assert frame["sex"].fillna("male").tolist()[:3] == ["male", "female", "male"]
        assert frame["age"].isna().sum() == (path.suffix != ".dta")
    if not name.endswith("por"):
        assert frame.attrs["labels"] == LABELS == labels_in(path)


def test_a_fit_takes_such_paths_and_labels_of_values_are_codes(folder):
    usual = {"method": "rrf", "n_trees": 5, "k": 1, "seed": 1}
    fit = treeselect.select("age ~ sex + score", folder / "study.dta", **usual)
    assert fit.data.design.labels["sex"] == "Sex"
    np.testing.assert_array_equal(
        fit.predict(folder / "study.dta"), fit.predict(treeselect.read(folder / "study.dta"))
    )
    fit = treeselect.select("age ~ score + sex", folder / "study.dta", k=2, seed=1, method="mrmr")
    new, path = STUDY.assign(score=97), str(folder / "new.dta")
    pyreadstat.write_dta(new, path, variable_value_labels=VALUES)
    assert treeselect.read(path)["score"].cat.categories.tolist() == ["very many"]
    assert fit.predict(path).notna().all()
    assert len(fit.refit("glm", missing="indicator").predict(path)) == len(new)
    found = treeselect.read(folder / "study.dta", na={"sex": "refused"})["sex"]
    assert found.cat.categories.tolist() == ["male", "female"]
    with pytest.raises(OptionError, match=r"`sex`, which holds text.*\n  Found: `9`; .*`refused`"):
        treeselect.read(folder / "study.dta", na={"sex": 9})


def test_labels_that_stand_twice_and_encodings_that_are_not_said(tmp_path):
    path = tmp_path / "x.dta"
    pyreadstat.write_dta(
        pd.DataFrame({"x": [1, 2, 3]}), str(path),
        variable_value_labels={"x": {1: "low", 2: "high", 3: "high"}},
    )  # fmt: skip
    assert treeselect.read(path)["x"].tolist() == ["low", "high (2)", "high (3)"]
    path = tmp_path / "x.xpt"
    pyreadstat.write_xport(pd.DataFrame({"x": ["aQb"]}), str(path))
    path.write_bytes(path.read_bytes().replace(b"aQb", b"a\xe9b"))
    assert treeselect.read(path, encoding="latin-1")["x"].tolist() == ["aéb"]
    old = {"version": 114, "variable_labels": {"x": "aéb"}}  # its reader assumes Windows-1252
    pd.DataFrame({"x": ["aéb"]}).to_stata(tmp_path / "old.dta", **old)
    found = treeselect.read(tmp_path / "old.dta", encoding="cp1251")
    assert [*found["x"], found.attrs["labels"]["x"]] == ["aйb", "aйb"]


@pytest.mark.parametrize("ending", ["sav", "zsav", "por", "dta", "sas7bdat", "xpt", "xlsx", "xls"])
@pytest.mark.parametrize("content", [b"", b"$FL2@(#) SPSS", bytes(range(256)) * 8])
def test_damaged_files_are_refused(tmp_path, ending, content):
    path = tmp_path / f"x.{ending}"
    path.write_bytes(content)
    with pytest.raises(DataError, match="Can't read the file"):
        treeselect.read(path)
    assert labels_in(path) == {}


def _book(path, **sheets):
    with pd.ExcelWriter(path, engine="openpyxl") as writer:
        for name, frame in sheets.items():
            frame.to_excel(writer, sheet_name=name, index=False, header=bool(len(frame.columns)))
    return path


def test_workbooks(tmp_path):
    path = _book(tmp_path / "x.xlsx", notes=pd.DataFrame(), data=STUDY)
    frame = treeselect.read(path)
    pd.testing.assert_frame_equal(frame, read_data(path))
    assert frame["seen"].dtype.kind == "M"
    assert frame["age"].tolist() == STUDY["age"].tolist()
    assert frame["ward"].isna().tolist() == [False, True, False, False, False]
    assert treeselect.read(path, na={"age": 99})["age"].isna().sum() == 1


def test_workbooks_that_leave_a_question_or_unpack_to_too_much(tmp_path, monkeypatch):
    two = _book(tmp_path / "two.xlsx", one=STUDY[["age"]], other=STUDY[["sex", "age"]])
    with pytest.raises(DataError, match="single sheet") as caught:
        treeselect.select("age ~ .", two)
    assert f"`treeselect.read({str(two)!r}, sheet='one')`" in str(caught.value)
    assert list(treeselect.read(two, sheet="other")) == ["sex", "age"]
    file = files.DataFile(str(two), sheet="other")
    assert calls.data_text(file, (0, 0)) == f"{two.name}, sheet other"
    assert calls._source(file) == f"treeselect.read({str(two)!r}, sheet='other')"
    with pytest.raises(DataError, match="must have the sheet `three`"):
        treeselect.read(two, sheet="three")
    with pytest.raises(OptionError, match="`encoding` must be given for CSV"):
        treeselect.read(two, sheet="one", encoding="latin-1")
    titled = pd.DataFrame([["A title", None], ["a", "b"], [1, 2]])
    with pytest.raises(DataError, match="1 without a name"):
        treeselect.read(_book(tmp_path / "title.xlsx", s=titled.set_axis(["A title", ""], axis=1)))
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(DataError, match="more than once: `a`"):
        treeselect.read(_book(tmp_path / "twice.xlsx", s=twice))
    with pytest.raises(DataError, match="empty sheets only"):
        treeselect.read(_book(tmp_path / "none.xlsx", s=pd.DataFrame()))
    monkeypatch.setattr(files, "LARGEST", 1_000_000)
    with zipfile.ZipFile(tmp_path / "x.xlsx", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/sheet1.xml", b" " * 2_000_000)
    with pytest.raises(DataError, match="unpacked"):
        treeselect.read(tmp_path / "x.xlsx")


def test_relations():
    relation = duckdb.from_df(STUDY)
    fit = treeselect.select("score ~ age + sex", relation, k=1, seed=1, method="rrf")
    assert len(fit.predict(duckdb.from_df(STUDY))) == 5


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "x.csv", "sheet": "x"},
        {"path": "x.xlsx", "sheet": 1},
        {"path": "x.xlsx", "encoding": "utf-8"},
    ],
)
def test_arguments_that_do_not_fit(arguments):
    with pytest.raises(OptionError):
        treeselect.read(**arguments)


@pytest.mark.parametrize(
    ("package", "extra", "arguments"),
    [
        ("pyreadstat", "stats", {"path": "study.sav"}),
        ("python_calamine", "excel", {"path": "book.xlsx"}),
    ],
)
def test_packages_that_are_missing_are_named(folder, monkeypatch, package, extra, arguments):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.chdir(folder)
    (folder / "book.xlsx").write_bytes(b"")
    with pytest.raises(MissingPackageError, match=rf'"treeselect\[{extra}\]"'):
        treeselect.read(**arguments)


# --- codes for missing values ---------------------------------------------------------------------


FRAME = pd.DataFrame(
    {
        "n": [1.0, -9.0, 3.0, 99.0], "t": ["1", "2 ", " ?", "-9"], "s": ["a", "? ", "b", "c"],
        "b": [True, False, True, False], "c": pd.Categorical([1, 9, 2, 9]),
        "i": pd.array([1, 99, None, 4], dtype="Int64"), "d": [Decimal(1), Decimal("-9.1")] * 2,
        "f": np.array([1, -9.1, 3, 4], dtype=np.float32),
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("na", "column", "expected"),
    [
        (-9, "n", [1, None, 3, 99]),
        ([-9, 99], "n", [1, None, 3, None]),
        (["?", -9], "t", [1, 2, None, None]),
        ("?", "t", [1, 2, None, -9]),
        ("?", "s", ["a", None, "b", "c"]),
        ([0, 1], "b", [True, False, True, False]),
        (9, "c", [1, None, 2, None]),
        ({"i": 99}, "i", [1, None, None, 4]),
        (-9.1, "d", [1, None, 1, None]),
        (-9.1, "f", [1, None, 3, 4]),
        ({"i": [99]}, "n", [1, -9, 3, 99]),
    ],
)
@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_codes_become_missing(na, column, expected, library):
    frame = FRAME if library == "pandas" else FRAME.convert_dtypes(dtype_backend="pyarrow")
    found = read_codes(na).applied(frame)[column]
    assert [None if pd.isna(v) else v for v in found.tolist()] == expected
    assert FRAME["n"].tolist() == [1, -9, 3, 99]


def test_columns_without_codes_and_unknown_ones():
    frame = read_codes("none").applied(FRAME)
    assert frame is FRAME
    assert isinstance(read_codes(["?"]).applied(FRAME)["c"].dtype, pd.CategoricalDtype)
    with pytest.raises(OptionError, match=r"`nn`, named in `na`.*\n  Did you mean `n`\?"):
        read_codes({"nn": 1}).check(FRAME.columns)


@pytest.mark.parametrize("na", [True, np.nan, [None], [1, [2]], {"n": {}}, {3: "?"}, object()])
def test_other_values_are_refused(na):
    with pytest.raises(OptionError, match="`na`"):
        read_codes(na)


@pytest.fixture(scope="module")
def survey():
    rng = np.random.default_rng(5)
    age = rng.integers(20, 80, 120).astype(float)
    died = (age + rng.normal(0, 10, 120) > 50).astype(int)
    known = pd.DataFrame({"died": died, "age": age, "noise": rng.normal(size=120)})
    known.loc[::7, "age"] = np.nan
    known.loc[3, "died"] = pd.NA
    coded = known.astype({"died": float}).fillna({"died": 9})
    coded["age"] = [f"{v:.0f}" if v == v else "?" for v in known["age"]]
    return known.astype({"died": float}), coded


def test_a_fit_reads_codes_as_missing_then_and_in_new_data(survey, tmp_path):
    known, coded = survey
    usual = {"method": "rrf", "n_trees": 5, "k": 1, "seed": 1}
    codes = {"died": 9, "age": "?"}
    plain = treeselect.select("died ~ .", known, **usual)
    fit = treeselect.select("died ~ .", coded, na=codes, **usual)
    assert 'na={"died": 9, "age": "?"}' in fit._fit.call.text
    path = tmp_path / "fit.treeselect"
    fit.save(path)
    expected = plain.predict(known)
    for one in (fit, treeselect.load(path)):
        np.testing.assert_array_equal(one.predict(coded), expected)
        np.testing.assert_array_equal(one.predict(known), expected)
    file = tmp_path / "new.csv"
    coded.to_csv(file, index=False)
    np.testing.assert_array_equal(fit.predict(file), expected)
    few = coded[coded["age"] != "?"]  # without a code, the text is numbers all the same
    np.testing.assert_array_equal(fit.predict(few), plain.predict(known.loc[few.index]))


@pytest.mark.filterwarnings("ignore:Some subgroups")
def test_codes_are_missing_to_linear_models_strata_and_columns_that_no_term_uses(survey):
    _, coded = survey
    coded = coded.assign(noise=coded["noise"].mask(coded.index < 4, -9.0), time=coded.index + 1.0)
    coded["site"] = np.where(coded.index % 5 == 0, "?", "abc")
    usual = {"na": {"died": 9, "site": "?", "noise": -9}, "method": "mrmr", "k": 1, "seed": 1}
    fit, new = treeselect.select("died ~ noise", coded, **usual), coded.head(12)
    assert np.isnan(fit.refit("glm").predict(new)).tolist() == (new["noise"] == -9).tolist()
    assert fit.performance().by("site").tidy()["group"].tolist() == ["abc", "missing"]
    fit = treeselect.select("Surv(time, died) ~ noise + strata(site)", coded, **usual)
    hazard = fit.predict(new, type="cumulative_hazard", times=[20.0])
    assert hazard.isna().iloc[:, 0].tolist() == (new["site"] == "?").tolist()


def test_text_of_numbers_is_numbers_in_a_sample_of_the_rows_too(tmp_path):
    y = np.random.default_rng(1).normal(size=300).round(3)
    data = pd.DataFrame({"y": y, "self": [f"{v}" if v > -2 else "?" for v in y]})
    data.to_parquet(tmp_path / "1.parquet")
    for given in (data, tmp_path):
        fit = treeselect.select("y ~ self", given, na="?", rows=60, method="mrmr", k=1, seed=1)
        assert "numeric" in fit.summary().content.rows[0]
