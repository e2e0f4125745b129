"""The user's request: all arguments except the data, the method and how rows are held out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from treeselect.arguments.checks import check_choice, check_flag
from treeselect.designs.encoding import NewLevels
from treeselect.designs.scoring import Scoring
from treeselect.designs.weights import WeightsKind, check_kind
from treeselect.frames.codes import read_codes

_NEW_LEVELS = ("error", "missing", "other")


@dataclass(frozen=True, slots=True)
class Request:
    """Arguments that :func:`treeselect.select` and :func:`treeselect.compare` have in common.

    Checks that need the data are made by ``preparing.prepare``.

    Attributes
    ----------
    formula : str
    family : str
    weights, offset : str, sequence of float, or None
    weights_kind : {"frequency", "sampling", "precision"}, or None
    groups, costs : mapping, or None
    keep : str, iterable of str, or None
    fold_groups : str, sequence, or None
    scoring : str, callable or None
    new_levels : {"error", "missing", "other"}
    trusted : bool
    labels, monotone : mapping, or None
    na : str, number, list or dict of these, or None

    Raises
    ------
    OptionError
        If `new_levels`, `trusted`, `weights_kind` or `na` is not allowed.
    """

    formula: str
    family: str = "auto"
    weights: str | Sequence[float] | None = None
    offset: str | Sequence[float] | None = None
    groups: Mapping[str, Sequence[str]] | None = None
    costs: Mapping[str, float] | None = None
    keep: Iterable[str] | str | None = None
    fold_groups: str | Sequence[Any] | None = None
    scoring: Scoring = None
    new_levels: NewLevels = "error"
    trusted: bool = False
    labels: Mapping[str, str | None] | None = None
    monotone: Mapping[str, int] | None = None
    weights_kind: WeightsKind | None = None
    na: Any = None

    def __post_init__(self) -> None:
        check_choice("new_levels", self.new_levels, _NEW_LEVELS)
        check_kind(self.weights_kind, self.weights)
        object.__setattr__(self, "trusted", check_flag("trusted", self.trusted))
        read_codes(self.na)

    @property
    def hidden(self) -> list[str]:
        """Columns that ``.`` excludes."""
        columns = (self.weights, self.offset, self.fold_groups)
        return [name for name in columns if isinstance(name, str)]

    def arguments(self) -> dict[str, Any]:
        """All but the formula, by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "formula"}
