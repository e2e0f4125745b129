"""Constraints for pip: the oldest version of each package that pyproject.toml allows.

``python tests/oldest.py > oldest.txt; pip install -c oldest.txt treeselect``. What users install is
held down, the tools for development are not.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ("dev", "docs", "vignettes")


def required(project: dict) -> list[str]:
    """What the package and its extras for users require, as in pyproject.toml."""
    extras = project.get("optional-dependencies", {})
    return project["dependencies"] + [
        one for name, ones in extras.items() if name not in TOOLS for one in ones
    ]


def oldest(requirement: str) -> str:
    """``"numpy>=2.0,<3"`` to ``"numpy==2.0"``.

    >>> oldest("python-docx[all]>=1.1")
    'python-docx==1.1'
    """
    found = re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*>=\s*([0-9][0-9.]*)", requirement)
    if found is None:
        raise ValueError(f"{requirement!r} in pyproject.toml has no lower bound: write `>=`.")
    return f"{found[1]}=={found[2]}"


def constraints() -> list[str]:
    """One line for each package, sorted."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    ones = [one for one in required(tomllib.loads(text)["project"]) if "treeselect[" not in one]
    return sorted({oldest(one) for one in ones})


if __name__ == "__main__":
    print("\n".join(constraints()))
