import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import OptionError
from treeselect.frames.opening import read_codes

FRAME = pd.DataFrame(
    {
        "n": [1.0, -9.0, 3.0, 99.0],
        "t": ["1", "2 ", " ?", "-9"],
        "s": ["a", "? ", "b", "c"],
        "b": [True, False, True, False],
        "c": pd.Categorical([1, 9, 2, 9]),
        "i": pd.array([1, 99, None, 4], dtype="Int64"),
    }
)


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
        ({"i": [99]}, "n", [1, -9, 3, 99]),
    ],
)
@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_codes_become_missing(na, column, expected, library):
    frame = FRAME if library == "pandas" else FRAME.convert_dtypes(dtype_backend="pyarrow")
    found = read_codes(na).applied(frame)[column]
    assert [None if pd.isna(v) else v for v in found.tolist()] == expected
    assert FRAME["n"].tolist() == [1, -9, 3, 99]


def test_columns_without_codes_are_not_copied():
    frame = read_codes("none").applied(FRAME)
    assert frame is FRAME
    assert isinstance(read_codes(["?"]).applied(FRAME)["c"].dtype, pd.CategoricalDtype)


@pytest.mark.parametrize("na", [True, np.nan, [None], [1, [2]], {"n": {}}, {3: "?"}, object()])
def test_other_values_are_refused(na):
    with pytest.raises(OptionError, match="`na`"):
        read_codes(na)


def test_unknown_columns_are_refused():
    with pytest.raises(OptionError, match=r"Not found: `nn`. Did you mean `n`\?"):
        read_codes({"nn": 1}).check(FRAME.columns)


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
