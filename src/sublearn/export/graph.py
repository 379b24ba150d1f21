"""Writing an ONNX graph node by node."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import sublearn
from sublearn.kernels.layout import Array

if TYPE_CHECKING:
    from onnx import ModelProto

OPSETS = {"": 17, "ai.onnx.ml": 3}
ML = "ai.onnx.ml"
FORMAT = 8  # IR version, the one of opset 17
N_ROWS = "n_rows"


def needed_onnx(owner: str) -> None:
    """Raise ImportError where onnx is missing."""
    if find_spec("onnx") is None:
        raise ImportError(f"{owner} needs onnx: pip install 'sublearn[onnx]'")


class TreeNodes(NamedTuple):
    """Nodes of binary trees as the tree-ensemble operator has them, those of a tree numbered from 0."""

    tree: Array  # int64, as are all but value
    number: Array
    feature: Array
    value: Array  # float64, or float32 where the input is
    below: Array  # the node for what is less than the value
    above: Array
    leaf: Array  # what a leaf gives out, below 2^24; -1 where there is none


class Graph:
    """A graph that grows; names are given out here."""

    def __init__(self, features: list[str] | None, *, is_double: bool) -> None:
        self.features = features
        self.number_type = np.float64 if is_double else np.float32
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._nodes: list[Any] = []
        self._tensors: dict[tuple[str, tuple[int, ...], bytes], Any] = {}
        self._taken = {*(features or ()), "X", "label", "probabilities", "value"}
        self._n_names = 0

    def node(self, kind: str, *inputs: "str | Array | np.generic", domain: str = "", **settings: Any) -> str:
        """Add a node with one output; return the name of that. Inputs are names, or numbers that are kept."""
        from onnx import helper

        names = [one if isinstance(one, str) else self.constant(np.asarray(one)) for one in inputs]
        out = self._name(kind)
        self._nodes.append(helper.make_node(kind, names, [out], name=out, domain=domain, **settings))
        return out

    def cast(self, name: str, dtype: Any) -> str:
        """Values as another type."""
        from onnx import helper

        return self.node("Cast", name, to=int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype))))

    def constant(self, array: Array) -> str:
        """The name of an array that is part of the model; equal ones are kept once."""
        from onnx import numpy_helper

        array = np.ascontiguousarray(array)
        is_text = array.dtype == object
        content = "\0".join(array.tolist()).encode() if is_text else array.tobytes()
        key = (array.dtype.str, array.shape, content)
        if key not in self._tensors:
            self._tensors[key] = numpy_helper.from_array(array, self._name("tensor"))
        return str(self._tensors[key].name)

    def trees(self, x: str, nodes: TreeNodes, n_trees: int) -> str:
        """What the leaf gives out that a row reaches in each tree (n_rows, n_trees), float32."""
        from onnx import numpy_helper

        is_leaf = nodes.leaf >= 0
        tree, number = nodes.tree[is_leaf].tolist(), nodes.number[is_leaf].tolist()
        weights = nodes.leaf[is_leaf].astype(nodes.value.dtype)
        if nodes.value.dtype == np.float64:
            values = {
                "nodes_values_as_tensor": numpy_helper.from_array(nodes.value, "values"),
                "target_weights_as_tensor": numpy_helper.from_array(weights, "weights"),
            }
        else:
            values = {"nodes_values": nodes.value.tolist(), "target_weights": weights.tolist()}
        return self.node(
            "TreeEnsembleRegressor",
            x,
            domain=ML,
            n_targets=n_trees,
            nodes_treeids=nodes.tree.tolist(),
            nodes_nodeids=nodes.number.tolist(),
            nodes_featureids=np.where(is_leaf, 0, nodes.feature).tolist(),
            nodes_modes=np.where(is_leaf, "LEAF", "BRANCH_LT").tolist(),
            nodes_truenodeids=np.where(is_leaf, 0, nodes.below).tolist(),
            nodes_falsenodeids=np.where(is_leaf, 0, nodes.above).tolist(),
            target_treeids=tree,
            target_nodeids=number,
            target_ids=tree,
            **values,
        )

    def zeros(self) -> str:
        """A column of zeros (n_rows, 1), float32."""
        n_rows = self.node("Slice", self.node("Shape", self._inputs[0].name), np.array([0]), np.array([1]))
        shape = self.node("Concat", n_rows, np.array([1]), axis=0)
        return self.node("Expand", np.zeros((1, 1), np.float32), shape)

    def input(self, name: str, dtype: Any, width: int) -> None:
        """Declare an input of so many columns."""
        self._inputs.append(_info(name, dtype, [N_ROWS, width]))

    def output(self, name: str, source: str, dtype: Any, *width: int) -> None:
        """Give something to the outside under a name; of so many columns, or as a vector."""
        from onnx import helper

        self._nodes.append(helper.make_node("Identity", [source], [name], name=self._name("out")))
        self._outputs.append(_info(name, dtype, [N_ROWS, *width]))

    def finished(self, notes: dict[str, str]) -> "ModelProto":
        """The model."""
        from onnx import helper

        graph = helper.make_graph(self._nodes, "sublearn", self._inputs, self._outputs, list(self._tensors.values()))
        opsets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=FORMAT)
        model.producer_name, model.producer_version = "sublearn", sublearn.__version__
        helper.set_model_props(model, notes)
        return model

    def _name(self, kind: str) -> str:
        self._n_names += 1
        name = f"{kind}_{self._n_names}"
        return name if name not in self._taken else self._name(kind)


def _info(name: str, dtype: Any, shape: list[str | int]) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)
