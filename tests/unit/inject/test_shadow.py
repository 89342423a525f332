"""Shadow mode: which sessions are silent, and what is left of what they would have been told."""

import pathlib
import stat
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from recollect.core.errors import BadSetting
from recollect.core.settings import Settings, checked
from recollect.ingest.messages import RecallQuestion
from recollect.inject.recall import KEY_FILE, Shadow
from tests.fakes.runtime import RuntimeHome
from tests.make import NAMESPACE, record

SESSIONS = [f"session-{number}" for number in range(2000)]
GLOBAL = "/actor/ada/"
ASKED = "how are retries of the billing api capped?"
NOTE = "Retries of the billing API are capped at five with backoff."


@pytest.fixture
def half(settings: Settings) -> Settings:
    pathlib.Path(settings.directory).mkdir(mode=0o700)
    return replace(settings, shadow=0.5)


def silent_of(chosen: Settings) -> set[str]:
    shadow = Shadow(chosen)
    return {one for one in SESSIONS if shadow.silences(one)}


def test_an_arm_outlives_the_daemon_and_its_share_is_the_setting(half: Settings) -> None:
    silent = silent_of(half)
    assert silent_of(half) == silent
    # Four standard deviations of a share of 0.5 in 2000 sessions are 0.045.
    assert abs(len(silent) / len(SESSIONS) - 0.5) < 0.045
    few = silent_of(replace(half, shadow=0.1))
    assert few < silent and abs(len(few) / len(SESSIONS) - 0.1) < 0.027
    assert silent_of(replace(half, shadow=1.0)) == set(SESSIONS)
    assert silent_of(replace(half, shadow=0.0)) == set()


def test_an_arm_cannot_be_told_from_the_id_alone(half: Settings, tmp_path: pathlib.Path) -> None:
    silent = silent_of(half)
    other = replace(half, home=str(tmp_path / "other"))
    pathlib.Path(other.directory).mkdir(mode=0o700)
    both = len(silent & silent_of(other)) / len(SESSIONS)
    assert 0.2 < both < 0.3  # as by chance
    key = pathlib.Path(half.path(KEY_FILE))
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_a_damaged_key_is_replaced_and_one_that_cannot_be_used_turns_it_off(
    half: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    key = pathlib.Path(half.path(KEY_FILE))
    key.write_text("no key")
    assert 800 < len(silent_of(half)) < 1200
    assert len(key.read_text()) == 65
    key.unlink()
    key.mkdir()
    assert silent_of(half) == set()
    assert "shadow mode is off" in caplog.text


def test_without_shadow_no_key_is_made(half: Settings) -> None:
    Shadow(replace(half, shadow=0.0))
    assert not pathlib.Path(half.path(KEY_FILE)).exists()


def test_the_sessions_of_a_proof_are_never_silent(half: Settings) -> None:
    shadow = Shadow(replace(half, shadow=1.0))
    notes: dict[str, Any] = {}
    assert not shadow.silences("prove-recollect-marker-1")
    assert shadow.applied("prove-1", notes, "text", ("mr_1",)) == ("text", ("mr_1",))
    assert notes == {}


@pytest.mark.parametrize("value", ["1.5", -0.1, "nan", 2])
def test_a_share_is_a_number_from_0_to_1(value: Any) -> None:
    with pytest.raises(BadSetting, match="out of range: it takes 0 to 1"):
        checked("shadow", value)
    assert (checked("shadow", "0.2"), checked("shadow", 1)) == (0.2, 1.0)


# --- in the daemon ------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: pathlib.Path) -> Iterator[RuntimeHome]:
    made = RuntimeHome(tmp_path / "home", shadow=0.5)
    yield made
    made.close()


def test_a_silent_session_is_told_nothing_and_its_receipt_keeps_what_it_missed(
    home: RuntimeHome,
) -> None:
    (note,) = home.runtime.memories.add([record(NOTE, strategy="user", author="user")])
    parts = home.runtime.recall()
    parts.index_cache.fill([NAMESPACE, GLOBAL])
    recall = parts.recall_now
    recall.limit_ms = 5000
    shadow = Shadow(home.settings)
    silent = next(one for one in SESSIONS if shadow.silences(one))
    open_one = next(one for one in SESSIONS if not shadow.silences(one))

    def ask(session: str, trigger: str = "prompt", reason: str = "") -> tuple[Any, Any]:
        text = ASKED if trigger == "prompt" else ""
        question = RecallQuestion(trigger, text, (NAMESPACE, GLOBAL), session, None, 9500, reason)
        recalled = recall(question)
        parts.receipts.flush()
        return recalled, home.runtime.store.receipts.get(NAMESPACE, recalled.receipt_id or "")

    told, receipt = ask(open_one)
    assert told.records == (note.record_id,) and NOTE in told.context
    assert receipt.detail["shadow"] is False and receipt.detail["shadow_share"] == 0.5
    assert receipt.injected and receipt.tokens and "shadow_text" not in receipt.detail
    used = home.runtime.store.records.get(NAMESPACE, [note.record_id])[0].access_count

    # Asked again, resumed or compacted: it stays silent, and would still say the same.
    for trigger, reason in [("prompt", ""), ("prompt", "")]:
        told, receipt = ask(silent, trigger, reason)
        assert (told.context, told.records) == ("", ())
        assert (receipt.injected, receipt.tokens) == ((), 0)
        detail = receipt.detail
        assert detail["shadow"] is True and not any(one["injected"] for one in detail["known"])
        assert not any(one["injected"] for one in detail["candidates"])
        assert detail["shadow_injected"] == [note.record_id] and detail["shadow_tokens"] > 0
        assert NOTE in detail["shadow_text"] and detail["text"] == ""
    assert not recall._told.in_session(NAMESPACE, silent).keys
    after = home.runtime.store.records.get(NAMESPACE, [note.record_id])[0].access_count
    assert after == used
    shown = f"/api/receipts/{receipt.receipt_id}"
    assert NOTE in home.client.get(shown)["detail"]["shadow_text"]
    never = {"record_id": note.record_id, "namespace": NAMESPACE, "verdict": "never"}
    home.client.ask("POST", "/api/feedback", never)
    assert "capped" not in str(home.client.get(shown)["detail"])
    # What an agent says there in the same words is its own.
    assert recall.own_text.without(silent, NOTE) == NOTE
    assert recall.own_text.without(open_one, NOTE) == ""


def test_a_receipt_says_nothing_of_shadow_while_it_is_off(tmp_path: pathlib.Path) -> None:
    home = RuntimeHome(tmp_path / "home")
    try:
        recalled = home.runtime.recall().recall_now(
            RecallQuestion("prompt", ASKED, (NAMESPACE, GLOBAL), "session-1", None, 9500)
        )
        home.runtime.recall().receipts.flush()
        receipt = home.runtime.store.receipts.get(NAMESPACE, recalled.receipt_id or "")
        assert receipt is not None and not {"shadow", "shadow_share"} & set(receipt.detail)
    finally:
        home.close()
