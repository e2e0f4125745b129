"""The JSON has the documented form, and all that it holds is documented."""

from __future__ import annotations

import json

import jsonschema
import pytest

from treeselect._version import __version__
from treeselect.cli.main import main
from treeselect.cli.schema import NAMES
from treeselect.errors import TreeselectWarning


@pytest.fixture(scope="module")
def written(mixed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("schema")
    data, out = str(folder / "data.csv"), {name: str(folder / f"{name}.json") for name in NAMES}
    mixed.to_csv(data, index=False)
    formula = ["died ~ signal + colour + flag", data]
    much = ["--resamples", "3", "--effects", "--coefficients", "--performance", "2"]
    quick = ["-k", "1", "--set", "n_trees=10", "--seed", "1", *much]
    with pytest.warns(TreeselectWarning, match="fewer than 20 resamples"):
        assert main(["select", *formula, *quick, "--json", out["select"]]) == 0
    compared = ["-m", "mrmr,lasso", "-k", "1", "--folds", "2", "--seed", "1"]
    assert main(["compare", *formula, *compared, "--json", out["compare"]]) == 0
    assert main(["methods", "--json", out["methods"]]) == 0
    found = {}
    for name, path in out.items():
        with open(path, encoding="utf-8") as file:
            found[name] = json.load(file)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_has_the_documented_form(written, name, capsys):
    assert main(["schema", name]) == 0
    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(strict(schema))
    assert [error.message for error in validator.iter_errors(written[name])] == []
    assert written[name]["treeselect"] == __version__
    broken = {key: value for key, value in written[name].items() if key != "schema"}
    assert not validator.is_valid(broken)


def strict(schema):
    """The same, in which what is not documented is an error."""
    if isinstance(schema, dict):
        closed = {key: strict(value) for key, value in schema.items()}
        return closed | ({"additionalProperties": False} if "properties" in schema else {})
    return schema


def test_the_test_has_all_tables(written):
    schema = {*written["select"]}
    assert {"effects", "stability", "coefficients", "performance", "exchanges"} <= schema
