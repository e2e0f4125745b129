"""Completion scripts know all flags, and a shell uses them."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from treeselect.cli.completion import SHELLS, script_path
from treeselect.cli.main import main, make_parser

FLAG = {"bash": r"--([a-z][a-z-]+)", "zsh": r"--([a-z][a-z-]+)", "fish": r"-l ([a-z][a-z-]+)"}
"""Flags in a script."""


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_know_the_flags(shell, capsys):
    """After a change of flags run ``python tests/cli/completions.py``."""
    (commands,) = make_parser()._subparsers._group_actions
    known = {
        name[2:]
        for command in commands.choices.values()
        for name in command._option_string_actions
        if name.startswith("--")
    }
    assert main(["completion", shell]) == 0
    said = capsys.readouterr().out
    assert known | {"version"} <= set(re.findall(FLAG[shell], said))


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
@pytest.mark.parametrize(
    ("typed", "found"),
    [("sel", "select"), ("select --gr", "--groups"), ("select --config st", "study.toml"),
     ("schema com", "compare"), ("predict m", "model.file")],
)  # fmt: skip
def test_bash_completes(tmp_path, typed, found):
    for name in ("study.toml", "model.file"):
        (tmp_path / name).write_text("")
    words = f"treeselect {typed}".split()
    asked = f"""
        source {script_path("bash")}
        COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}
        _shtab_treeselect; echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "--norc", "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == [found], done.stderr
