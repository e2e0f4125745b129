"""A final model as a program: features computed from columns, trees, their sum and its link.

Every language is written from this record. A forest's mean is a sum of scaled trees, a sparse
forest's weights are in the values of its trees, and bins are thresholds again.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeselect.arguments.scalars import described
from treeselect.designs.columns import TermSpec
from treeselect.designs.encoding import DesignSpec
from treeselect.engine.arrays import FloatArray
from treeselect.engine.data.binning import MAX_BINS
from treeselect.engine.growing.nodes import LEAF
from treeselect.errors import OptionError, quoted
from treeselect.exporting.formulas import Formula, NotTranslated, product, translated
from treeselect.formulas.expressions import Call, Column, Node, Transform
from treeselect.models.importing import ImportedBins
from treeselect.resampling.fit import Fit

AT_MOST, AT_MOST_OR_MISSING, MISSING, EQUAL = 1, 2, 3, 4
"""Tests of a node; a row that meets it goes left."""

IDENTITY, LOGIT, LOG, SOFTMAX = "identity", "logit", "log", "softmax"
"""Links."""

_LINKS = {"gaussian": IDENTITY, "binomial": LOGIT, "poisson": LOG, "cox": LOG,
          "multinomial": SOFTMAX}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Input:
    """A column of the user's data.

    Attributes
    ----------
    name : str
    kind : {"number", "logical", "text"}
    """

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class NumberFeature:
    """A number computed from columns; missing where one of them is.

    Attributes
    ----------
    term : str
    formula : Formula
    inputs : tuple of int
        Columns that it reads.
    """

    term: str
    formula: Formula
    inputs: tuple[int, ...]

    @property
    def is_plain(self) -> bool:
        """Whether it is a column."""
        return self.formula[0] == "column"


@dataclass(frozen=True, slots=True)
class FactorFeature:
    """The number of a row's level, or of its combination of levels, from 1.

    Attributes
    ----------
    term : str
    inputs : tuple of int
        The factors' columns.
    levels : tuple of tuple
        Levels of each factor.
    combinations : tuple of tuple of int
        Level numbers, from 0, of each combination that occurs.
    """

    term: str
    inputs: tuple[int, ...]
    levels: tuple[tuple[Any, ...], ...]
    combinations: tuple[tuple[int, ...], ...]


Feature = NumberFeature | FactorFeature


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A node of a tree: a leaf has the test 0.

    Attributes
    ----------
    feature : int
    test : int
    number : float
        Threshold, or number of a level.
    left : int
        Left child; the right one follows it.
    value : tuple of float
        Of each output.
    """

    feature: int
    test: int
    number: float
    left: int
    value: tuple[float, ...]


Tree = list[TreeNode]


@dataclass(frozen=True, slots=True)
class Program:
    """A final model.

    Attributes
    ----------
    inputs : tuple of Input
    features : tuple of Feature
    constant : tuple of float
        Of each output.
    link : str
        ``"identity"``, ``"logit"``, ``"log"`` or ``"softmax"``.
    classes : tuple of str
        Names of the outputs of more than two classes; otherwise empty.
    offset : int or None
        Input that is added to the linear predictor.
    new_levels : {"error", "missing", "other"}
    n_trees, n_nodes : int
    response : str
    labels : tuple of str
        The classes of a response with classes.
    """

    inputs: tuple[Input, ...]
    features: tuple[Feature, ...]
    constant: tuple[float, ...]
    link: str
    classes: tuple[str, ...]
    offset: int | None
    new_levels: str
    response: str
    labels: tuple[str, ...]
    n_trees: int
    _fit: Fit
    _places: tuple[tuple[int, int], ...]

    def trees(self) -> Iterator[Tree]:
        """The trees, one by one."""
        model = self._fit.model
        trees = model.joined()
        if trees is None:
            return
        edges = _edges(self._fit)
        for tree, weight in enumerate(model.tree_weights):
            own = slice(trees.start[tree], trees.start[tree + 1])
            parts = (a[own].tolist() for a in trees.nodes[:4])
            values = (trees.nodes.value[own] * weight).tolist()
            yield [
                self._node(column, code, missing, left, tuple(value), edges)
                for column, code, missing, left, value in zip(*parts, values, strict=True)
            ]

    def _node(
        self,
        column: int,
        code: int,
        missing_left: bool,
        left: int,
        value: tuple[float, ...],
        edges: list[FloatArray | None],
    ) -> TreeNode:
        if column == LEAF:
            return TreeNode(-1, 0, 0.0, 0, value)
        feature, start = self._places[column]
        own = edges[column]
        if code == 0:
            return TreeNode(feature, MISSING, 0.0, left, value)
        if own is None:
            return TreeNode(feature, EQUAL, float(start + code), left, value)
        test = AT_MOST_OR_MISSING if missing_left else AT_MOST
        return TreeNode(feature, test, min(float(own[code - 1]), _LARGEST), left, value)


_LARGEST = float(np.finfo(np.float64).max)


def program_of(fit: Fit) -> Program:
    """The program of a fit's final model.

    Raises
    ------
    OptionError
        If a selected term or the offset can't be translated.
    """
    design, model = fit.design, fit.model
    spec, coded = design.spec, design.arrays
    if design.offset_name is True:
        raise OptionError(
            "`fit` must have read its offset from a column to be exported.\n"
            "  Found: an offset given as an array. Fit with the column's name in `offset`."
        )
    terms = {t for g in np.flatnonzero(model.groups) for t in coded.groups.terms[g]}
    inputs = [
        Input(name, kind)
        for name, kind in spec.schema.items()
        if any(name in spec[t].term.variables for t in terms)
    ]
    offset = None
    if isinstance(design.offset_name, str):
        names = [column.name for column in inputs]
        if design.offset_name not in names:
            inputs.append(Input(design.offset_name, "number"))
        offset = [column.name for column in inputs].index(design.offset_name)
    number = {column.name: i for i, column in enumerate(inputs)}
    features: list[Feature] = []
    places: list[tuple[int, int]] = []
    for name in (t for t in spec.units.term_order if t in terms):
        own, at = _features(spec, spec[name], number)
        places += [(len(features) + i, start) for i, start in at]
        features += own
    bins = model.own_bins(coded)
    if bins is not None:
        places = [places[j] for j in bins.source]
    family = design.response.family
    summed = model.is_link or model.joined() is None
    many = family.n_classes > 2
    return Program(
        inputs=tuple(inputs),
        features=tuple(features),
        constant=tuple((model.constant if summed else np.zeros_like(model.constant)).tolist()),
        link=_LINKS[family.name] if model.is_link else IDENTITY,
        classes=tuple(map(str, design.response.classes)) if many else (),
        offset=offset,
        new_levels=spec.new_levels,
        response=design.response.name,
        labels=tuple(map(str, design.response.classes or ())),
        n_trees=len(model.tree_weights),
        _fit=fit,
        _places=tuple(places),
    )


def _edges(fit: Fit) -> list[FloatArray | None]:
    """Thresholds of each column of the trees, None for factors."""
    model, coded = fit.model, fit.design.arrays
    bins = model.own_bins(coded)
    if bins is None:
        return [coded.edges[j] for j in np.flatnonzero(model.groups[coded.groups.ids])]
    return [_unrounded(bins, own) for own in bins.edges]


def _unrounded(bins: ImportedBins, edges: FloatArray) -> FloatArray:
    """Thresholds that compare numbers as the library compares them rounded to 32 bits."""
    if not bins.single_precision:
        return edges
    with np.errstate(over="ignore"):
        below = edges.astype(np.float32)
    below = np.where(below > edges, np.nextafter(below, np.float32(-np.inf)), below)
    above = np.nextafter(below, np.float32(np.inf))
    middle = below.astype(np.float64) / 2 + above.astype(np.float64) / 2
    # Halfway is rounded to the number with an even last digit.
    even = below.view(np.int32) % 2 == 0
    return np.where(
        np.isfinite(edges), np.where(even, middle, np.nextafter(middle, -np.inf)), edges
    )


_PLAIN = (str, bool, int, float, np.bool_, np.integer, np.floating)
"""Types of levels that every language can write."""


def _features(
    spec: DesignSpec, term: TermSpec, number: dict[str, int]
) -> tuple[list[Feature], list[tuple[int, int]]]:
    """Features of a term, and the feature and first level of each of its coded columns."""
    parts = [term.factors[i] for i in term.order]
    name = term.term.name
    if term.kind == "factor":
        inputs = tuple(number[_column(part.factor.node, name)] for part in parts)
        levels = tuple(part.levels or () for part in parts)
        odd = [level for own in levels for level in own if not isinstance(level, _PLAIN)]
        if odd:
            raise _refused(name, f"the level {described(odd[0])}, neither text nor a number")
        combinations = term.combinations or tuple((i,) for i in range(len(levels[0])))
        feature = FactorFeature(name, inputs, levels, combinations)
        return [feature], [(0, k * MAX_BINS) for k in range(len(term.column_levels))]
    if term.kind == "factor x numeric" or term.n_fields != 1:
        raise _refused(name, "a product of a factor and a number, a spline or a polynomial")
    formulas = []
    for part in parts:
        try:
            formulas.append(translated(part.factor.node, spec.state[part.factor.name], number))
        except NotTranslated as error:
            raise _refused(name, str(error)) from None
    read = tuple(dict.fromkeys(number[v] for v in term.term.variables))
    if any(spec.schema[v] == "text" for v in term.term.variables):
        raise _refused(name, "text in an expression")
    return [NumberFeature(name, product(formulas), read)], [(0, 0)]


def _column(node: Node, term: str) -> str:
    """The column that a factor is read from."""
    match node:
        case Column(name) | Call("I", (Column(name),)):
            return name
        case Transform("C", inner):
            wanted: Any = node.option("levels")
            if wanted is None:
                return _column(inner, term)
            raise _refused(term, "`C()` with `levels`")
    raise _refused(term, "a factor computed from an expression")


def _refused(term: str, found: str) -> OptionError:
    return OptionError(
        f"Can't export the term {quoted(term)}.\n"
        f"  Found: {found}. Allowed: columns, `C(column)`, interactions of these, and numbers by"
        " arithmetic, `log`, `log2`, `log10`, `log1p`, `exp`, `sqrt`, `abs`, `square`, `floor`,"
        " `ceil`, `center` and `scale`.\n"
        "  Compute the term as a column of the data, and fit with that column."
    )


def levels_in_order(feature: FactorFeature) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Number and labels of each level or combination."""
    for k, combination in enumerate(feature.combinations):
        labels = zip(feature.levels, combination, strict=True)
        yield k + 1, tuple(own[i] for own, i in labels)


def depth_of(tree: Tree) -> int:
    """Depth of a tree."""
    depth = [0] * len(tree)
    for at, node in enumerate(tree):
        if node.test:
            depth[node.left] = depth[node.left + 1] = depth[at] + 1
    return max(depth)


def number_text(value: float) -> str:
    """A number that every language reads as the same float64."""
    assert math.isfinite(value)
    return repr(float(value))


def batched(items: Iterator[Tree], n: int) -> Iterator[list[Tree]]:
    """Lists of up to `n` trees."""
    while own := list(itertools.islice(items, n)):
        yield own
