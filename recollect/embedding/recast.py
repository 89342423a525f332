"""The published int8 model becomes one that runs fast: the same weights in a graph of few steps.

In: the bytes of `model.onnx` as published: int8 tensors, each followed by Cast and Mul, in a graph
of four hundred small steps. Out: the bytes of a model whose matrices are float32, and whose layers
are onnxruntime's own fused steps (Attention, BiasGelu, SkipLayerNormalization); the large word
table stays int8, and only the rows that a text needs are expanded. The vectors are the same. A
model of another shape raises ModelUnavailable.

ONNX files are protocol buffers. A few fields of five messages are all that is needed here, so
they are read and written directly instead of through the `onnx` package.
"""

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.core.errors import ModelUnavailable

_GRAPH, _OPERATORS = 7, 8  # of a model
_NODE, _GRAPH_NAME, _INITIALIZER, _GRAPH_INPUT, _GRAPH_OUTPUT = 1, 2, 5, 11, 12
_INPUT, _OUTPUT, _NAME, _OPERATOR, _ATTRIBUTE, _DOMAIN = 1, 2, 3, 4, 5, 7  # of a node
_DIMS, _TYPE, _TENSOR_NAME, _RAW = 1, 2, 8, 9  # of a tensor
_DTYPES = {1: "<f4", 3: "|i1", 6: "<i4", 7: "<i8"}  # the number of a type of tensor, and numpy's
_KINDS = {np.dtype(name): kind for kind, name in _DTYPES.items()}

MICROSOFT = "com.microsoft"  # the operators that are onnxruntime's own
LAYERS = 6
HEADS = 12
EPSILON = 1e-12
MATRICES = 6  # of a layer: query, key, value, output, up, down

Field = tuple[int, int, "int | bytes"]  # number, wire type, value
Tensors = dict[str, NDArray[Any]]


def recast(model: bytes) -> bytes:
    """The same model, arranged to run fast."""
    try:
        fields = list(_fields(model))
        graph = next(_bytes(value) for number, _, value in fields if number == _GRAPH)
        kept = [field for field in fields if field[0] != _GRAPH]
        kept.append((_GRAPH, 2, _Graph(list(_fields(graph))).written()))
        own = _field(1, 2, MICROSOFT.encode()) + _field(2, 0, 1)
        return b"".join(_field(*field) for field in [*kept, (_OPERATORS, 2, own)])
    except (IndexError, KeyError, ValueError, TypeError, StopIteration) as error:
        raise ModelUnavailable(f"the model has an unexpected form: {error!r}") from error


class _Graph:
    """Reads the weights of the published graph, and writes the new one step by step."""

    def __init__(self, published: list[Field]) -> None:
        self._ends = [field for field in published if field[0] in (_GRAPH_INPUT, _GRAPH_OUTPUT)]
        self._tensors = dict(_tensor(_bytes(raw)) for n, _, raw in published if n == _INITIALIZER)
        nodes = [_node(_bytes(raw)) for number, _, raw in published if number == _NODE]
        self._matrices = self._multiplied(nodes)
        self._out = bytearray()

    def _multiplied(self, nodes: list[tuple[str, list[str], list[str]]]) -> list[NDArray[Any]]:
        """The matrices in the order in which the model multiplies by them."""
        casts = {outputs[0]: inputs[0] for kind, inputs, outputs in nodes if kind == "Cast"}
        for kind, inputs, outputs in nodes:
            codes = casts.get(inputs[0], "")
            if kind == "Mul" and codes in self._tensors:
                scale = self._tensors[inputs[1]]
                self._tensors[outputs[0]] = self._tensors[codes].astype(np.float32) * scale
        matrices = [
            self._tensors[inputs[1]]
            for kind, inputs, _ in nodes
            if kind == "MatMul" and inputs[1] in self._tensors
        ]
        if len(matrices) != LAYERS * MATRICES:
            raise ValueError(f"{len(matrices)} matrices")
        return matrices

    def written(self) -> bytes:
        self._step("Cast", ["attention_mask"], "mask", to=_KINDS[np.dtype("<i4")])
        hidden = self._words()
        for layer in range(LAYERS):
            last = layer == LAYERS - 1
            hidden = self._layer(layer, hidden, "last_hidden_state" if last else f"hidden_{layer}")
        self._out += _field(_GRAPH_NAME, 2, b"all-MiniLM-L6-v2")
        return bytes(self._out) + b"".join(_field(*end) for end in self._ends)

    def _words(self) -> str:
        """Rows first, then their expansion: a text of 12 words needs 12 rows, not 30,522."""
        words, places = "word_embeddings.weight", "position_embeddings.weight"
        self._step("Gather", [self._part(f"{words}_q"), "input_ids"], "codes")
        self._step("Gather", [self._part(f"{words}_scale"), "input_ids"], "scales")
        self._step("Cast", ["codes"], "floats", to=_KINDS[np.dtype("<f4")])
        self._step("Mul", ["floats", "scales"], "words")
        kinds = self._part("token_type_embeddings.weight")
        self._step("Gather", [kinds, "token_type_ids"], "kinds")
        self._step("Add", ["words", "kinds"], "words_and_kinds")
        self._step("Shape", ["input_ids"], "length", start=1, end=2)
        nought = self._weight("nought", np.zeros(1, dtype="<i8"))
        self._step("Slice", [self._part(places), nought, "length", nought], "places")
        self._step("Add", ["words_and_kinds", "places"], "placed")
        norm = [self._part("LayerNorm.weight"), self._part("LayerNorm.bias")]
        return self._step("LayerNormalization", ["placed", *norm], "text", epsilon=EPSILON)

    def _layer(self, number: int, hidden: str, result: str) -> str:
        query, key, value, out, up, down = (
            self._matrices[MATRICES * number + at] for at in range(MATRICES)
        )
        name = f"layer_{number}"
        biases = [
            self._tensors[f"inner.encoder.layer.{number}.attention.self.{part}.bias"]
            for part in ("query", "key", "value")
        ]
        weights = self._weight(f"{name}.qkv", np.concatenate([query, key, value], axis=1))
        bias = self._weight(f"{name}.qkv.bias", np.concatenate(biases))
        attended = self._own(
            "Attention", [hidden, weights, bias, "mask"], f"{name}.attended", num_heads=HEADS
        )
        self._step("MatMul", [attended, self._weight(f"{name}.out", out)], f"{name}.said")
        said = self._normal(number, "attention.output", f"{name}.said", hidden, f"{name}.normal")
        self._step("MatMul", [said, self._weight(f"{name}.up", up)], f"{name}.wide")
        wide = [f"{name}.wide", self._of(number, "intermediate.dense.bias")]
        self._own("BiasGelu", wide, f"{name}.gelu")
        down_weight = self._weight(f"{name}.down", down)
        self._step("MatMul", [f"{name}.gelu", down_weight], f"{name}.narrow")
        return self._normal(number, "output", f"{name}.narrow", said, result)

    def _normal(self, number: int, part: str, said: str, before: str, result: str) -> str:
        """What was said, its bias, and what was there before: summed and at one scale."""
        names = (f"{part}.LayerNorm.weight", f"{part}.LayerNorm.bias", f"{part}.dense.bias")
        weights = [self._of(number, name) for name in names]
        return self._own(
            "SkipLayerNormalization", [said, before, *weights], result, epsilon=EPSILON
        )

    # --- pieces ---------------------------------------------------------------------------------

    def _part(self, name: str) -> str:
        """A weight of the embeddings, as published."""
        name = f"inner.embeddings.{name}"
        return self._weight(name, self._tensors[name])

    def _of(self, number: int, name: str) -> str:
        """A weight of a layer, as published."""
        name = f"inner.encoder.layer.{number}.{name}"
        return self._weight(name, self._tensors[name])

    def _weight(self, name: str, array: NDArray[Any]) -> str:
        self._out += _field(_INITIALIZER, 2, _tensor_message(name, array))
        return name

    def _step(self, operator: str, inputs: list[str], output: str, **numbers: float) -> str:
        self._out += _field(_NODE, 2, _node_message(operator, inputs, output, numbers))
        return output

    def _own(self, operator: str, inputs: list[str], output: str, **numbers: float) -> str:
        message = _node_message(operator, inputs, output, numbers)
        self._out += _field(_NODE, 2, message + _field(_DOMAIN, 2, MICROSOFT.encode()))
        return output


# --- messages -----------------------------------------------------------------------------------


def _node(raw: bytes) -> tuple[str, list[str], list[str]]:
    """Its operator, inputs and outputs."""
    texts: dict[int, list[str]] = {_INPUT: [], _OUTPUT: [], _OPERATOR: []}
    for number, _, value in _fields(raw):
        if number in texts:
            texts[number].append(_bytes(value).decode())
    return texts[_OPERATOR][0], texts[_INPUT], texts[_OUTPUT]


def _node_message(
    operator: str, inputs: list[str], output: str, numbers: dict[str, float]
) -> bytes:
    message = b"".join(_field(_INPUT, 2, name.encode()) for name in inputs)
    message += _field(_OUTPUT, 2, output.encode()) + _field(_NAME, 2, output.encode())
    message += _field(_OPERATOR, 2, operator.encode())
    for name, value in numbers.items():
        attribute = _field(1, 2, name.encode())
        if isinstance(value, int):
            attribute += _field(3, 0, value) + _field(20, 0, 2)
        else:
            attribute += _field(2, 5, struct.pack("<f", value)) + _field(20, 0, 1)
        message += _field(_ATTRIBUTE, 2, attribute)
    return message


def _tensor(raw: bytes) -> tuple[str, NDArray[Any]]:
    name, kind, dims, data = "", 0, [], b""
    for number, _, value in _fields(raw):
        if number == _DIMS and isinstance(value, int):
            dims.append(value)
        elif number == _TYPE and isinstance(value, int):
            kind = value
        elif number == _TENSOR_NAME:
            name = _bytes(value).decode()
        elif number == _RAW:
            data = _bytes(value)
    if kind not in _DTYPES:
        return name, np.zeros(0, dtype=np.uint8)
    return name, np.frombuffer(data, dtype=_DTYPES[kind]).reshape(dims)


def _tensor_message(name: str, array: NDArray[Any]) -> bytes:
    message = b"".join(_field(_DIMS, 0, size) for size in array.shape)
    message += _field(_TYPE, 0, _KINDS[array.dtype]) + _field(_TENSOR_NAME, 2, name.encode())
    return message + _field(_RAW, 2, array.tobytes())


# --- the wire -----------------------------------------------------------------------------------


def _fields(message: bytes) -> Iterator[Field]:
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, wire = key >> 3, key & 7
        value: int | bytes
        if wire == 0:
            value, at = _varint(message, at)
        else:
            size = {1: 8, 5: 4}.get(wire, 0)
            if wire == 2:
                size, at = _varint(message, at)
            if at + size > len(message) or (wire != 2 and not size):
                raise ValueError(f"field {number} is cut short")
            value, at = message[at : at + size], at + size
        yield number, wire, value


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _field(number: int, wire: int, value: "int | bytes") -> bytes:
    if isinstance(value, int):
        return _encoded(number << 3 | wire) + _encoded(value)
    size = _encoded(len(value)) if wire == 2 else b""
    return _encoded(number << 3 | wire) + size + value


def _encoded(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _bytes(value: "int | bytes") -> bytes:
    if isinstance(value, int):
        raise TypeError("a number where a message is due")
    return value
