"""Reading what should have been JSON, and making it fit."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.core.values import encode
from recollect.hosts.adapter import said
from recollect.hosts.reading import (
    BODY_BYTES,
    MAX_DEPTH,
    cut,
    fit,
    lenient,
    moment,
    plain,
    prose,
    read_object,
)
from tests.fakes.growth import assert_linear


@pytest.mark.parametrize(
    ("raw", "data"),
    [
        (b'{"a":"x\\"y\\n', {"a": 'x"y\n'}),
        (b'{"a":1,"prompt":"half \\u12', {"a": 1, "prompt": "half u12"}),
        (b'{"a":{"b":[1,2,{"c":"d', {"a": {"b": [1, 2, {"c": "d"}]}}),
        (b'{"a":"tail\\', {"a": "tail"}),
        (b'{"a":tru', {"a": None}),
        (b'{"a":"\\ud800","b":"\\ud83d\\ude00"}', {"a": "\ufffd", "b": "😀"}),
        (b'{"a":"bad \\q \\ud83d\\ude00","b":true}', {"a": "bad q 😀", "b": True}),
        (b'{"a":"\xff","b":1}', {"a": "\ufffd", "b": 1}),
        (b'{"n":1e999,"m":' + b"9" * 5000 + b"}", {"n": None, "m": None}),
        (b'{"a":NaN}', {"a": None}),
    ],
)
def test_damaged_json_gives_what_was_there(raw: bytes, data: dict[str, Any]) -> None:
    assert read_object(raw) == (data, True)


@pytest.mark.parametrize(
    "raw", [b"", b"  ", b"[]", b'"x"', b"7", b"\xff\xfe", b"hello", b"{", b"]"]
)
def test_what_is_no_object_is_none(raw: bytes) -> None:
    assert read_object(raw)[0] is None


@pytest.mark.parametrize(
    ("head", "unit", "tail"),
    [
        (b"", b"[", b""),
        (b"", b'{"a":', b""),
        (b'{"a":"', b'\\"', b""),
        (b"", b'{"a":"\\q"', b""),
        (b'{"a":[', b"0,", b"0]}"),
        (b'{"a":[', b'"x",', b""),
        (b'{"', b"a", b""),
    ],
)
def test_hostile_json_is_linear_work(head: bytes, unit: bytes, tail: bytes) -> None:
    def work(size: int) -> Callable[[], object]:
        raw = head + unit * (size // len(unit)) + tail
        return lambda: read_object(raw)

    assert_linear(work, 500_000)


def test_depth_and_number_of_values_are_bounded() -> None:
    deep: Any = "end"
    for _ in range(500):
        deep = {"a": deep}
    assert encode(plain(deep)).count(b"{") == MAX_DEPTH
    assert len(plain({"a": list(range(100_000))})["a"]) < 20_001
    assert "more]" in plain({"a": list(range(100_000))})["a"][-1]


def test_numbers_and_characters_that_cannot_be_stored_are_replaced() -> None:
    strange = {"inf": float("inf"), "big": 2**70, "nul": "a\x00b", "ok": -(2**63)}
    assert plain(strange) == {"inf": None, "big": hex(2**70), "nul": "a\ufffdb", "ok": -(2**63)}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x", "x"),
        ([{"type": "text", "text": "a"}, "b", {"content": ["c"]}], "a\nb\nc"),
        ({"parts": [{"text": "a"}]}, "a"),
        (7, ""),
        (None, ""),
        ([None, 7, []], ""),
    ],
)
def test_text_is_found_in_every_shape(value: Any, text: str) -> None:
    assert prose(value) == text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-11-15T19:14:47.230Z", datetime(2026, 11, 15, 19, 14, 47, 230000, UTC)),
        ("2026-11-15T19:14:47", datetime(2026, 11, 15, 19, 14, 47, 0, UTC)),
        (1794769952611, datetime(2026, 11, 15, 19, 12, 32, 611000, UTC)),
        ("1794769952611", datetime(2026, 11, 15, 19, 12, 32, 611000, UTC)),
        (1794769952, datetime(2026, 11, 15, 19, 12, 32, 0, UTC)),
        ("yesterday", None),
        (10**30, None),
        ("9" * 400, None),
        (-5, None),
        (True, None),
        ({}, None),
        ("0001-01-01T00:00:00+23:59", None),
    ],
)
def test_times_in_every_spelling(value: Any, expected: datetime | None) -> None:
    assert moment(value) == expected


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=9,
    )
)
@settings(deadline=None)
def test_the_lenient_reader_reads_good_json_as_it_is(value: Any) -> None:
    assert lenient(encode(value).decode()) == value


def test_a_long_text_is_cut_with_a_marker_that_counts() -> None:
    assert cut("short", 100) == "short"
    text = cut("ä" * 1000, 100)
    assert len(text.encode()) <= 100
    kept = text.count("ä")
    assert text == "ä" * kept + f"… [truncated {2000 - 2 * kept} bytes]"


def test_the_largest_texts_shrink_first() -> None:
    data = fit({"small": "s" * 1000, "large": "x" * (2 << 20), "other": "y" * (700 << 10)})
    assert data["small"] == "s" * 1000
    assert "truncated" in data["large"] and "truncated" in data["other"]
    assert len(encode(data)) <= BODY_BYTES


def test_a_text_of_512_kib_is_kept_whole() -> None:
    whole = "x" * 512 * 1024
    assert said(whole) == whole
    cut_off = said(whole + "x")
    assert len(cut_off.encode()) <= len(whole) and cut_off.endswith(" bytes]")


@given(
    st.dictionaries(
        st.text(max_size=5), st.tuples(st.text(max_size=4), st.integers(0, 400_000)), max_size=4
    ),
    st.integers(0, 3),
)
@settings(max_examples=40, deadline=None)
def test_everything_fits(texts: dict[str, tuple[str, int]], depth: int) -> None:
    data: dict[str, Any] = {key: text * times for key, (text, times) in texts.items()}
    for _ in range(depth):
        data = {"in": [data, "\x01" * 100_000]}
    fitted = fit(plain(data))
    assert len(encode(fitted)) <= BODY_BYTES
    assert list(fitted) == list(plain(data))


def test_countless_small_things_fit_too() -> None:
    data = {f"\x01{n:05}" * 40: n for n in range(8_000)}
    assert len(encode(fit({"tool": "x", "input": plain(data)}))) <= BODY_BYTES
