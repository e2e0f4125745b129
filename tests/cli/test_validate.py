"""The command that checks an installation."""

import re
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from treeselect.cli import validate
from treeselect.cli.main import main

ROOT = Path(__file__).parents[2]


def test_this_installation_answers_as_it_should(tmp_path, capsys, monkeypatch):
    select, plain = validate._select, []

    def once(data, **more):
        """The plain question, which is asked beside each of the others, is answered once."""
        if more or not isinstance(data, pd.DataFrame) or data.columns[0] != "pclass":
            return select(data, **more)
        plain[:] = plain or [select(data)]
        return plain[0]

    monkeypatch.setattr(validate, "_select", once)
    page = tmp_path / "page.html"
    assert main(["validate", "--report", str(page)]) == 0
    assert "all 31 checks passed" in capsys.readouterr().out
    assert page.read_text(encoding="utf-8").count("<td>passed</td>") == 31


def test_what_fails_is_said(monkeypatch, tmp_path, capsys):
    right = {"selected": ["a"], "numbers": [1.0, 2.0]}
    other = {"a": {"selected": ["b"]}, "b": {**right, "numbers": [1.0, 2.1]}, "c": right}
    checks = [("answers", name, partial(validate._ask, lambda: right, {**right, **answer}))
              for name, answer in other.items()]  # fmt: skip
    checks.append(("answers", "d", partial(validate._model, "unknown")))
    monkeypatch.setattr(validate, "_checks", lambda: iter(checks))
    page = tmp_path / "page.md"
    with pytest.raises(SystemExit) as end:
        main(["validate", "--report", str(page)])
    assert end.value.code == 1
    said = capsys.readouterr().out
    for text in ("3 of 4 checks failed", "selects `a`, not `b`", "[1.0, 2.0], not [1.0, 2.1]",
                 "KeyError: 'unknown'"):  # fmt: skip
        assert text in said
    assert "passed" in page.read_text(encoding="utf-8")


def test_what_the_page_on_validation_names_exists():
    page = ROOT / "docs" / "guides" / "validation.md"
    if not page.exists():
        pytest.skip("needs the repository")
    paths = re.findall(r"`((?:tests|benchmarks)/[^`]*)`", page.read_text(encoding="utf-8"))
    assert len(paths) > 15
    assert not [path for path in paths if not (ROOT / path).exists()]
