"""The software that has a part in the numbers: its versions, the machine and the threads."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from importlib import metadata

from treeselect._version import __version__
from treeselect.running.parallel import workers_for
from treeselect.running.pieces import LIBRARIES

_PACKAGES = (*LIBRARIES, "pandas", "formulaic")
"""Packages that have a part in the numbers."""


@dataclass(frozen=True, slots=True)
class Versions:
    """Versions of the software, for a report or a bug report: prints as a few lines.

    Returned by :func:`treeselect.versions`.

    Attributes
    ----------
    treeselect, python : str
    platform : str
        Operating system and processor.
    packages : dict of str to str
        Version of each package that has a part in the numbers.
    threads : int
        Threads that a call uses if `n_jobs` is not given; no answer depends on them.
    blas : tuple of str
        Libraries of linear algebra and of threads that are loaded, with their threads.

    Examples
    --------
    >>> import treeselect
    >>> "numpy" in treeselect.versions().packages
    True
    """

    treeselect: str
    python: str
    platform: str
    packages: dict[str, str]
    threads: int
    blas: tuple[str, ...]

    def facts(self) -> tuple[tuple[str, str], ...]:
        """What is printed, as pairs of a name and a text."""
        return (
            ("Software", f"treeselect {self.treeselect}, Python {self.python}"),
            ("Platform", self.platform),
            ("Packages", ", ".join(map(" ".join, self.packages.items()))),
            ("Threads", "; ".join([f"{self.threads} for treeselect", *self.blas])),
        )

    def __str__(self) -> str:
        import textwrap

        (_, software), *facts = self.facts()
        lines = [
            textwrap.fill(text, 88, initial_indent=f"{name}: ", subsequent_indent=" " * 10)
            for name, text in facts
        ]
        return "\n".join([software, *lines])

    __repr__ = __str__


def versions() -> Versions:
    """Versions of treeselect, Python and the packages behind the numbers, as R's sessionInfo().

    Returns
    -------
    Versions
        Prints as a few lines.

    Examples
    --------
    >>> import treeselect
    >>> print(treeselect.versions())  # doctest: +ELLIPSIS
    treeselect ..., Python 3...
    Platform: ...
    """
    from threadpoolctl import threadpool_info

    libraries = (
        f"{own['num_threads']} for {own['internal_api']} {own['version'] or ''}".rstrip()
        for own in threadpool_info()
    )
    return Versions(
        treeselect=__version__,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.release()}, {platform.machine()},"
        f" {os.cpu_count()} logical processors",
        packages={name: metadata.version(name) for name in _PACKAGES},
        threads=workers_for(None).n_threads,
        blas=tuple(dict.fromkeys(libraries)),
    )


def software_versions() -> dict[str, str]:
    """Versions of treeselect, Python and the packages that have a part in the numbers."""
    packages = {name: metadata.version(name) for name in _PACKAGES}
    return {"treeselect": __version__, "Python": platform.python_version()} | packages


def session() -> dict[str, str]:
    """The same with the platform, for the end of a report: "..., on Linux x86_64"."""
    return software_versions() | {"on": f"{platform.system()} {platform.machine()}"}
