"""Making what was captured fit the limits of an event.

In: plain data, as `reading.plain` makes it. Out: the same data with long texts cut, largest first,
and a marker where something is missing. It always fits; small fields are kept whole.
"""

from typing import Any

from recollect.core.values import EVENT_BODY_BYTES, encode

STRING_BYTES = 512 << 10
# Room for the body's own frame and for what scrubbing may add.
BODY_BYTES = EVENT_BODY_BYTES - 4096
_SMALLEST = 64


def cut(text: str, limit: int) -> str:
    """At most `limit` bytes of UTF-8, the marker included."""
    if len(text) * 4 <= limit:
        return text
    raw = text.encode()
    if len(raw) <= limit:
        return text
    marker = f"… [truncated {len(raw)} bytes]"
    head = raw[: max(0, limit - len(marker.encode()))].decode("utf-8", "ignore")
    return head + f"… [truncated {len(raw) - len(head.encode())} bytes]"


def fit(data: dict[str, Any]) -> dict[str, Any]:
    """Data whose JSON is at most 1 MiB, with no text over 512 KiB."""
    fitted: dict[str, Any] = _with_texts_cut(data, STRING_BYTES)
    if len(encode(fitted)) > BODY_BYTES:
        limit = min(STRING_BYTES, _longest(data))
        while len(encode(fitted)) > BODY_BYTES and limit > _SMALLEST:
            limit = limit * 3 // 4
            fitted = _with_texts_cut(data, limit)
    while (size := len(encode(fitted))) > BODY_BYTES:
        # Only countless small things are left: give up the largest field as a whole.
        largest = max(fitted, key=lambda key: len(encode(fitted[key])))
        fitted[largest] = f"… [truncated {size} bytes]"
    return fitted


def fit_text(text: str) -> str:
    """The same for a single text. In JSON a character takes at most six bytes."""
    if len(text) * 6 <= STRING_BYTES:
        return text
    fitted = fit({"content": text})["content"]
    assert isinstance(fitted, str)
    return fitted


def _longest(value: Any) -> int:
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, dict):
        return max(map(_longest, value.values()), default=0)
    return max(map(_longest, value), default=0) if isinstance(value, list) else 0


def _with_texts_cut(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return cut(value, limit)
    if isinstance(value, dict):
        return {key: _with_texts_cut(item, limit) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_texts_cut(item, limit) for item in value]
    return value
