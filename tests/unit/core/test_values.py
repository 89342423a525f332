from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from recollect.core import errors, values
from recollect.core.ids import new_ulid
from recollect.core.values import ChatMessage, Event, JsonBody, MessageBody, Record, TextBody
from recollect.service.search import SearchQuery
from tests.make import event, record


def raw_event(**changes: Any) -> dict[str, Any]:
    base: dict[str, Any] = msgspec.to_builtins(event())
    return base | changes


def test_an_event_survives_json() -> None:
    one = event()
    assert values.decode(Event, values.encode(one)) == one


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"event_id": "nope"}, "event_id"),
        ({"event_id": new_ulid() + "\n"}, "event_id"),
        ({"namespace": "/actor/a/project/b"}, "namespace"),
        ({"namespace": "/actor/a/project/b/c/"}, "namespace"),
        ({"kind": "keystroke"}, "kind"),
        ({"valid_time": "2026-01-01T00:00:00"}, "valid_time"),
        ({"body": {"type": "image"}}, "body.type"),
        ({"body": {"type": "message", "turns": []}}, "body.turns"),
        ({"source": {"surface": "x", "project_path": "p" * 2049}}, "source.project_path"),
        ({"schema_version": 2}, "schema_version"),
        ({"session_id": ""}, "session_id"),
    ],
)
def test_a_bad_field_is_named(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(errors.BadInput) as caught:
        values.convert(Event, raw_event(**changes))
    assert caught.value.field == field


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(errors.BadInput, match="surprise"):
        values.convert(Event, raw_event(surprise=1))


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'"\xed\xa0\x80"'])
def test_what_is_no_json_is_bad_input(raw: bytes) -> None:
    with pytest.raises(errors.BadInput):
        values.decode(Event, raw)


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "x" * 201}, {"title": ""}, {"summary": "x" * 4001}, {"facts": ("x" * 501,)},
        {"concepts": ("x" * 101,)}, {"files": ("x" * 501,)}, {"importance": 0},
        {"confidence": 1.01}, {"record_id": "mr_x"}, {"valid_from": datetime(2026, 1, 1)},
    ],
)  # fmt: skip
def test_a_record_is_held_to_its_limits(changes: dict[str, Any]) -> None:
    values.check(record())
    with pytest.raises(errors.BadInput) as caught:
        values.check(record(**changes))
    assert caught.value.field.startswith(next(iter(changes)))


def test_values_cannot_change() -> None:
    with pytest.raises(AttributeError):
        record().title = "other"  # type: ignore[misc]


def test_the_question_is_taken_from_each_body_shape() -> None:
    turns = (ChatMessage(role="user", content="first"), ChatMessage(role="user", content="last"))
    assert values.query_text(TextBody(content="text")) == "text"
    assert values.query_text(MessageBody(turns=turns)) == "last"
    assert values.query_text(JsonBody(data={"b": 1, "a": "x"})) == '{"a":"x","b":1}'


def test_canonical_json_does_not_depend_on_order() -> None:
    assert values.encode({"b": 1, "a": 2}) == values.encode({"a": 2, "b": 1})


def test_a_record_round_trips_through_json() -> None:
    one = record(valid_from=datetime(2026, 1, 2, tzinfo=UTC), facts=("a",))
    assert values.decode(Record, values.encode(one)) == one


def test_complaints_say_what_would_be_right() -> None:
    def told(**wrong: object) -> str:
        with pytest.raises(errors.BadInput) as caught:
            values.convert(SearchQuery, {"query": "x", **wrong}, strict=False)
        return str(caught.value)

    assert told(query="") == "query must not be empty"
    assert told(query="x" * 2000) == "query must have at most 1000 characters"
    assert told(kind="knowlege") == (
        "kind cannot be 'knowlege': it is one of episode, knowledge, observation, summary"
    )
    assert "one of constraint, decision" in told(type="descision")
    assert told(limit="0") == "limit must be at least 1"
    assert told(limit="many") == "limit must be a whole number, not a text"
    assert told(since="soon") == "since is no time: write 2026-11-01T15:30:00Z"
    assert told(projct="x") == "there is no field 'projct' here; did you mean 'project'?"
    with pytest.raises(errors.BadInput, match=r"event_id is not an id: 26 letters and digits"):
        values.convert(values.Event, {"event_id": "x"})


def test_a_shape_that_does_not_exist_is_answered_with_those_that_do() -> None:
    with pytest.raises(errors.BadInput) as refused:
        values.decode(Event, values.encode(raw_event(body={"type": "xml", "content": "x"})))
    words = "body.type cannot be 'xml': it is one of json, message, text"
    assert str(refused.value) == words and refused.value.field == "body.type"
