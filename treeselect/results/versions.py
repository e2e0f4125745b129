"""Versions of the software that has a part in the numbers."""

from __future__ import annotations

import platform
from importlib import metadata

from treeselect._version import __version__

_PACKAGES = ("numpy", "pandas", "numba", "formulaic", "scikit-learn", "statsmodels")


def software_versions() -> dict[str, str]:
    """Versions of treeselect, Python and the packages that have a part in the numbers."""
    versions = {"treeselect": __version__, "Python": platform.python_version()}
    return versions | {name: metadata.version(name) for name in _PACKAGES}
