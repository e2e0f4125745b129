"""The commands in the guide and in the help run as they stand."""

import re
import shlex
from pathlib import Path

import treeselect
from treeselect.cli.main import main, make_parser

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "command-line.md"


def test_the_commands_of_the_guide_and_the_examples_of_the_help(tmp_path, monkeypatch, capsys):
    (commands,) = make_parser()._subparsers._group_actions
    for name, command in commands.choices.items():
        lines = [line.strip() for line in command.epilog.splitlines()[1:]]
        assert lines, name
        for line in lines:
            found = re.search(r"treeselect [^>)]*", line)[0]
            _, *words = shlex.split(found)
            assert make_parser().parse_args(words).command.name == name
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    data = treeselect.datasets.load("titanic").iloc[::8]
    data.to_csv("titanic.csv")
    data.to_csv("new.csv")
    ran = 0
    for block in re.findall(r"```bash\n(.*?)```", text, flags=re.DOTALL):
        for line in block.splitlines():
            program, *words = shlex.split(re.sub(r" > \S+$", "", line))
            if program == "treeselect":
                quick = [] if "-m" in words or words[0] != "select" else ["-m", "mrmr"]
                assert main([*words, *quick]) == 0, capsys.readouterr().err
                ran += 1
    assert ran == 3
    assert Path("smaller.json").exists()
