"""The configuration file repeats a study, and refuses what is none."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeselect.cli.config import toml_text
from treeselect.cli.main import main

texts = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.one_of(texts, st.booleans(), st.integers(-(2**60), 2**60), st.floats(allow_nan=False)),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(texts, inner)),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(texts, values))
def test_toml_reads_what_is_written(written):
    assert tomllib.loads(toml_text(written)) == written


@pytest.fixture(scope="module")
def folder(mixed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("config")
    mixed.to_csv(folder / "data.csv", index=False)
    return folder


@pytest.fixture
def run(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    return lambda *arguments: (main(arguments), *capsys.readouterr())


def test_a_saved_study_is_repeated(run, folder):
    flags = [
        "select", "died ~ signal + noise + flag + site", "data.csv", "-m", "grrf", "-k", "2",
        "--set", "n_trees=20", "--set", "max_depth=none", "--groups", "a panel=noise,flag",
        "--keep", "signal", "--labels", 'signal=The "signal", = 1', "--new-levels", "other",
        "--scoring", "neg_log_loss", "--resamples", "3", "--performance", "2", "--jobs", "1",
        "--json", "s.json", "--report", "s.html",
    ]  # fmt: skip
    code, said, error = run(*flags, "--save-config", "study.toml")
    assert (code, error) == (0, "")
    assert said.endswith("Configuration: study.toml\n")
    saved = tomllib.loads((folder / "study.toml").read_text(encoding="utf-8"))
    assert saved["groups"] == {"a panel": ["noise", "flag"]}
    assert saved["seed"] > 0  # drawn
    first = (folder / "s.json").read_text(encoding="utf-8")
    assert run("select", "--config", "study.toml")[0] == 0
    assert (folder / "s.json").read_text(encoding="utf-8") == first
    query = ("--sql", "select * from 'data.csv'")
    assert run("select", "--config", "study.toml", *query, "-k", "1", "--performance", "0")[0] == 0
    tables = json.loads((folder / "s.json").read_text(encoding="utf-8"))
    assert tables["glance"]["k"] == 1
    assert "performance" not in tables


def test_a_saved_comparison_is_repeated(run, folder):
    flags = [
        "compare", "died ~ signal + noise", "data.csv", "-m", "mrmr,rrf", "-k", "1,2",
        "--folds", "2", "--set", "rrf.n_trees=10", "--json", "c.json",
    ]  # fmt: skip
    assert run(*flags, "--save-config", "compared.toml")[0] == 0
    first = json.loads((folder / "c.json").read_text(encoding="utf-8"))
    assert "n_trees=10" in first["call"]
    assert run("compare", "--config", "compared.toml")[0] == 0
    again = json.loads((folder / "c.json").read_text(encoding="utf-8"))
    for name in ("call", "seed", "best", "differences", "terms"):
        assert again[name] == first[name]
    for found in (first, again):  # times differ
        found["scores"] = [row["score"] for row in found["tidy"]]
    assert again["scores"] == first["scores"]


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("fold_group = 'site'", "Did you mean `fold_groups`"),
        ("new-levels = 'other'", "Did you mean `new_levels`?"),
        ("nothing_like_it = 1", "Keys: `formula`, `data`, `method`"),
        ("save_config = 'x'", "Can't use the key `save_config`"),
        ("formula = 3", "`formula` must be text"),
        ("effects = 'yes'", "`effects` must be true or false"),
        ("set = 3", "`set` must be a table"),
        ("set = {gama = 1}", "gama"),
        ("costs = {signal = 'dear'}", "costs"),
        ("k = 1.5", "`k` must be a whole number"),
        ("seed = 2020-01-01", "`seed` must be a whole number"),
        ("performance = 'x'", "`performance` must be a whole number"),
        ("report = 3", "`report` must be text"),
        ("k = ", "must be TOML in UTF-8"),
        ("a = " + "[" * 5000, "must be TOML in UTF-8"),
        (b"\xff", "must be TOML in UTF-8"),
    ],
)
def test_what_is_refused(run, folder, written, says):
    content = written if isinstance(written, bytes) else written.encode()
    (folder / "wrong.toml").write_bytes(content)
    code, said, error = run("select", "died ~ .", "data.csv", "--config", "wrong.toml")
    assert (code, said) == (2, "")
    assert error.startswith("treeselect: ")
    assert says in error
    assert "\n\n" not in error


def test_a_missing_file_and_missing_data(run, folder, capsys):
    code, _, error = run("select", "--config", "nowhere.toml")
    assert code == 2
    assert "Can't read the configuration file `nowhere.toml`" in error
    (folder / "part.toml").write_text('formula = "died ~ ."\n')
    with pytest.raises(SystemExit) as ended:
        main(["select", "--config", "part.toml"])
    assert ended.value.code == 2
    assert "the following arguments are required: DATA" in capsys.readouterr().err
    code, _, error = run("select", "died ~ .", "data.csv", "--save-config", "no/where.toml")
    assert code == 2
    assert "Can't write the configuration" in error
