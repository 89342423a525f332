"""The published int8 model becomes one that runs fast: weights expanded once, not at each run.

In: the bytes of `model.onnx` as published: int8 tensors, each followed by Cast and Mul. Out: the
bytes of a model whose matrices are float32, while the large word table stays int8 and only the
rows that a text needs are expanded. A model of another shape raises ModelUnavailable.

ONNX files are protocol buffers. Four fields of three messages are all that is needed here, so
they are read and written directly instead of through the `onnx` package.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.core.errors import ModelUnavailable

_GRAPH, _NODE, _INITIALIZER = 7, 1, 5
_INPUT, _OUTPUT, _NAME, _OPERATOR, _ATTRIBUTE = 1, 2, 3, 4, 5
_DIMS, _TYPE, _TENSOR_NAME, _RAW = 1, 2, 8, 9
_FLOAT, _INT8 = 1, 3

WORD_TABLE = "inner.embeddings.word_embeddings.weight"

Field = tuple[int, int, "int | bytes"]  # number, wire type, value


@dataclass(frozen=True)
class _Node:
    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    raw: bytes


def expanded(model: bytes) -> bytes:
    """The same model with its weights expanded."""
    try:
        return b"".join(
            _field(number, wire, _graph(value) if number == _GRAPH else value)
            for number, wire, value in _fields(model)
        )
    except (IndexError, KeyError, ValueError, TypeError) as error:
        raise ModelUnavailable(f"the model has an unexpected form: {error!r}") from error


def _graph(value: "int | bytes") -> bytes:
    if isinstance(value, int):
        raise ValueError("the graph is no message")
    fields = list(_fields(value))
    nodes = [_node(_bytes(raw)) for number, _, raw in fields if number == _NODE]
    tensors = {}
    for number, _, raw in fields:
        if number == _INITIALIZER:
            name, array = _tensor(_bytes(raw))
            tensors[name] = (array, _bytes(raw))
    casts = {node.outputs[0]: node.inputs[0] for node in nodes if node.operator == "Cast"}
    weights: dict[str, tuple[str, str]] = {}  # expanded name -> its int8 and its scale
    for node in nodes:
        if node.operator == "Mul" and casts.get(node.inputs[0]) in tensors:
            weights[node.outputs[0]] = (casts[node.inputs[0]], node.inputs[1])
    if WORD_TABLE not in weights:
        raise ValueError(f"no {WORD_TABLE}")
    return _written(fields, nodes, tensors, weights)


def _written(
    fields: list[Field],
    nodes: list[_Node],
    tensors: dict[str, tuple[NDArray[Any], bytes]],
    weights: dict[str, tuple[str, str]],
) -> bytes:
    dropped = set(weights) | set(_cast_outputs(nodes, weights))
    replaced = {name for pair in weights.values() for name in pair}
    kept = {*weights[WORD_TABLE]}
    out = bytearray()
    for node in nodes:
        if node.outputs[0] in dropped:
            continue
        if node.operator == "Gather" and node.inputs[0] == WORD_TABLE:
            out += _gathered(node, *weights[WORD_TABLE])
        else:
            out += _field(_NODE, 2, node.raw)
    for name, (_, raw) in tensors.items():
        if name not in replaced or name in kept:
            out += _field(_INITIALIZER, 2, raw)
    for name, (codes, scale) in weights.items():
        if name != WORD_TABLE:
            full = tensors[codes][0].astype(np.float32) * tensors[scale][0]
            out += _field(_INITIALIZER, 2, _float_tensor(name, full))
    for number, wire, value in fields:
        if number not in (_NODE, _INITIALIZER):
            out += _field(number, wire, value)
    return bytes(out)


def _cast_outputs(nodes: list[_Node], weights: dict[str, tuple[str, str]]) -> Iterator[str]:
    codes = {codes for codes, _ in weights.values()}
    for node in nodes:
        if node.operator == "Cast" and node.inputs[0] in codes:
            yield node.outputs[0]


def _gathered(node: _Node, codes: str, scale: str) -> bytes:
    """Rows first, then their expansion: a text of 12 words needs 12 rows, not 30,522."""
    rows, row_scales, floats = (f"{WORD_TABLE}_{part}" for part in ("rows", "scales", "floats"))
    ids, result = node.inputs[1], node.outputs[0]
    to_float = _field(1, 2, b"to") + _field(3, 0, _FLOAT) + _field(20, 0, 2)
    return b"".join(
        _field(_NODE, 2, message)
        for message in (
            _new_node("Gather", (codes, ids), rows),
            _new_node("Gather", (scale, ids), row_scales),
            _new_node("Cast", (rows,), floats, to_float),
            _new_node("Mul", (floats, row_scales), result),
        )
    )


# --- messages -----------------------------------------------------------------------------------


def _node(raw: bytes) -> _Node:
    texts: dict[int, list[str]] = {_INPUT: [], _OUTPUT: [], _OPERATOR: []}
    for number, _, value in _fields(raw):
        if number in texts:
            texts[number].append(_bytes(value).decode())
    return _Node(texts[_OPERATOR][0], tuple(texts[_INPUT]), tuple(texts[_OUTPUT]), raw)


def _new_node(operator: str, inputs: tuple[str, ...], output: str, attribute: bytes = b"") -> bytes:
    message = b"".join(_field(_INPUT, 2, name.encode()) for name in inputs)
    message += _field(_OUTPUT, 2, output.encode()) + _field(_NAME, 2, output.encode())
    message += _field(_OPERATOR, 2, operator.encode())
    return message + (_field(_ATTRIBUTE, 2, attribute) if attribute else b"")


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
    dtype = {_FLOAT: "<f4", _INT8: "i1"}.get(kind)
    if dtype is None:
        return name, np.zeros(0, dtype=np.uint8)
    return name, np.frombuffer(data, dtype=dtype).reshape(dims)


def _float_tensor(name: str, array: NDArray[np.float32]) -> bytes:
    message = b"".join(_field(_DIMS, 0, size) for size in array.shape)
    message += _field(_TYPE, 0, _FLOAT) + _field(_TENSOR_NAME, 2, name.encode())
    return message + _field(_RAW, 2, array.astype("<f4").tobytes())


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
