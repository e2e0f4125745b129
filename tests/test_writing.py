"""Every writer: whole or not at all, whatever happens and whatever stands at its place."""

import errno
import functools
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest

import treeselect
from treeselect.cli.main import main
from treeselect.errors import ModelFileError, OptionError, TreeselectError
from treeselect.writing import check_place, write_file

OLD = b"as it was"


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame(
        {"y": [1.0, 2.0, 3.0, 5.0] * 5, "x": [0, 1, 2, 3] * 5, "z": [1, 0, 2] * 6 + [1, 0]}
    )


@pytest.fixture(scope="module")
def fit(frame):
    return treeselect.select("y ~ x + z", frame, method="mrmr", k=1, seed=1)


@pytest.fixture(scope="module")
def found(frame):
    return treeselect.compare("y ~ x + z", frame, ["mrmr"], k=1, folds=2, seed=1)


@pytest.fixture(scope="module")
def folder(frame, fit, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    frame.to_csv(folder / "data.csv", index=False)
    fit.save(folder / "model")
    return folder


def command(*arguments):
    """The command line in this process; an error of it is raised as the error that it is."""
    if main([*map(str, arguments)]) != 0:
        raise OptionError("the command failed")


@pytest.fixture
def writers(fit, found, folder):
    """Each writes a file to the path that it is given."""
    data, model = folder / "data.csv", folder / "model"
    select = ("select", "y ~ x + z", data, "-m", "mrmr", "-k", "1", "--seed", "1")
    compare = ("compare", "y ~ x + z", data, "-m", "mrmr", "-k", "1", "--folds", "2")
    return {
        "file": lambda path: write_file(Path(path), b"new"), "save": fit.save, "report": fit.report,
        "comparison": found.report, "--save": lambda path: command(*select, "--save", path),
        "--report": lambda path: command(*select, "--report", path),
        "--json": lambda path: command(*select, "--json", path),
        "compare --json": lambda path: command(*compare, "--json", path),
        "-o": lambda path: command("predict", model, data, "-o", path),
    }  # fmt: skip


WRITERS = ["file", "save", "report", "comparison", "--save", "--report", "--json",
           "compare --json", "-o"]  # fmt: skip


each_kind = pytest.mark.parametrize("name", ["file", "save", "-o"])
"""Bytes, a record and a table: what is asked of `write_file`, which all writers use."""


def files(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def old(tmp_path):
    """A file that is there before."""
    (tmp_path / "old").write_bytes(OLD)
    return tmp_path / "old"


def is_as_it_was(old):
    return files(old.parent) == ["old"] and old.read_bytes() == OLD


@each_kind
def test_a_new_file_has_the_mode_of_new_files(writers, name, tmp_path):
    before = os.umask(0o027)
    try:
        writers[name](tmp_path / "new")
    finally:
        os.umask(before)
    assert files(tmp_path) == ["new"]
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


@each_kind
@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_mode_and_links_are_kept(writers, name, mode, tmp_path):
    """What was private stays private: a model may hold the data of patients."""
    (tmp_path / "place").mkdir()
    old, link = tmp_path / "place" / "old", tmp_path / "link"
    old.write_bytes(OLD)
    old.chmod(mode)
    link.symlink_to(old)
    writers[name](link)
    assert link.is_symlink()
    assert old.read_bytes() != OLD
    assert stat.S_IMODE(old.stat().st_mode) == mode
    assert files(tmp_path) == ["link", "place"]
    assert files(tmp_path / "place") == ["old"]


def system_error(number):
    return OSError(number, os.strerror(number))


def failing(error):
    def fail(*arguments, **options):
        raise error

    return fail


@pytest.mark.parametrize(
    ("name", "call", "number"),
    [
        ("file", "fsync", errno.ENOSPC),
        ("file", "fsync", errno.EDQUOT),
        ("save", "fsync", errno.ENOSPC),
        *((name, "replace", errno.EIO) for name in WRITERS),
    ],
)
def test_a_full_disk_leaves_the_old_file(writers, name, call, number, old, monkeypatch, capsys):
    monkeypatch.setattr(os, call, failing(system_error(number)))
    with pytest.raises(ModelFileError if name == "save" else OptionError) as raised:
        writers[name](old)
    said = str(raised.value) + capsys.readouterr().err
    assert str(old) in said
    assert os.strerror(number) in said
    assert "Traceback" not in said
    assert is_as_it_was(old)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_writer_that_is_stopped_leaves_the_old_file(error, old):
    def write(file):
        file.write(b"half of it")
        raise error

    with pytest.raises(error):
        write_file(old, write)
    assert is_as_it_was(old)


def test_too_little_memory_is_an_error_of_the_package(fit, tmp_path, monkeypatch):
    with pytest.raises(OptionError, match=r"old`\.\n  There is not enough memory\."):
        write_file(tmp_path / "old", failing(MemoryError()))
    fit.save(tmp_path / "m")
    monkeypatch.setattr("treeselect.selection.read_record", failing(MemoryError()))
    with pytest.raises(ModelFileError, match=r"Can't read `m`\.\n  There is not enough memory\."):
        treeselect.load(tmp_path / "m")


PROGRAM = """
import sys
from pathlib import Path
from treeselect.errors import TreeselectError
from treeselect.writing import write_file
path = Path(sys.argv[1])
if sys.argv[2] == "limit":
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
    try:
        write_file(path, b"x" * 100_000)
    except TreeselectError as error:
        print(error)
else:
    def write(file):
        file.write(b"half of it")
        file.flush()
        print("begun", flush=True)
        sys.stdin.read()
    write_file(path, write)
"""


def python(*arguments, **options):
    return [sys.executable, "-c", PROGRAM, *map(str, arguments)]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are those of Unix")
def test_a_file_that_outgrows_its_limit_leaves_the_old_one(old):
    done = subprocess.run(python(old, "limit"), capture_output=True, text=True, check=True)
    assert "Can't write the file" in done.stdout
    assert os.strerror(errno.EFBIG) in done.stdout
    assert is_as_it_was(old)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of Unix")
def test_a_killed_process_leaves_the_old_file_and_disturbs_nobody(fit, old):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(python(old, "kill"), **pipes) as child:
        child.stdout.readline()
        child.send_signal(signal.SIGKILL)
    assert old.read_bytes() == OLD
    assert len(files(old.parent)) == 2
    fit.save(old)
    treeselect.load(old)


def test_many_write_the_same_file(fit, tmp_path):
    fit.save(tmp_path / "model")
    whole = (tmp_path / "model").read_bytes()
    seen, failed = [], []

    def save():
        try:
            for _ in range(10):
                fit.save(tmp_path / "model")
                seen.append((tmp_path / "model").read_bytes())
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=save) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert set(seen) == {whole}
    assert files(tmp_path) == ["model"]


@pytest.mark.parametrize(
    ("name", "place", "says"),
    [
        *((name, "folder", "It is a folder") for name in WRITERS),
        *((name, "none/file", "Can't find the folder") for name in WRITERS),
        ("save", "old/file", "Can't find the folder"),
        ("save", "dangling", "Can't find the folder"),
        ("save", "loop", os.strerror(errno.ELOOP)),
        ("save", "n" * 256, os.strerror(errno.ENAMETOOLONG)),
        ("save", "n" * 5000, os.strerror(errno.ENAMETOOLONG)),
    ],
)
def test_where_nothing_can_be_written(writers, name, place, says, tmp_path, capsys):
    (tmp_path / "folder").mkdir()
    (tmp_path / "old").write_bytes(OLD)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("none/file")
    before = files(tmp_path)
    with pytest.raises(ModelFileError if name == "save" else OptionError) as raised:
        writers[name](tmp_path / place)
    printed = capsys.readouterr()
    assert says in str(raised.value) + printed.err
    assert printed.out == ""  # before the work
    assert files(tmp_path) == before
    assert (tmp_path / "old").read_bytes() == OLD


@each_kind
def test_a_name_may_be_as_long_as_the_system_allows(writers, name, tmp_path):
    writers[name](tmp_path / ("n" * 255))
    assert files(tmp_path) == ["n" * 255]


def test_links_to_nothing_are_filled_and_half_characters_written(fit, tmp_path):
    (tmp_path / "link").symlink_to("model")
    fit.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    treeselect.load(tmp_path / "model")
    write_file(tmp_path / "t", "a\ud800é\n")
    assert (tmp_path / "t").read_bytes() == b"a\\ud800\xc3\xa9\n"


def test_files_and_folders_that_must_not_be_written_to(fit, old, monkeypatch):
    """A rename would ask for the folder's permission only."""
    with monkeypatch.context() as patch:  # the root user may do anything
        patch.setattr(os, "access", lambda path, mode: False)
        with pytest.raises(ModelFileError, match="It is read-only"):
            fit.save(old)
        with pytest.raises(OptionError, match="It is read-only"):
            check_place(old, what="report")
        patch.setattr(os, "access", lambda path, mode: Path(path) != old.parent)
        for path in (old, old.with_name("new")):
            with pytest.raises(ModelFileError, match="Can't write to the folder"):
                fit.save(path)
    monkeypatch.setattr(os, "open", failing(system_error(errno.EACCES)))
    with pytest.raises(ModelFileError, match=os.strerror(errno.EACCES)):
        fit.save(old.with_name("new"))
    assert is_as_it_was(old)


@pytest.fixture
def no_renames(monkeypatch):
    """So that a writer that is wrong about devices does not take them from the machine."""
    for call in ("replace", "rename"):
        monkeypatch.setattr(os, call, failing(AssertionError))


@pytest.mark.skipif(not Path("/dev/null").is_char_device(), reason="a device of Unix")
@each_kind
def test_a_device_is_written_to(writers, name, no_renames):
    before = os.stat("/dev/null")
    writers[name]("/dev/null")
    after = os.stat("/dev/null")
    assert (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode)


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="a device of Linux")
@each_kind
def test_a_full_device(writers, name, capsys, no_renames):
    with pytest.raises(TreeselectError) as raised:
        writers[name]("/dev/full")
    said = str(raised.value) + capsys.readouterr().err
    assert "/dev/full" in said
    assert os.strerror(errno.ENOSPC) in said


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name are those of Unix")
@each_kind
def test_a_pipe_is_written_to(writers, name, tmp_path):
    writers[name](tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    writers[name](tmp_path / "pipe")
    reader.join()
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert len(read[0]) > 0
    assert files(tmp_path) == ["file", "pipe"]
    if name == "save":  # the sizes of members stand behind them in a stream
        (tmp_path / "copy").write_bytes(read[0])
        again, other = (treeselect.load(tmp_path / part) for part in ("copy", "file"))
        assert again.selected == other.selected


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="a folder of Unix")
def test_an_open_file_is_written_to_where_it_stands(tmp_path):
    """As standard output that goes into a file: what was printed before stays."""
    with open(tmp_path / "out", "wb") as out:
        out.write(b"before\n")
        out.flush()
        write_file(Path(f"/dev/fd/{out.fileno()}"), b"within\n")
        check_place(Path(f"/dev/fd/{out.fileno()}"), what="file")
        out.write(b"after\n")
    assert (tmp_path / "out").read_bytes() == b"before\nwithin\nafter\n"
    assert files(tmp_path) == ["out"]
    with pytest.raises(OptionError, match="Can't write the file `/dev/fd/987`"):
        write_file(Path("/dev/fd/987"), b"")


# --- paths that are none -----------------------------------------------------------------------


@pytest.mark.parametrize("path", [None, 3, b"bytes", "", "a\0b", "\ud800", 1.5, ["a"]], ids=ascii)
def test_paths_that_are_none(fit, found, folder, frame, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    calls = [fit.save, fit.report, found.report, treeselect.load]
    if path is not None:
        calls += [functools.partial(part.report, tmp_path / "r") for part in (fit, found)]
    for call in calls:
        with pytest.raises(TreeselectError, match=r"`(path|template)` must be") as raised:
            call(path)
        assert ascii(path)[:8] in str(raised.value)
    with pytest.raises(TreeselectError, match="`data` must be"):
        treeselect.select("y ~ x", path)
    assert files(tmp_path) == []


@pytest.mark.parametrize("path", ["n" * 256, "n" * 5000, "no\nwhere", "none"], ids=len)
def test_what_is_not_there(fit, found, path, tmp_path):
    with pytest.raises(ModelFileError, match="Can't find the model file"):
        treeselect.load(path)
    with pytest.raises(treeselect.errors.DataError, match="Can't find the file"):
        treeselect.select("y ~ x", f"{path}.csv")
    for part in (fit, found):
        with pytest.raises(OptionError, match="Can't find the template"):
            part.report(tmp_path / "r", template=path)
    assert files(tmp_path) == []


def test_what_is_no_model_file(tmp_path, fit, monkeypatch):
    with pytest.raises(ModelFileError, match=r"Can't find the model file(.|\n)*It is not a file"):
        treeselect.load(tmp_path)
    fit.save(tmp_path / "m")
    monkeypatch.setattr(Path, "open", failing(system_error(errno.EACCES)))
    with pytest.raises(ModelFileError, match=rf"`m`\.\n  {os.strerror(errno.EACCES)}\."):
        treeselect.load(tmp_path / "m")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"{{ 1 / 0 }}", "division by zero"),
        (b"{{ report.nonsense }}", "no attribute 'nonsense'"),
        (b"{{ report.title }}\n{% if %}", r"t\.j2`.\n  Line 2: "),
        (b"{{ report() }}", "not callable"),
        (b"{% include 'absent.j2' %}", "absent"),
        (b"\xff", ""),
    ],
)
def test_a_template_that_fails(fit, text, says, old):
    template = old.with_name("t.j2")
    template.write_bytes(text)
    with pytest.raises(OptionError, match=f"(?s)Can't render the template.*{says}"):
        fit.report(old, template=template)
    assert old.read_bytes() == OLD
    assert files(old.parent) == ["old", "t.j2"]
