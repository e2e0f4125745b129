"""The builder of the vignettes, on sources of a few cells; `make test` builds the real ones."""

import os
import re
import sys
from pathlib import Path
from urllib.parse import quote

import matplotlib
import numpy as np
import pandas as pd
import pytest

from treeselect.printing.markup import template_folder
from vignettes.build import main
from vignettes.executing import executed
from vignettes.pictures import svg
from vignettes.rendering import render
from vignettes.running import checked
from vignettes.session import frame_html, inline_text
from vignettes.sources import Cell, Output, Vignette, VignetteError, read_vignette

CELLS = Path(__file__).parent / "vignette_cells.md"


def built(*sources: Path, output: Path) -> int:
    """The exit code of the builder, which stores what has run beside its pages."""
    cells = output.parent / "cells"
    return main([*map(str, sources), "--output", str(output), "--cells", str(cells)])


def write(folder: Path, text: str, name: str = "small.md") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a source that has one cell of each kind, built in a home of its own."""
    folder, home = tmp_path_factory.mktemp("vignette"), tmp_path_factory.mktemp("home")
    text = CELLS.read_text(encoding="utf-8").replace("THIS_PYTHON", repr(sys.executable))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPLCONFIGDIR", matplotlib.get_configdir())
        patch.setenv("HOME", str(home))
        assert built(write(folder, text), output=folder / "html") == 0
    assert list(home.iterdir()) == []  # neither settings nor a history
    assert [path.name for path in (folder / "html").iterdir()] == ["small.html"]
    return (folder / "html" / "small.html").read_text(encoding="utf-8")


def test_a_page_needs_nothing_else_and_prose_is_filled_and_set(page):
    report = (template_folder() / "page.html.j2").read_text(encoding="utf-8")
    policy = re.search(r"<meta http-equiv=.*", report)
    assert policy is not None
    assert policy[0] in page
    assert (template_folder() / "report.css").read_text(encoding="utf-8").strip() in page
    assert "<script" not in page
    links = re.findall(r"(?:src|href|url\()=?[\"']?([^\"')>\s]+)", page)
    assert [link for link in links if not link.startswith(("#", "data:image/png;base64,"))] == []
    assert "<title>Cells of each kind · treeselect</title>" in page
    assert page.count("<h1>") == 1
    assert '<a href="#a-section">A section</a>' in page
    assert '<h2 id="a-section">' in page
    assert "There are 1,309 rows and <code>sex</code> and <code>age</code>." in page
    assert "<code>{python}</code> is code." in page
    assert '<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline">' in page
    assert 'display="block"' in page
    assert "<mfrac>" in page
    assert "\\frac" not in page
    assert "&lt;b&gt;no markup&lt;/b&gt;" in page
    assert '<div class="scroll"><table>' in page


def test_code_and_its_outputs_are_shown(page):
    assert '<span class="kn">import</span>' in page
    assert '<pre class="output text" tabindex="0" aria-label="Output">one\ntwo\n3</pre>' in page
    assert '<th scope="col" class="number">x</th>' in page
    assert '<td class="number">1.500</td>' in page
    assert (
        '<pre class="output error" tabindex="0" aria-label="Output">ValueError: &lt;no&gt;</pre>'
        in page
    )
    assert "hello from bash" in page
    assert "%%bash" not in page
    assert "told on purpose" in page
    assert "sys.executable" not in page  # a check is run, not shown
    assert "Out[" not in page
    assert "matplotlib.lines" not in page  # what `plt.plot()` returns
    assert page.count("<svg") == 2
    assert page.count('role="img" aria-label="A line from 1 to 3."') == 1
    assert '<img alt="One pixel." src="data:image/png;base64,' in page
    assert "var(--accent)" in page.split("</style>", 1)[1]
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_broken_cells_are_named_and_leave_no_page(tmp_path, capsys):
    html = tmp_path / "html"
    html.mkdir()
    write(html, "of an earlier run", "small.html")
    source = write(tmp_path, "# Title\n\n```python\nx = 1\n```\n\n```python\ny = 2\nx + z\n```\n")
    other = write(tmp_path, "# T\n\n`{python} 1` and `{python} lost`.\n", "other.md")
    third = write(tmp_path, "# T\n\n```bash\necho so >&2; false\ntrue\n```\n", "third.md")
    assert built(source, other, third, output=html) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(
        "vignettes: small.md, line 8, cell 3 of 3 (code) fails:\n"
        "    y = 2\n    x + z\n"
        "  At `x + z`:\n  NameError: name 'z' is not defined\n"
        "vignettes: other.md, line 1, cell 1 of 1 (prose) fails:\n"
        "  At `lost`:\n  NameError: name 'lost' is not defined\n"
        "vignettes: third.md, "
    )
    assert told.err.endswith("status 1.\n  so\n")
    assert list(html.iterdir()) == []


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path, capsys, monkeypatch):
    source, html = write(tmp_path, "# Title\n\nOf prose alone.\n"), tmp_path / "html"
    assert built(source, output=html) == 0
    capsys.readouterr()
    (html / "small.html").write_text("as it was", encoding="utf-8")

    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("treeselect.writing.os.fsync", full)
    assert built(source, output=html) == 1
    page = html / "small.html"
    said = f"vignettes: Can't write the page `{page}`.\n  No space left on device.\n"
    assert capsys.readouterr().err == said
    assert page.read_text(encoding="utf-8") == "as it was"
    assert list(html.iterdir()) == [page]


def test_sources_outputs_and_tags_must_be_known(tmp_path, capsys):
    taken = tmp_path / "taken"
    taken.write_text("")
    assert built(output=taken) == 1
    assert "Can't make the folder" in capsys.readouterr().err
    assert built(tmp_path / "lost.md", output=tmp_path / "html") == 1
    assert "There is no vignette lost.md" in capsys.readouterr().err
    source = write(tmp_path, '# T\n\n```python tags=["chek"]\nx = 1\n```\n')
    with pytest.raises(VignetteError, match="Unknown tag 'chek'"):
        read_vignette(source)


@pytest.mark.parametrize(
    ("cell", "output", "told"),
    [
        (Cell("code", "f()", 1), Output("text", "<f object at 0x7f00aa12>"), "'at 0x7f00aa12'"),
        (Cell("code", "f()", 1), Output("text", "wrote /home/me/x"), "'/home/me'"),
        (Cell("code", "f()", 1), Output("svg", "<svg/>"), 'needs `alt="..."`'),
        (Cell("code", "f()", 1), Output("stderr", "hm"), "standard error:\n  hm"),
        (Cell("code", "f()", 1, tags=("raises-exception",)), Output("text", "1"), "does not"),
    ],
)
def test_what_must_not_be_shown(cell, output, told):
    with pytest.raises(VignetteError, match=re.escape(told)):
        checked(Vignette(Path("v.md"), (cell,)), cell, (output,), ("/home/me",))


def test_sources_are_read_with_their_lines(tmp_path):
    text = '# T\n\nText.\n\n```python alt="A \\"b\\"." tags=["check"]\nx = 1\n```\n\n'
    text += "```bash\nls\n```\n"
    prose, code, commands = read_vignette(write(tmp_path, text)).cells
    assert (prose.kind, prose.line) == ("prose", 1)
    assert (code.text, code.line, code.alt, code.tags) == ("x = 1", 6, 'A "b".', ("check",))
    assert (commands.text, commands.line, commands.language) == ("ls", 10, "bash")


@pytest.mark.parametrize(
    ("text", "told"),
    [("Text.", "begin with a line `# Title`"), ("# T\n\n$\\nosuchthing x$", "nosuchthing")],
)
def test_a_page_must_have_a_title_and_formulas_that_can_be_set(text, told):
    with pytest.raises(VignetteError, match=re.escape(told)):
        render(Vignette(Path("v.md"), (Cell("prose", text, 1),)))


def test_links_to_sources_become_links_to_pages(tmp_path):
    def rendered(link):
        cell = Cell("prose", f"# T\n\n[o]({link})", 1)
        return render(Vignette(tmp_path / "vignettes" / "v.md", (cell,)), tmp_path / "pages")

    (tmp_path / "vignettes").mkdir()
    write(tmp_path / "vignettes", "", "other.md")
    assert '<a href="other.html#part">o</a>' in rendered("other.md#part")
    with pytest.raises(VignetteError, match=r"links to lost\.md"):
        rendered("lost.md")
    docs = CELLS.parent.parent / "docs"
    if docs.exists():
        guide = os.path.relpath(docs / "index.md", tmp_path / "vignettes")
        page = os.path.relpath(docs / "_build" / "html" / "index.html", tmp_path / "pages")
        assert f'<a href="{quote(page)}">o</a>' in rendered(quote(guide))


def test_what_has_run_is_not_run_again(tmp_path, monkeypatch):
    source = write(tmp_path, "# T\n\n`{python} 1 + 1` apples.\n\n```python\nprint(3)\n```\n")
    ((_, first),) = executed([source], tmp_path / "cells")
    monkeypatch.setattr("vignettes.executing.run", None)
    ((_, second),) = executed([source], tmp_path / "cells")
    assert first == second
    assert second.cells[0].text == "# T\n\n2 apples."
    assert second.cells[1].outputs == (Output("text", "3\n"),)
    monkeypatch.setattr("vignettes.executing.run", lambda vignette: vignette)
    write(tmp_path, "# T\n\nNo apples.\n")
    ((_, third),) = executed([source], tmp_path / "cells")
    assert third.cells[0].text == "# T\n\nNo apples."
    assert len(list((tmp_path / "cells").iterdir())) == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        (np.int64(12345), "12,345"),
        (np.float64(0.12345), "0.123"),
        ((), "nothing"),
        (["a"], "`a`"),
        (("a", "b", "c"), "`a`, `b` and `c`"),
    ],
)
def test_values_in_prose(value, text):
    assert inline_text(value) == text


def test_frames_are_escaped_with_even_decimals_and_not_in_prose():
    with pytest.raises(TypeError, match="can't say a DataFrame"):
        inline_text(pd.DataFrame())
    frame = pd.DataFrame(
        {
            "<x>": [0.5, 0.00321, np.nan],
            "n": [1000, 2, 3],
            "terms": [("a", "b"), (), ("c",)],
            "big": [1234.5, np.inf, 0.25],
            "yes": [True, False, True],
        },
        index=pd.Index(["r1", "r2", "r<3>"]),
    )
    html = frame_html(frame)
    assert '<th scope="col" class="number">&lt;x&gt;</th>' in html
    assert '<th scope="row">r&lt;3&gt;</th>' in html
    cells = re.findall(r"<td[^>]*>(.*?)</td>", html)
    assert cells[:5] == ["0.5000", "1,000", "a, b", "1,234.50", "yes"]
    assert cells[5:10] == ["0.0032", "2", "–", "∞", "no"]
    assert cells[10:] == ["–", "3", "c", "0.25", "yes"]
    assert "and 30 more rows" in frame_html(pd.DataFrame({"x": range(50)}))


def test_figures_are_part_of_the_page():
    source = (
        '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "d">'
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        ' width="72pt" height="36pt" viewBox="0 0 72 36"><metadata>when</metadata>'
        "<defs><style>*{stroke-linejoin: round}</style>"
        '<path id="m" style="stroke: #000000"/></defs>'
        '<use xlink:href="#m" clip-path="url(#c)" style="fill: #1f5f8b; stroke: #123456"/></svg>'
    )
    made = svg(source, "A <line>.", 2)
    assert 'viewBox="0 0 72 36"' in made
    assert 'role="img" aria-label="A &lt;line&gt;." style="max-width: 96px"' in made
    assert 'id="f2-m" style="stroke: var(--ink)"' in made
    assert 'xlink:href="#f2-m" clip-path="url(#f2-c)"' in made
    assert 'style="fill: var(--accent); stroke: #123456"' in made
    assert not re.search(r"when|linejoin|DOCTYPE|36pt", made)
