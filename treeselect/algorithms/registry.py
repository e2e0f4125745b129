"""Methods by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from treeselect.algorithms import plugins
from treeselect.algorithms.boruta import Boruta
from treeselect.algorithms.cfs import CFS
from treeselect.algorithms.controlburn import ControlBurn
from treeselect.algorithms.exchange import ExchangeSearch
from treeselect.algorithms.fcbf import FCBF
from treeselect.algorithms.foreign import IN_FILES, ForeignSelector, foreign_selector
from treeselect.algorithms.gbfs import GBFS
from treeselect.algorithms.hsic_lasso import HSICLasso
from treeselect.algorithms.importance import ForestImportance
from treeselect.algorithms.lasso import Lasso
from treeselect.algorithms.mrmr import MRMR
from treeselect.algorithms.rboost import RBoost
from treeselect.algorithms.rfe import RecursiveElimination
from treeselect.algorithms.rrf import GRRF, RRF
from treeselect.algorithms.shared.base import Step
from treeselect.algorithms.shared.method import Method, check_kind, is_method
from treeselect.algorithms.shared.selectors import text_of
from treeselect.algorithms.shared.task import Task
from treeselect.algorithms.stepwise import Stepwise
from treeselect.algorithms.svm import SVMRFE
from treeselect.algorithms.varselrf import VarSelRF
from treeselect.arguments.checks import is_one_of
from treeselect.arguments.scalars import described
from treeselect.errors import (
    MethodError,
    did_you_mean,
    listing,
    near,
    quoted,
    said_by,
)
from treeselect.shown import shown

if TYPE_CHECKING:
    import pandas as pd


# --- stand-in for a method whose code is missing when a model file is loaded -------------------

_TEXTS = ("name", "title", "paper", "origin", "tuning_name")
_FLAGS = ("scores_out_of_bag", "was_fitted")
_PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True)
class LostMethod(Method):
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

    def tuned(self, value: float | None) -> LostMethod:
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


# --- methods by name ---------------------------------------------------------------------------

METHODS: dict[str, type[Method]] = {
    kind.name: kind
    for kind in (
        ExchangeSearch, ControlBurn, RRF, GRRF, RBoost, GBFS,
        ForestImportance, RecursiveElimination, Lasso, Boruta, MRMR, CFS, FCBF, HSICLasso, SVMRFE,
        VarSelRF, Stepwise,
    )
}  # fmt: skip
"""Methods of this package, by name."""

_OWN = {*METHODS.values(), ForeignSelector}


def register_method(name: str, kind: type[Method]) -> None:
    """Register a method under a name, so that ``select`` and all other calls find it.

    Packages need not call this: they declare their methods as entry points of the group
    ``treeselect.methods``. Worker processes and model files receive the class itself, or find it
    again by its name.

    Parameters
    ----------
    name : str
        A word of lower-case letters, digits and underscores.
    kind : type
        A subclass of :class:`treeselect.Method` with a default for every option.

    Raises
    ------
    MethodError
        If another class has the name, or if the class is not a complete method.

    Examples
    --------
    >>> import treeselect
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Quick(treeselect.RRF):
    ...     n_trees: int = 20
    ...     name = "quick"
    >>> treeselect.register_method("quick", Quick)
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> treeselect.select("survived ~ .", data, method="quick", k=2, seed=1).k
    2
    """
    plugins.add(name, kind, METHODS)


def find_kind(name: str) -> type[Method] | None:
    """The class of methods with that name, in any case; None if there is none."""
    return METHODS.get(name.lower()) or plugins.find(name.lower())


def find_method(method: Any, options: Mapping[str, Any]) -> Method:
    """The method with that name, or the given method, with some options replaced.

    Parameters
    ----------
    method : str, Method or selector
        A selector of scikit-learn becomes a :class:`ForeignSelector`.
    options : mapping of str to object

    Raises
    ------
    MethodError
        If the name or an option is unknown, or if an option is out of range.
    """
    if isinstance(method, str):
        kind = find_kind(method)
        if kind is None:
            raise _unknown(method)
        _check_options(kind, options)
        return kind(**options)
    found = method if is_method(method) else foreign_selector(method)
    check_kind(type(found))
    if options:
        _check_options(type(found), options, inside=found.inside)
        found = dataclasses.replace(found, **options)
    return found


def method_text(method: Any) -> Any:
    """A method as it would be typed, a selector as the call that creates it."""
    if isinstance(method, str):
        return str(method)  # a plain str, not numpy's
    return method if is_method(method) else _Typed(text_of(method))


class _Typed(str):
    """Text that is its own representation."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def method_record(method: Method) -> list[Any]:
    """Name and options of a method for a model file; for methods of other packages, also the
    description that replaces their code where it is missing.
    """
    name, options = method.record()
    if type(method) in _OWN:
        return [name, options]
    name = plugins.name_of(type(method)) or name
    return [name, plain_options(options), told(method, name)]


def method_of_record(
    name: str, options: Mapping[str, Any], said: Mapping[str, Any] | None = None
) -> Method:
    """The method of such a record, or a stand-in if its code is missing.

    Only registered methods and entry points of installed packages are imported.

    Raises
    ------
    MethodError
        If this package has no such method, or the method no such options.
    """
    if said is None:
        if name == IN_FILES:
            _check_options(ForeignSelector, options)
            return ForeignSelector.lost(options)
        return find_method(str(name), options)
    check_told(said)
    try:
        return find_method(str(name), options)
    except Exception as error:  # third-party code can fail in any way, or have changed
        return LostMethod(said, said_by(error))


def methods() -> pd.DataFrame:
    """Table of all methods, including those of other packages.

    Returns
    -------
    pandas.DataFrame
        One row per method: ``method``, ``title``, ``options`` (names and defaults, the tuning
        parameter first), ``paper``.

    Raises
    ------
    MethodError
        If a method of another package can't be loaded.

    Examples
    --------
    >>> import treeselect
    >>> "controlburn" in treeselect.methods()["method"].tolist()
    True
    """
    import pandas as pd

    known = METHODS | plugins.found(METHODS)
    rows = [
        {
            "method": name,
            "title": method.title,
            "options": ", ".join(f"{n}={v!r}" for n, v in _tuning_first(method)),
            "paper": method.paper,
        }
        for name, method in ((name, kind()) for name, kind in known.items())
    ]
    return pd.DataFrame(rows)


def _tuning_first(method: Method) -> list[tuple[str, Any]]:
    return sorted(method.defaults().items(), key=lambda option: option[0] != method.tuning_name)


def _unknown(name: str) -> Exception:
    known = [*METHODS, *plugins.names()]
    close = near(name, known)
    advice = did_you_mean(close) if close else f"Methods: {listing(known, len(known))}."
    selector = _selector_named(name)
    if selector is not None:
        advice += f"\n  Pass scikit-learn's selector as an object: `method={selector}(...)`."
    return MethodError(f"`method` must be a known method.\n  Found: {quoted(name)}. {advice}")


def _selector_named(name: str) -> str | None:
    """The selector of scikit-learn with that name, in any case."""
    from sklearn import feature_selection

    known = {n.lower(): n for n in dir(feature_selection) if n[:1].isupper()}
    found = known.get(name.lower())
    return found if hasattr(getattr(feature_selection, found or "", None), "get_support") else None


def _check_options(kind: type[Any], options: Mapping[str, Any], inside: str | None = None) -> None:
    known = list(kind.defaults() | {f.name: None for f in dataclasses.fields(kind)})
    for option in options:
        if not is_one_of(option, known):
            text = option if isinstance(option, str) else described(option)
            raise MethodError(
                f"{kind.__name__} has no option {quoted(text)}.\n  {_advice(text, known)}"
                + (f" Set the options of {inside} when you create it." if inside else "")
            )


def _advice(option: str, known: list[str]) -> str:
    """A similar option, or the methods of this package that have the option."""
    having = [name for name, kind in METHODS.items() if option in kind.defaults()]
    if having:
        return f"Methods with this option: {listing(having, len(having))}."
    close = near(option, known)
    return did_you_mean(close) if close else f"Options: {listing(known)}."
