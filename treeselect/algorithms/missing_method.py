"""Stand-in for a method whose code is missing when a model file is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from treeselect.algorithms.shared.base import Step
from treeselect.algorithms.shared.method import Method
from treeselect.algorithms.shared.task import Task
from treeselect.errors import MethodError, quoted
from treeselect.shown import shown

_TEXTS = ("name", "title", "paper", "origin", "tuning_name")
_FLAGS = ("scores_out_of_bag", "was_fitted")
_PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True)
class MissingMethod(Method):
    """A method whose code is missing: it keeps its description and can't select.

    Parameters
    ----------
    said : mapping of str to object
        The description that :func:`told` stored.
    why : str
        Why the method could not be found.
    """

    said: Mapping[str, Any] = field(hash=False)
    why: str

    @property
    def name(self) -> str:
        """Name of the original method, like all properties that follow."""
        return str(self.said["name"])

    @property
    def title(self) -> str:
        """Name in summaries and reports."""
        return str(self.said["title"])

    @property
    def paper(self) -> str:
        """The reference in words."""
        return str(self.said["paper"])

    @property
    def origin(self) -> str:
        """The package that it came from."""
        return str(self.said["origin"])

    @property
    def tuning_name(self) -> str:  # type: ignore[override]  # of each object
        """Option that held the tuning parameter."""
        return str(self.said["tuning_name"])

    @property
    def tuning_value(self) -> float | str | None:
        """The tuning parameter, if it was fixed."""
        value = self.said["tuning_value"]
        return value if isinstance(value, float | int | None) else str(value)

    @property
    def scores_out_of_bag(self) -> bool:  # type: ignore[override]  # of each object
        """Whether training scores were out of bag."""
        return bool(self.said["scores_out_of_bag"])

    @property
    def was_fitted(self) -> bool:
        """Whether its trees were grown before."""
        return bool(self.said["was_fitted"])

    @property
    def missing(self) -> str:
        """What is missing, and why."""
        return (
            f"Can't find the method {quoted(self.name)} of {shown(self.origin)}, which made this"
            f" selection: the model can predict, but not select again.\n  {self.why}"
        )

    def path(self, task: Task) -> tuple[Step, ...]:
        """A MethodError that says what is missing."""
        raise MethodError(self.missing)

    def options(self) -> dict[str, Any]:
        """All its options."""
        return dict(self.said["options"])

    def changed(self) -> dict[str, Any]:
        """Options that differed from their defaults."""
        return {name: self.options().get(name) for name in map(str, self.said["changed"])}

    def tuned(self, value: float | None) -> MissingMethod:
        """Itself: it can't select at any value."""
        return self

    def record(self) -> tuple[str, dict[str, Any]]:
        """Name and options, as in the file."""
        return self.name, self.options()


def check_told(said: Mapping[str, Any]) -> None:
    """Raise a ValueError unless that is a description by :func:`told`."""
    texts = all(isinstance(said.get(name), str) for name in _TEXTS)
    flags = all(isinstance(said.get(name), bool) for name in _FLAGS)
    options, changed = said.get("options"), said.get("changed")
    if not texts or not flags or not isinstance(options, dict) or not isinstance(changed, list):
        raise ValueError("an incomplete record of a method")


def told(method: Method, name: str) -> dict[str, Any]:
    """Description of another package's method for a model file, by the name under which it is
    found."""
    return {
        "name": name,
        "title": method.title,
        "paper": method.paper,
        "origin": method.origin,
        "tuning_name": method.tuning_name,
        "tuning_value": method.tuning_value,
        "scores_out_of_bag": method.tells_out_of_bag,
        "was_fitted": method.was_fitted,
        "options": plain_options(method.options()),
        "changed": list(method.changed()),
    }


def plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that a file can hold; others as text."""
    return {name: value if _is_plain(value) else repr(value) for name, value in options.items()}


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return type(value) in _PLAIN
