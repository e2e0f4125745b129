"""The software that has a part in the numbers: its versions, the machine and the threads."""

from __future__ import annotations

import os
import platform
from importlib import metadata

from treeselect._version import __version__
from treeselect.printing import Summary, SummaryContent
from treeselect.running.parallel import workers_for
from treeselect.running.pieces import LIBRARIES

_PACKAGES = (*LIBRARIES, "pandas", "formulaic")
"""Packages that have a part in the numbers."""


def versions() -> Summary:
    """Versions of treeselect, Python and the packages behind the numbers, with the platform and the
    threads that a call uses if `n_jobs` is not given, as R's sessionInfo().

    Returns
    -------
    Summary
        For a report or a bug report; ``.content.facts`` are pairs of a name and a text.

    Examples
    --------
    >>> import treeselect
    >>> [name for name, _ in treeselect.versions().content.facts]
    ['Software', 'Platform', 'Packages', 'Threads']
    """
    from threadpoolctl import threadpool_info

    libraries = (
        f"{own['num_threads']} for {own['internal_api']} {own['version'] or ''}".rstrip()
        for own in threadpool_info()
    )
    threads = [f"{workers_for(None).n_threads} for treeselect", *dict.fromkeys(libraries)]
    machine = f"{platform.system()} {platform.release()}, {platform.machine()}"
    known = software_versions()
    facts = (
        ("Software", f"treeselect {known.pop('treeselect')}, Python {known.pop('Python')}"),
        ("Platform", f"{machine}, {os.cpu_count()} logical processors"),
        ("Packages", ", ".join(map(" ".join, known.items()))),
        ("Threads", "; ".join(threads)),
    )
    return Summary(SummaryContent("Software and platform", facts, (), (), ()))


def software_versions() -> dict[str, str]:
    """Versions of treeselect, Python and the packages that have a part in the numbers."""
    packages = {name: metadata.version(name) for name in _PACKAGES}
    return {"treeselect": __version__, "Python": platform.python_version()} | packages


def session() -> dict[str, str]:
    """The same with the platform, for the end of a report: "..., on Linux x86_64"."""
    return software_versions() | {"on": f"{platform.system()} {platform.machine()}"}
