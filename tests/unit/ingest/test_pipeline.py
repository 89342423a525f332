"""The write path, with a real store and frames made by hand."""

import contextlib
import json
import pathlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from recollect.capture import frames, spool_writer
from recollect.capture.frames import Frame
from recollect.core import errors
from recollect.core.clock import ManualClock
from recollect.core.ids import new_ulid
from recollect.core.values import TextBody
from recollect.hosts import hooks
from recollect.ingest.counters import Counters
from recollect.ingest.messages import Recalled, RecallQuestion, Reply
from recollect.ingest.pipeline import Pipeline
from recollect.store.interface import Outcome
from recollect.store.sqlite import SqliteStore
from tests.make import event


@pytest.fixture
def counters(clock: ManualClock) -> Counters:
    return Counters(clock)


@pytest.fixture
def pipeline(store: SqliteStore, clock: ManualClock, counters: Counters) -> Pipeline:
    return Pipeline(store, clock, "ada", counters)


def frame(host: str, name: str, payload: dict[str, Any] | bytes, **fields: Any) -> Frame:
    raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    base: dict[str, Any] = {
        "ulid": new_ulid(), "boot_id": "boot", "mono_ns": 1, "wall_ns": 10**18,
        "argv": (host.encode(), name.encode()), "cwd": b"/", "stdin": raw,
    }  # fmt: skip
    return Frame(**(base | fields))


def digest(one: Frame) -> bytes:
    return frames.digest(frames.encode_payload(one))


def send(pipeline: Pipeline, one: Frame) -> Reply:
    return pipeline.frame(one, digest(one))


def stored(store: SqliteStore) -> list[Any]:
    found = [row for space in store.projects.namespaces() for row in store.events.page(space).items]
    return sorted(found, key=lambda row: row.seq)


PROMPT = {"session_id": "s", "cwd": "/", "prompt": "hello"}


def test_the_same_frame_twice_is_one_event(pipeline: Pipeline, store: SqliteStore) -> None:
    one = frame("claude-code", "UserPromptSubmit", PROMPT)
    assert send(pipeline, one).status == frames.STORED
    assert send(pipeline, one).status == frames.STORED
    assert len(stored(store)) == 1


def test_a_frame_that_was_stored_and_spooled_is_one_event(
    store: SqliteStore, clock: ManualClock, counters: Counters
) -> None:
    """The spooled one is scrubbed, so its bytes differ; its digest is of the original."""
    original = frame(
        "claude-code", "UserPromptSubmit", {**PROMPT, "prompt": "a <private>b</private>"}
    )
    send(Pipeline(store, clock, "ada", counters), original)
    scrubbed = frame(
        "claude-code", "UserPromptSubmit", {**PROMPT, "prompt": "a [REDACTED]"}, ulid=original.ulid
    )
    restarted = Pipeline(store, clock, "ada", counters)
    assert restarted.spooled([(scrubbed, digest(original))]) == [Reply(frames.STORED)]
    assert len(stored(store)) == 1


def test_the_same_id_with_another_frame_is_refused_and_reported(
    pipeline: Pipeline, store: SqliteStore, counters: Counters
) -> None:
    one = frame("claude-code", "UserPromptSubmit", PROMPT)
    other = frame("claude-code", "UserPromptSubmit", {**PROMPT, "prompt": "other"}, ulid=one.ulid)
    send(pipeline, one)
    assert send(pipeline, other).status == frames.REFUSED
    assert [row.event.body for row in stored(store)] == [TextBody(content="hello")]
    assert any(one.ulid in message for message in counters.errors_last_hour())


def test_a_failure_downstream_is_not_remembered_as_done(
    pipeline: Pipeline, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = frame("claude-code", "PostToolUse", {
        "session_id": "s", "tool_name": "Bash", "tool_use_id": "t",
        "tool_input": {"command": "make"}, "tool_response": "ok",
    })  # fmt: skip

    def full(arrivals: object) -> list[Outcome]:
        raise errors.DiskFull()

    with monkeypatch.context() as patched:
        patched.setattr(store.events, "put", full)
        with pytest.raises(errors.DiskFull):
            send(pipeline, one)
    assert send(pipeline, one).status == frames.STORED
    assert len(stored(store)) == 1


@contextlib.contextmanager
def hanging(store: SqliteStore) -> Iterator[Callable[[], None]]:
    """A store whose disk hangs until it is told to go on."""
    begun, go_on = threading.Event(), threading.Event()

    def hang(_: object) -> None:
        begun.set()
        go_on.wait()

    stuck = threading.Thread(target=store._engine.write, args=(hang,))
    stuck.start()
    begun.wait()
    try:
        yield go_on.set
    finally:
        go_on.set()
        stuck.join()


def told_while_hanging(store: SqliteStore, *tellings: Callable[[], object]) -> list[int]:
    """How many events were stored when each of these was told that all is well."""
    found: list[int] = []

    def tell(telling: Callable[[], object]) -> None:
        telling()
        found.append(len(stored(store)))

    with hanging(store) as go_on:
        threads = [threading.Thread(target=tell, args=(one,)) for one in tellings]
        for thread in threads:
            thread.start()
            thread.join(0.2)  # long enough to be told too early, if it is
        go_on()
        for thread in threads:
            thread.join()
    return found


def test_a_repeat_is_acknowledged_when_the_first_is_stored_and_not_before(
    pipeline: Pipeline, store: SqliteStore
) -> None:
    one = frame("claude-code", "UserPromptSubmit", PROMPT)
    again: Callable[[], object] = lambda: send(pipeline, one)  # noqa: E731
    assert told_while_hanging(store, again, again) == [1, 1]


def test_a_spooled_repeat_waits_for_the_first_too(pipeline: Pipeline, store: SqliteStore) -> None:
    """Its file is removed on this word, and may be all that a kill leaves."""
    one = frame("claude-code", "UserPromptSubmit", PROMPT)
    spooled = [(one, digest(one))]
    assert told_while_hanging(
        store, lambda: send(pipeline, one), lambda: pipeline.spooled(spooled)
    ) == [1, 1]


def test_a_second_firing_is_acknowledged_when_the_first_is_stored(
    pipeline: Pipeline, store: SqliteStore
) -> None:
    first, second = (frame("claude-code", "UserPromptSubmit", PROMPT) for _ in range(2))
    assert told_while_hanging(
        store, lambda: send(pipeline, first), lambda: send(pipeline, second)
    ) == [1, 1]


def test_a_repeat_at_the_api_is_called_one_when_the_first_is_stored(
    pipeline: Pipeline, store: SqliteStore
) -> None:
    one = event("hello")
    outcomes: list[str] = []

    def post() -> None:
        outcomes.append(pipeline.event(one, "d").status)

    assert told_while_hanging(store, post, post) == [1, 1]
    assert sorted(outcomes) == ["duplicate", "stored"]


def test_a_second_firing_stands_in_for_a_first_that_was_lost(
    pipeline: Pipeline, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (frame("claude-code", "UserPromptSubmit", PROMPT) for _ in range(2))

    def full(arrivals: object) -> list[Outcome]:
        raise errors.DiskFull()

    with monkeypatch.context() as patched:
        patched.setattr(store.events, "put", full)
        with pytest.raises(errors.DiskFull):
            send(pipeline, first)
    assert send(pipeline, second).status == frames.STORED
    assert len(stored(store)) == 1
    assert send(pipeline, first).status == frames.STORED  # it comes back from the spool
    assert len(stored(store)) == 1


# --- what was spooled ----------------------------------------------------------------------------


def spooled(pipeline: Pipeline, *given: Frame) -> list[int]:
    return [one.status for one in pipeline.spooled([(one, digest(one)) for one in given])]


def signal(name: str, second: float) -> Frame:
    payload = {"session_id": "s", "cwd": "/", "source": "resume", "reason": "other"}
    return frame("claude-code", name, payload, mono_ns=int(second * 1e9))


def test_how_far_firings_are_apart_is_told_by_their_own_clock(
    pipeline: Pipeline, store: SqliteStore
) -> None:
    """A spool is read in an instant: what happened minutes apart is two things all the same."""
    times = [10.0, 10.1, 600.0]
    assert spooled(pipeline, *(signal("SessionStart", at) for at in times)) == [frames.STORED] * 3
    assert [row.mono_ns for row in stored(store)] == [10 * 10**9, 600 * 10**9]


def test_a_session_that_was_resumed_at_once_is_so_from_the_spool_too(
    pipeline: Pipeline, store: SqliteStore
) -> None:
    names = ["SessionStart", "SessionEnd", "SessionEnd"] * 3
    spooled(pipeline, *(signal(name, 1 + at / 10) for at, name in enumerate(names)))
    told = [row.event.body.data["signal"] for row in stored(store)]
    assert told == ["session-start", "session-end"] * 3


def test_a_session_that_was_resumed_in_the_spool_runs(
    pipeline: Pipeline, store: SqliteStore
) -> None:
    names = ["SessionStart", "SessionEnd", "SessionStart"]
    spooled(pipeline, *(signal(name, 10.0 * at) for at, name in enumerate(names, 1)))
    (session,) = store.sessions.page("/actor/ada/").items
    assert (session.status, session.ended_at) == ("active", None)


def test_what_was_spooled_is_no_runaway_however_fast_it_is_read(
    pipeline: Pipeline, store: SqliteStore, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline._continuity, "most_per_minute", 5)
    many = [
        frame("claude-code", "UserPromptSubmit", {**PROMPT, "prompt": str(number)})
        for number in range(20)
    ]
    assert spooled(pipeline, *many) == [frames.STORED] * 20
    assert len(stored(store)) == 20


def test_many_spooled_frames_share_a_commit(pipeline: Pipeline, store: SqliteStore) -> None:
    commits = []

    def committing() -> bool:
        commits.append(1)
        return False

    store._engine.writer._connection.set_commit_hook(committing)
    send(pipeline, frame("claude-code", "UserPromptSubmit", PROMPT))  # the project is made here
    commits.clear()
    spooled(pipeline, *(signal("SessionEnd", 10.0 * number) for number in range(1, 50)))
    assert len(stored(store)) == 50
    assert len(commits) == 2  # the events, and the end of the session


def test_one_frame_that_makes_us_stumble_keeps_no_other_waiting(
    pipeline: Pipeline, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def prompts() -> list[Frame]:
        said = ("good", "cannot be read", "better", "cannot be stored", "refused", "best")
        return [frame("claude-code", "UserPromptSubmit", {**PROMPT, "prompt": one}) for one in said]

    capture, put = hooks.capture, store.events.put

    def stumbling(payload: Any) -> Any:
        if b"cannot be read" in payload.stdin:
            raise RecursionError
        return capture(payload)

    def picky(arrivals: Any) -> list[Outcome]:
        said = [one.event.body.content for one in arrivals]
        if "cannot be stored" in said:
            raise AssertionError
        if "refused" in said:
            raise errors.BadInput("not this one")
        return put(arrivals)

    monkeypatch.setattr(hooks, "capture", stumbling)
    monkeypatch.setattr(store.events, "put", picky)
    fine, stumbled, refused = frames.STORED, frames.NOT_NOW, frames.REFUSED
    assert spooled(pipeline, *prompts()) == [fine, stumbled, fine, stumbled, refused, fine]
    assert [row.event.body.content for row in stored(store)] == ["good", "better", "best"]


def test_a_store_that_cannot_write_keeps_all_of_the_spool(
    pipeline: Pipeline, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(arrivals: object) -> list[Outcome]:
        raise errors.DiskFull()

    monkeypatch.setattr(store.events, "put", full)
    with pytest.raises(errors.DiskFull):
        spooled(pipeline, frame("claude-code", "UserPromptSubmit", PROMPT))


def test_kiro_announces_a_start_before_every_prompt_and_stays_one_session(
    pipeline: Pipeline, store: SqliteStore, clock: ManualClock
) -> None:
    """Headless Kiro sends no session id and fires agentSpawn on every prompt."""
    for number in range(3):
        send(
            pipeline, frame("kiro-cli", "agentSpawn", {"hook_event_name": "agentSpawn", "cwd": "/"})
        )
        clock.advance(minutes=1)
        send(pipeline, frame("kiro-cli", "userPromptSubmit", {"cwd": "/", "prompt": f"p{number}"}))
        clock.advance(minutes=1)
    assert len({row.event.session_id for row in stored(store)}) == 1
    assert [row.event.kind for row in stored(store)] == ["note", "prompt", "prompt", "prompt"]
    clock.advance(hours=5)
    send(pipeline, frame("kiro-cli", "agentSpawn", {"hook_event_name": "agentSpawn", "cwd": "/"}))
    assert len({row.event.session_id for row in stored(store)}) == 2


def test_a_host_without_session_ids_begins_another_session_after_four_hours_of_silence(
    pipeline: Pipeline, store: SqliteStore, clock: ManualClock
) -> None:
    def sessions_after(text: str, **silence: int) -> int:
        clock.advance(**silence)
        send(pipeline, frame("kiro-cli", "userPromptSubmit", {"cwd": "/", "prompt": text}))
        return len({row.event.session_id for row in stored(store)})

    assert sessions_after("first") == 1
    assert sessions_after("the same", hours=3, minutes=59) == 1
    assert sessions_after("another", hours=4) == 2


def test_a_start_within_half_an_hour_is_no_new_session(
    pipeline: Pipeline, store: SqliteStore, clock: ManualClock
) -> None:
    for minutes, sessions in ((0, 1), (29, 1), (30, 2)):
        clock.advance(minutes=minutes)
        send(pipeline, frame("kiro-cli", "agentSpawn", {"cwd": "/", "at": minutes}))
        send(pipeline, frame("kiro-cli", "userPromptSubmit", {"cwd": "/", "prompt": str(minutes)}))
        assert len({row.event.session_id for row in stored(store)}) == sessions


def test_a_session_goes_on_after_a_restart_of_the_daemon(
    store: SqliteStore, clock: ManualClock, counters: Counters
) -> None:
    for number in range(2):
        pipeline = Pipeline(store, clock, "ada", counters)
        send(pipeline, frame("kiro-cli", "userPromptSubmit", {"cwd": "/", "prompt": f"p{number}"},
                             wall_ns=int(clock.now().timestamp() * 1e9)))  # fmt: skip
        clock.advance(minutes=5)
    assert len({row.event.session_id for row in stored(store)}) == 1


def test_a_host_in_a_loop_is_stopped_until_the_next_minute(
    pipeline: Pipeline, store: SqliteStore, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline._continuity, "most_per_minute", 5)
    replies = [
        send(pipeline, frame("claude-code", "UserPromptSubmit", {**PROMPT, "prompt": str(number)}))
        for number in range(8)
    ]
    assert [one.status for one in replies] == [frames.STORED] * 5 + [frames.REFUSED] * 3
    clock.advance(minutes=1)
    again = send(pipeline, frame("claude-code", "UserPromptSubmit", {**PROMPT, "prompt": "calm"}))
    assert again.status == frames.STORED


def test_a_prompt_is_answered_in_the_hosts_format_with_what_is_recalled(
    store: SqliteStore, clock: ManualClock, counters: Counters, tmp_path: pathlib.Path
) -> None:
    asked: list[RecallQuestion] = []

    def recall(question: RecallQuestion) -> Recalled:
        asked.append(question)
        return Recalled("remember this")

    pipeline = Pipeline(store, clock, "ada", counters, recall=recall)
    (tmp_path / "Makefile").touch()
    payload = {"session_id": "s", "cwd": str(tmp_path), "prompt": "how do I deploy?"}
    reply = send(pipeline, frame("claude-code", "UserPromptSubmit", payload))
    told = json.loads(reply.stdout)["hookSpecificOutput"]
    assert told == {"hookEventName": "UserPromptSubmit", "additionalContext": "remember this"}
    (question,) = asked
    assert (question.trigger, question.text) == ("prompt", "how do I deploy?")
    assert question.namespaces[1] == "/actor/ada/"
    assert question.namespaces[0].startswith("/actor/ada/project/")
    # what was spooled is not answered: nobody is waiting any more
    late = frame("claude-code", "UserPromptSubmit", {**payload, "prompt": "again"})
    assert pipeline.spooled([(late, digest(late))]) == [Reply(frames.STORED)]
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("host", "records", "besides", "shown"),
    [
        ("claude-code", ("mr_1", "mr_2"), (), "Recollect: 2 notes (recollect why)"),
        ("qwen", ("mr_1",), ("likely files",), "Recollect: 1 note (recollect why)"),
        ("claude-code", (), (), "Recollect: a hint (recollect why)"),
        ("claude-code", (), ("your profile",), "Recollect: your profile (recollect why)"),
        ("codex", ("mr_1",), (), None),  # one key more, and it would drop the context
    ],
)
def test_the_user_is_shown_one_line_where_the_host_can_show_one(
    host: str, records: tuple[str, ...], besides: tuple[str, ...], shown: str | None,
    store: SqliteStore, clock: ManualClock, counters: Counters,
) -> None:  # fmt: skip
    recall = lambda question: Recalled("remember this", records, besides=besides)  # noqa: E731
    speaking = Pipeline(store, clock, "ada", counters, recall=recall)
    said = json.loads(send(speaking, frame(host, "UserPromptSubmit", PROMPT)).stdout)
    assert said.get("systemMessage") == shown
    assert said["hookSpecificOutput"]["additionalContext"] == "remember this"
    quiet = Pipeline(store, clock, "ada", counters, recall=recall, visible_line=False)
    other = {**PROMPT, "prompt": "something else"}
    assert b"systemMessage" not in send(quiet, frame(host, "UserPromptSubmit", other)).stdout


def test_nothing_is_shown_where_nothing_was_injected(pipeline: Pipeline) -> None:
    assert send(pipeline, frame("claude-code", "UserPromptSubmit", PROMPT)).stdout == b""


@pytest.mark.parametrize(
    ("reason", "status"), [("other", "completed"), ("error", "failed"), ("timeout", "failed")]
)
def test_the_end_of_a_session_closes_it(
    pipeline: Pipeline, store: SqliteStore, reason: str, status: str
) -> None:
    send(pipeline, frame("claude-code", "UserPromptSubmit", PROMPT))
    ended = {"session_id": "s", "cwd": "/", "reason": reason}
    send(pipeline, frame("claude-code", "SessionEnd", ended))
    session = store.sessions.get("/actor/ada/", "s")
    assert session is not None and session.status == status


def test_a_body_above_the_cap_is_refused_by_the_api(pipeline: Pipeline) -> None:
    with pytest.raises(errors.TooLarge, match="body"):
        pipeline.event(event("x" * (1 << 20)), "d")


def test_a_secret_in_any_field_of_an_event_is_removed_and_counted_once(
    pipeline: Pipeline, store: SqliteStore, counters: Counters
) -> None:
    secret = "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    pipeline.event(event(f"key {secret}", session_id=f"s-{secret}", content_hash=secret), "d")
    (row,) = stored(store)
    assert secret not in str(row)
    assert "[REDACTED" in row.event.body.content and "[REDACTED" in row.event.session_id
    removed = [n for name, n in counters.totals().items() if name.startswith("secrets removed")]
    assert removed == [3]


def test_a_secret_directory_is_the_same_project_whether_the_daemon_or_the_spool_scrubbed_it(
    pipeline: Pipeline, store: SqliteStore, tmp_path: pathlib.Path
) -> None:
    secret = "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    (tmp_path / "Makefile").touch()  # a project, which a path that was cut may lie in
    given = {"session_id": "s", "prompt": "hello"}
    live = frame("codex", "UserPromptSubmit", given, cwd=f"{tmp_path}/{secret}".encode())
    assert send(pipeline, live).status == frames.STORED
    spooled = spool_writer.scrubbed(
        frame("codex", "UserPromptSubmit", {**given, "prompt": "again"}, cwd=live.cwd)
    )
    (reply,) = pipeline.spooled([(spooled, digest(spooled))])
    assert reply.status == frames.STORED
    first, second = (row.event for row in stored(store))
    assert first.namespace == second.namespace == "/actor/ada/"
    assert first.source.project_path == second.source.project_path
    assert secret not in str(stored(store))


@pytest.mark.parametrize("flag", [frames.TRUNCATED, frames.LATE, frames.DROPPED])
def test_a_payload_that_was_cut_is_counted_and_told(
    pipeline: Pipeline, counters: Counters, flag: int
) -> None:
    send(pipeline, frame("codex", "UserPromptSubmit", PROMPT, flags=flag))
    assert counters.totals()["payloads cut"] == 1
    (told,) = counters.errors_last_hour()
    assert told.startswith("a payload of codex was cut: it")


# --- the branch ---


def _on_branch(directory: pathlib.Path, name: str) -> None:
    (directory / ".git").mkdir(parents=True, exist_ok=True)
    (directory / ".git" / "HEAD").write_text(f"ref: refs/heads/{name}\n")


def test_an_event_knows_the_branch_that_was_checked_out(
    pipeline: Pipeline, store: SqliteStore, tmp_path: pathlib.Path
) -> None:
    _on_branch(tmp_path / "work", "retry-cap")
    send(
        pipeline, frame("claude-code", "UserPromptSubmit", PROMPT | {"cwd": str(tmp_path / "work")})
    )
    assert stored(store)[0].event.source.branch == "retry-cap"


def test_a_spooled_event_has_the_branch_of_its_own_time(
    pipeline: Pipeline, store: SqliteStore, tmp_path: pathlib.Path
) -> None:
    work = tmp_path / "work"
    _on_branch(work, "retry-cap")
    given = frame(
        "claude-code", "UserPromptSubmit", PROMPT | {"cwd": str(work)}, cwd=str(work).encode()
    )
    spooled = spool_writer.scrubbed(spool_writer.with_branch(given))
    _on_branch(work, "something-else")
    unnoted = frame("claude-code", "UserPromptSubmit", PROMPT | {"cwd": str(work), "prompt": "b"})
    pipeline.spooled([(spooled, digest(spooled)), (unnoted, digest(unnoted))])
    assert [one.event.source.branch for one in stored(store)] == ["retry-cap", ""]


def test_a_disk_that_hangs_does_not_keep_an_event_from_the_spool(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go = threading.Event(), threading.Event()

    def hang(directory: str) -> str:
        asked.set()
        go.wait(60)
        return "late"

    monkeypatch.setattr("recollect.core.projects.branch_of", hang)
    given = frame("claude-code", "UserPromptSubmit", PROMPT, cwd=str(tmp_path).encode())
    spooled = spool_writer.with_branch(given)
    assert asked.is_set()
    go.set()
    assert frames.noted_branch(spooled) == ""
    assert spooled.stdin == given.stdin
