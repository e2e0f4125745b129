"""Tables for papers: LaTeX that compiles, Markdown, Word; hostile names in all of them."""

import dataclasses
import shutil
import subprocess

import pytest

from treeselect.errors import OptionError
from treeselect.printing import SmallTable, Summary, SummaryContent

HOSTILE = r"50% & $x_1^2 \#{}~<b>|*_`--''[T.é]"

CONTENT = SummaryContent(
    title=f"Terms of {HOSTILE}",
    facts=(("Call", f"select('y ~ {HOSTILE}', data)"), ("Kept (k)", "2 of 6 terms, as asked.")),
    columns=("Term", "Type", "Importance", "Difference", "95% interval", "Enters at k, the size"),
    rows=(
        ("[T.中] Δβ*", "numeric", "0.667", "reference", "", "1"),
        (HOSTILE, "factor", "0.33", "-0.070", "-0.12 to 12.5", "12"),
        (
            "*a name that is longer than all the others, with a very long end", "", "1e-05", "–",
            "–", "",
        ),
    ),
    notes=("See `tidy()` & more.", f"A lone ` and {HOSTILE}.", "C:\\new \x1b[31m"),
    more=(SmallTable(("Effect on the mean", "Change"), (("age, 1 to 2: up", "+0.5"),)),),
)  # fmt: skip


@pytest.fixture(scope="module")
def summary():
    return Summary(CONTENT)


def test_latex(summary, snapshot):
    assert summary.as_latex(label="tab:terms") == snapshot


def test_markdown(summary, snapshot):
    assert summary.as_markdown() == snapshot


@pytest.mark.parametrize("engine", ["pdflatex", "lualatex"])
def test_latex_compiles_within_the_width_of_the_text(summary, tmp_path, engine):
    program = shutil.which(engine)
    if program is None:
        pytest.skip(f"{engine} is not installed: nothing can be compiled")
    if (
        engine == "lualatex"
        and subprocess.run(
            ["kpsewhich", "lmroman10-regular.otf"], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("the fonts of lualatex are not installed")
    plain = summary.as_latex(r"Cost in \$ of $k$ terms.", "tab:terms")
    plain = plain.replace("中", "") if engine == "pdflatex" else plain
    bare = Summary(SummaryContent("Nothing", (), (), (), ())).as_latex()
    fonts = r"\usepackage[T1]{fontenc}" if engine == "pdflatex" else ""
    (tmp_path / "paper.tex").write_text(
        "\\documentclass{article}\n\\usepackage{booktabs,graphicx}\n"
        + fonts
        + "\n\\begin{document}\n"
        f"{plain}\nTable~\\ref{{tab:terms}}\n{bare}\\end{{document}}\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [program, "-draftmode", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path, capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    said = done.stdout.decode("utf-8", errors="replace")
    assert done.returncode == 0, said[-3000:]
    assert "Overfull \\hbox" not in said


def test_word_takes_titles_of_any_length(summary):
    pytest.importorskip("docx")
    word = summary.as_docx()
    content = summary.content.shown()
    assert word.paragraphs[0].text == content.title
    assert [len(t.rows) - 1 for t in word.tables] == [len(t.rows) for t in content.tables]
    cells = [cell.text.strip() for cell in word.tables[0].columns[0].cells]
    assert cells == [content.columns[0], *(row[0].strip() for row in content.rows)]
    pytest.importorskip("docx")
    title = "long " * 100 + "\x1b"
    word = Summary(dataclasses.replace(summary.content, title=title)).as_docx()
    assert word.paragraphs[0].text == "long " * 100 + "\\x1b"
    assert word.core_properties.title == ("long " * 51)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"caption": 3}, "`caption` must be text"),
        ({"label": 3}, "`label` must be text"),
        ({"label": "tab}x"}, "`label` must be letters"),
        ({"label": ""}, "`label` must be letters"),
    ],
)
def test_captions_and_labels_are_text(summary, arguments, said):
    with pytest.raises(OptionError, match=said):
        summary.as_latex(**arguments)


def test_html_is_escaped(summary):
    page = summary._repr_html_()
    assert "<b>" not in page
    assert "<script" not in page
    assert "\x1b" not in page
