"""A folder with data and fits, and the command line in this process, which knows the kernels."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest
from survival_data import small_fit, small_times

import treeselect
from treeselect.cli.main import main


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str

    @property
    def words(self) -> str:
        """What was printed, without line ends."""
        return " ".join(self.stdout.split())


@pytest.fixture(scope="session")
def folder(mixed: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    mixed.to_csv(folder / "data.csv", index=False)
    mixed.to_parquet(folder / "data.parquet")
    formula = "died ~ signal + noise + flag"
    treeselect.select(formula, mixed, method="mrmr", k=2, seed=3).save(folder / "fit")
    small_times().to_csv(folder / "times.csv", index=False)
    small_fit().save(folder / "times")
    return folder


@pytest.fixture
def run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Done]:
    """Runs a command in the folder: words, a formula behind the first of them, and more words."""
    monkeypatch.chdir(folder)

    def run(words: str, formula: str | None = None, *more: str) -> Done:
        command, *others = words.split()
        asked = [command, *([formula] if formula else []), *others, *more]
        return Done(main(asked), *capsys.readouterr())

    return run


@pytest.fixture
def tables(folder: Path) -> Callable[[str], Any]:
    """What is in a file of tables."""
    return lambda name: json.loads((folder / name).read_text(encoding="utf-8"))
