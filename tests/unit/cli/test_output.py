"""What is printed fits the terminal, and a pipe."""

from typing import Any

import click
import pytest

from recollect.cli import output, why
from recollect.cli.output import PIPE_WIDTH, many, memories, print_table

LONG = "why do retries fail when the clock goes back, and what of the cache? " * 5


def receipt() -> dict[str, Any]:
    candidate = {
        "injected": False, "score": 0.25, "parts": {"words": 0.5, "meaning": 0.25},
        "title": LONG, "why_not": "below the floor", "record_id": "mr_" + "0" * 26,
    }  # fmt: skip
    return {
        "receipt_id": "rcp_" + "0" * 26, "created_at": "2026-11-16T02:33:00Z", "query": LONG,
        "trigger": "prompt", "injected": [], "latency_us": 12345, "tokens": 0,
        "detail": {"candidates": [candidate], "text": "<recollect>\nUse uv\n</recollect>"},
    }  # fmt: skip


def test_why_can_be_read_at_eighty_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    why.print_receipts([receipt()])
    listed = capsys.readouterr().out
    assert max(map(len, listed.splitlines())) <= 80
    assert "why do retries fail when the clock goes back" in listed
    assert "0 injected, 12 ms" in listed and "rcp_" + "0" * 26 in listed
    why.print_receipt(receipt(), as_json=False)
    told = capsys.readouterr().out.splitlines()
    text, table = "\n".join(told).split("</recollect>")
    assert max(map(len, text.splitlines())) <= 80
    assert max(map(len, table.splitlines())) <= PIPE_WIDTH
    assert {"  | <recollect>", "  | Use uv", "  | </recollect>"} < set(told)
    flat = " ".join(" ".join(told).split())
    assert "below the floor" in flat and "0.25: words" in flat and " 00000 " in flat


def test_why_says_that_a_shadow_session_was_silent_on_purpose(
    capsys: pytest.CaptureFixture[str],
) -> None:
    silent = receipt()
    silent["detail"] |= {"shadow": True, "shadow_tokens": 312, "shadow_text": "Use uv", "text": ""}
    silent["detail"]["candidates"][0]["why_not"] = ""
    why.print_receipt(silent, as_json=False)
    told = capsys.readouterr().out
    assert "Shadow session: silent on purpose; it would have injected 312 tokens." in told
    assert "  | Use uv" in told
    assert "session is a" in told.split("Outcome")[1]


def test_no_color_leaves_nothing_bold(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    print_table(["What"], [["x"]])
    assert "\x1b[" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    print_table(["What"], [["x"]])
    assert "\x1b[" not in capsys.readouterr().out


def test_a_piped_table_is_no_wider_than_a_page_and_its_ids_are_whole(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(["What", "Meaning", "Id"], [["x" * 60, LONG, "op_" + "0" * 26]])
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= PIPE_WIDTH
    assert "op_" + "0" * 26 in printed


def test_one_is_not_several() -> None:
    assert [many(n, "event") for n in (0, 1, 2)] == ["0 events", "1 event", "2 events"]
    assert [memories(n) for n in (1, 2)] == ["1 memory", "2 memories"]


def test_only_at_the_first_question_was_nothing_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(question: str, default: bool) -> bool:
        raise click.Abort

    monkeypatch.setattr(output, "_asked", [])
    monkeypatch.setattr(click, "confirm", gone)
    with pytest.raises(output.QuestionUnanswered, match=r"^nothing was done$"):
        output.confirmed("Sure?")
    with pytest.raises(click.Abort) as later:
        output.confirmed("And this?")
    assert not isinstance(later.value, output.QuestionUnanswered)
