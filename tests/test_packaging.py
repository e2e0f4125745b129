"""Templates and data are found from a wheel, a wheel built from the sdist, and an editable install.

Hatchling is called directly, without build isolation: no network.
"""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


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
        archive.extractall(folder, filter="data")
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
        f"sys.path.insert(0, {str(site)!r}); from treeselect.printing import folder; "
        "print(folder.template_folder())",
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


def test_an_editable_install_reads_the_repository_s_templates(tmp_path: Path) -> None:
    editable = build("editable", ROOT, tmp_path / "editable")
    site = unpacked(editable, tmp_path / "site")
    # only the .pth file and the metadata: a copy of the templates would go stale
    assert [path.suffix for path in site.iterdir() if path.is_file()] == [".pth"]
    assert [path.suffix for path in site.iterdir() if path.is_dir()] == [".dist-info"]

    found = run(
        f"import site; site.addsitedir({str(site)!r}); from treeselect.printing import folder; "
        "print(folder.template_folder())",
        cwd=tmp_path,
    )
    assert Path(found) == ROOT / "templates"


def test_without_templates_the_error_says_where_it_looked(tmp_path: Path) -> None:
    package = tmp_path / "treeselect"
    (package / "printing").mkdir(parents=True)
    source = ROOT / "treeselect" / "printing" / "folder.py"
    (package / "printing" / "folder.py").write_bytes(source.read_bytes())
    message = run(
        f"sys.path.insert(0, {str(package / 'printing')!r}); import folder\n"
        "try: folder.template_folder()\n"
        "except FileNotFoundError as error: print(error)",
        cwd=tmp_path,
    )
    assert str(package / "templates") in message
    assert str(tmp_path / "templates") in message
    assert "Install treeselect again" in message
