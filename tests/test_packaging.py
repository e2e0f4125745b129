"""Templates and data are found from a wheel, a wheel built from the sdist, and an editable install.

Hatchling is called directly, without build isolation: no network.
"""

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import oldest
import pytest

import treeselect

ROOT = Path(__file__).resolve().parent.parent
KEYS = ("version", "date-released")


def run(script: str, cwd: Path) -> str:
    """Output of a Python script in a process of its own, with no other copy of treeselect in reach.

    An editable install in this environment would let the tests find the repository's folder.
    """
    script = f"import sys; sys.path = [p for p in sys.path if p != {str(ROOT)!r}]; {script}"
    process = subprocess.run(
        [sys.executable, "-c", script], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.strip()


def build(kind: str, source: Path, out: Path) -> Path:
    """Build a ``wheel``, ``sdist`` or ``editable`` of the project in `source`."""
    run(f"import hatchling.build as b; b.build_{kind}({str(out)!r})", cwd=source)
    (built,) = out.iterdir()
    return built


def unpacked(wheel: Path, folder: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def file_contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def wheel_of_sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sdist = build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))
    folder = tmp_path_factory.mktemp("sdist_unpacked")
    with tarfile.open(sdist) as archive:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # not in 3.11.2
        archive.extractall(folder, **safely)
    (source,) = folder.iterdir()
    return build("wheel", source, tmp_path_factory.mktemp("wheel_of_sdist"))


@pytest.mark.parametrize("name", ["wheel", "wheel_of_sdist"])
def test_a_wheel_holds_templates_and_data(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    site = unpacked(request.getfixturevalue(name), tmp_path / "site")
    package = site / "treeselect"

    templates = file_contents(ROOT / "templates")
    assert {"report.html.j2", "comparison.html.j2"} <= set(templates)
    assert file_contents(package / "templates") == templates
    assert file_contents(package / "data") == file_contents(ROOT / "treeselect" / "data")

    found = run(
        f"sys.path.insert(0, {str(site)!r}); from treeselect.printing import markup; "
        "print(markup.template_folder())",
        cwd=tmp_path,
    )
    assert Path(found) == package / "templates"
    rows = run(
        f"sys.path.insert(0, {str(site)!r}); from treeselect import datasets; "
        "print(datasets.__file__, len(datasets.load('titanic')), sep='|')",
        cwd=tmp_path,
    )
    assert rows == f"{package / 'datasets' / '__init__.py'}|1309"


def test_both_wheels_hold_the_same_files(wheel: Path, wheel_of_sdist: Path, tmp_path: Path) -> None:
    assert file_contents(unpacked(wheel, tmp_path / "a")) == file_contents(
        unpacked(wheel_of_sdist, tmp_path / "b")
    )


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_a_build_elsewhere_and_later_has_the_same_bytes(kind: str, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere"
    for name in packed_files():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes((ROOT / name).read_bytes())
        (copy / name).chmod(0o600)  # another umask; the times are those of now
    here, there = (build(kind, at, tmp_path / f"built {at.name}") for at in (ROOT, copy))
    assert here.name == there.name
    assert here.read_bytes() == there.read_bytes()


def packed_files() -> list[Path]:
    """What goes into the sdist, relative to the root."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    names = project["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]
    names += ["pyproject.toml", "README.md", "LICENSE", ".gitignore"]
    found = [path for name in names for path in [ROOT / name, *(ROOT / name).rglob("*")]]
    return [
        p.relative_to(ROOT)
        for p in found
        if p.is_file() and not {"__pycache__", "html"} & {*p.parts}
    ]


def test_an_editable_install_reads_the_repository_s_templates(tmp_path: Path) -> None:
    editable = build("editable", ROOT, tmp_path / "editable")
    site = unpacked(editable, tmp_path / "site")
    # only the .pth file and the metadata: a copy of the templates would go stale
    assert [path.suffix for path in site.iterdir() if path.is_file()] == [".pth"]
    assert [path.suffix for path in site.iterdir() if path.is_dir()] == [".dist-info"]

    found = run(
        f"import site; site.addsitedir({str(site)!r}); sys.path.insert(0, sys.path.pop()); "
        "from treeselect.printing import markup; "
        "print(markup.template_folder())",
        cwd=tmp_path,
    )
    assert Path(found) == ROOT / "templates"


def test_without_templates_the_error_says_where_it_looked(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "treeselect", tmp_path / "treeselect", ignore=lambda *_: ["data"])
    message = run(
        f"sys.path.insert(0, {str(tmp_path)!r}); from treeselect.printing import markup\n"
        "try: markup.template_folder()\n"
        "except FileNotFoundError as error: print(error)",
        cwd=tmp_path,
    )
    assert str(tmp_path / "treeselect" / "templates") in message
    assert str(tmp_path / "templates") in message
    assert "Install treeselect again" in message


def test_versions_bounds_and_extras_are_those_that_are_tested():
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    version, date = (re.search(rf"^{key}: (.+)$", cited, re.M) for key in KEYS)
    head = re.search(r"^## (\S+) \((.+)\)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert version is not None
    assert date is not None
    assert head is not None
    assert (version[1], date[1]) == (head[1], head[2])
    assert version[1] == treeselect.__version__.removesuffix(".dev0")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    bounded = [one for ones in (project["dependencies"], *extras) for one in ones if "<" in one]
    assert [one.split(">")[0] for one in bounded] == ["numba"]
    assert "<" not in project["requires-python"]
    found = oldest.constraints()
    assert "numba==0.62" in found
    assert not [one for one in found if not re.fullmatch(r"[a-z0-9-]+==[0-9.]+", one)]
    with pytest.raises(ValueError, match="no lower bound"):
        oldest.oldest("numpy")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    page = (ROOT / "docs" / "get-started.md").read_text("utf-8")
    listed = dict(re.findall(r"^\| `(\w+)` \| ([\w-]+) \|", page, flags=re.MULTILINE))
    ours = {"dev", "docs", "vignettes"}
    extras = project["optional-dependencies"].items()
    assert listed == {k: one.partition(">")[0] for k, (one, *_) in extras if k not in ours}


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize(("goal", "n_parts"), [("check", 4), ("test", 6)])
def test_a_red_part_hides_no_other(goal, n_parts, tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    tools = tmp_path / ".venv" / "bin"
    tools.mkdir(parents=True)
    for name in ("pyproject.toml", ".venv/installed-dev"):
        (tmp_path / name).touch()
    for name in ("python", "ruff", "mypy", "pytest", "sphinx-build"):
        (tools / name).write_text(f"#!/bin/sh\nexit {int(name in ('ruff', 'pytest'))}\n")
        (tools / name).chmod(0o755)

    def made():
        call = ["make", "--no-print-directory", goal, "BIN=.venv/bin"]
        return subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)

    done = made()
    assert done.returncode != 0
    assert len(done.stdout.splitlines()) == n_parts
    failed = done.stderr.splitlines()
    assert failed[0] == "Failed:"
    assert [line.split()[0].rpartition("/")[2] for line in failed[1:4]] == ["ruff"] * 2 + ["pytest"]
    (tools / "ruff").write_text("#!/bin/sh\n")
    (tools / "pytest").write_text("#!/bin/sh\n")
    assert made().returncode == 0


DATA = "treeselect.datasets.load('titanic_correlated').head(200)"
CALL = f"print(treeselect.select('survived ~ age + sex + pclass', {DATA}, seed=1), file=sys.stderr)"
HEAVY = ["sklearn", "statsmodels", "scipy.stats", "cvxpy", "jinja2", "matplotlib", "polars"]


@pytest.mark.parametrize(
    ("call", "heavy"),
    [("pass", [*HEAVY, "formulaic", "scipy", "numba", "llvmlite", "joblib"]), (CALL, HEAVY)],
    ids=["import", "select"],
)
def test_only_what_is_needed_is_loaded(call, heavy):
    script = f"import sys, treeselect; {call}; print(*sorted(set({heavy}) & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
