"""A final model in ONNX: numbers of double precision, one tree ensemble, and its link."""

from __future__ import annotations

from typing import Any

import numpy as np

from treeselect.errors import OptionError, quoted
from treeselect.exporting.formulas import Formula
from treeselect.exporting.program import (
    AT_MOST_OR_MISSING,
    EQUAL,
    LOG,
    LOGIT,
    MISSING,
    SOFTMAX,
    FactorFeature,
    Program,
    TreeNode,
)

_OPERATORS = {
    "+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "power": "Pow", "ln": "Log", "exp": "Exp",
    "sqrt": "Sqrt", "abs": "Abs", "floor": "Floor", "ceil": "Ceil",
}  # fmt: skip

_LARGE = float(np.finfo(np.float64).max)


def onnx_model(program: Program) -> bytes:
    """The model as bytes.

    Raises
    ------
    OptionError
        If the package onnx is missing, or a term can't be written.
    """
    try:
        import onnx
    except ImportError:
        raise OptionError(
            "A path that ends in .onnx needs the package onnx.\n"
            '  Install it with `pip install "treeselect[onnx]"`, or write a .py file.'
        ) from None
    graph = _Graph(program)
    graph.write()
    made = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes, "treeselect", graph.inputs, graph.outputs, graph.constants
        ),
        opset_imports=[
            onnx.helper.make_opsetid("", 17),
            onnx.helper.make_opsetid("ai.onnx.ml", 3),
        ],
        ir_version=8,
        producer_name="treeselect",
    )
    onnx.checker.check_model(made)
    return bytes(made.SerializeToString())


class _Graph:
    """Nodes in the order in which they are computed."""

    def __init__(self, program: Program) -> None:
        from onnx import TensorProto, helper

        self.program, self.make = program, helper
        self.double = TensorProto.DOUBLE
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.unknown: list[str] = []
        kinds = {True: TensorProto.STRING, False: TensorProto.DOUBLE}
        self.inputs = [
            helper.make_tensor_value_info(c.name, kinds[c.kind == "text"], [None, 1])
            for c in program.inputs
        ]
        shape = [None, len(program.constant)]
        self.outputs = [helper.make_tensor_value_info("prediction", self.double, shape)]

    def add(self, operator: str, inputs: list[str], domain: str = "", **options: Any) -> str:
        """Append a node; the name of its output."""
        name = f"treeselect_{len(self.nodes)}"
        self.nodes.append(self.make.make_node(operator, inputs, [name], domain=domain, **options))
        return name

    def number(self, *values: float) -> str:
        """A constant row of numbers."""
        name = f"treeselect_constant_{len(self.constants)}"
        shape = [1, len(values)]
        self.constants.append(self.make.make_tensor(name, self.double, shape, values))
        return name

    def write(self) -> None:
        """All nodes."""
        program = self.program
        names = [column.name for column in program.inputs]
        if not program.n_trees:
            raise OptionError(
                "A model without trees can't be exported to ONNX.\n"
                "  Found: the null model. Write a .py or .sql file."
            )
        total = self.add("Add", [self.number(*program.constant), self._trees()])
        for code in self.unknown:
            total = self.add("Add", [total, code])
        if program.offset is not None:
            total = self.add("Add", [total, names[program.offset]])
        if program.link == LOGIT:
            total = self.add("Div", [self.number(1.0), self.add("Add", [self.number(1.0), self.add(
                "Exp", [self.add("Neg", [total])])])])  # fmt: skip
        elif program.link == LOG:
            total = self.add("Exp", [self.add("Min", [total, self.number(300.0)])])
        elif program.link == SOFTMAX:
            total = self.add("Softmax", [total], axis=1)
        self.nodes.append(self.make.make_node("Identity", [total], ["prediction"]))

    def _trees(self) -> str:
        features = [
            self._factor(f) if isinstance(f, FactorFeature) else self._written(f.formula)
            for f in self.program.features
        ]
        table = self.add("Concat", features, axis=1)
        own: dict[str, list[Any]] = {name: [] for name in (
            "nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_modes",
            "nodes_truenodeids", "nodes_falsenodeids", "nodes_missing_value_tracks_true",
            "target_treeids", "target_nodeids", "target_ids")}  # fmt: skip
        values: list[float] = []
        weights: list[float] = []
        for number, tree in enumerate(self.program.trees()):
            for at, node in enumerate(tree):
                mode, value, missing = self._test(node)
                own["nodes_treeids"].append(number)
                own["nodes_nodeids"].append(at)
                own["nodes_featureids"].append(max(node.feature, 0))
                own["nodes_modes"].append(mode)
                own["nodes_truenodeids"].append(node.left)
                own["nodes_falsenodeids"].append(node.left + 1 if node.test else 0)
                own["nodes_missing_value_tracks_true"].append(missing)
                values.append(value)
                for k, weight in enumerate(() if node.test else node.value):
                    own["target_treeids"].append(number)
                    own["target_nodeids"].append(at)
                    own["target_ids"].append(k)
                    weights.append(weight)
        tensor = self.make.make_tensor
        found = self.add(
            "TreeEnsembleRegressor", [table], "ai.onnx.ml",
            n_targets=len(self.program.constant),
            nodes_values_as_tensor=tensor("values", self.double, [len(values)], values),
            target_weights_as_tensor=tensor("weights", self.double, [len(weights)], weights),
            **own,
        )  # fmt: skip
        return self.add("Cast", [found], to=self.double)

    def _test(self, node: TreeNode) -> tuple[str, float, int]:
        """Mode, value and whether missing values go left. Missing levels have the code 0."""
        if not node.test:
            return "LEAF", 0.0, 0
        is_factor = isinstance(self.program.features[node.feature], FactorFeature)
        if node.test == EQUAL or (is_factor and node.test == MISSING):
            return "BRANCH_EQ", node.number, 0
        if node.test == MISSING:
            return "BRANCH_LT", -_LARGE, 1
        return "BRANCH_LEQ", node.number, int(node.test == AT_MOST_OR_MISSING)

    def _factor(self, feature: FactorFeature) -> str:
        """Codes of a factor of text: 0 is missing, which is the empty text."""
        program, levels = self.program, feature.levels[0]
        column = program.inputs[feature.inputs[0]]
        if len(feature.inputs) > 1 or column.kind != "text" or "" in levels or not all(
            isinstance(level, str) for level in levels
        ):  # fmt: skip
            raise OptionError(
                f"Can't export the term {quoted(feature.term)} to ONNX.\n"
                "  Found: a factor that is not a column of text, or has the empty text as a level."
                " Write a .py or .sql file, or fit with a column of text."
            )
        unknown = {"error": float("nan"), "missing": 0.0, "other": -1.0}[program.new_levels]
        codes = self.add(
            "LabelEncoder", [column.name], "ai.onnx.ml",
            keys_strings=["", *levels], values_floats=[float(i) for i in range(len(levels) + 1)],
            default_float=unknown,
        )  # fmt: skip
        found = self.add("Cast", [codes], to=self.double)
        if program.new_levels == "error":  # NaN times 0 makes the prediction NaN
            self.unknown.append(self.add("Mul", [found, self.number(0.0)]))
        return found

    def _written(self, formula: Formula) -> str:
        sign, *parts = formula
        if sign == "column":
            return self.program.inputs[parts[0]].name
        if sign == "number":
            return self.number(parts[0])
        return self.add(_OPERATORS[sign], [self._written(part) for part in parts])
