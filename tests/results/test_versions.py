"""The record of the session."""

import platform
import re

import numpy as np

import treeselect
from treeselect.results.citation import versions_text
from treeselect.results.versions import session


def test_versions_print_as_a_few_short_lines():
    found = treeselect.versions()
    lines = str(found).splitlines()
    assert repr(found) == str(found)
    assert len(lines) < 9
    assert max(map(len, lines)) <= 88
    assert lines[0] == f"treeselect {treeselect.__version__}, Python {platform.python_version()}"
    assert f"numpy {np.__version__}" in str(found)
    assert re.search(r"Threads: \d+ for treeselect", str(found))


def test_reports_end_with_the_platform():
    assert versions_text(session()).endswith(f", on {platform.system()} {platform.machine()}")
