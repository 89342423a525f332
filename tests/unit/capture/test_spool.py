import os
import time
from pathlib import Path

import pytest

from recollect.capture import frames, spool, spool_writer
from recollect.capture.frames import Frame
from recollect.core import ids, store_key
from recollect.core.errors import StoreError

BOOTS = ("aaaaaaaa-0000-0000-0000-000000000000", "bbbbbbbb-0000-0000-0000-000000000000")
DAY_NS = 86_400 * 10**9


def call(
    mono_ns: int = 0, wall_ns: int = 10**18, boot: str = BOOTS[0], stdin: bytes = b"x"
) -> Frame:
    return Frame(
        ulid=ids.new_ulid(), boot_id=boot, mono_ns=mono_ns, wall_ns=wall_ns, stdin=stdin, argv=()
    )


def keep(directory: Path, frame: Frame, cap: int = spool_writer.CAP_BYTES) -> Path:
    original = frames.digest(frames.encode_payload(frame))
    return Path(spool_writer.write(str(directory), frame, original, cap))


def drained(directory: Path) -> list[bytes]:
    return [frame.stdin for _, frame, _ in spool.drain(str(directory))]


def test_a_kept_frame_comes_back_with_its_digest_until_it_is_removed(tmp_path: Path) -> None:
    frame = call(stdin=b"hello")
    path = keep(tmp_path, frame)
    (found,) = spool.drain(str(tmp_path))
    assert found == (str(path), frame, frames.digest(frames.encode_payload(frame)))
    spool.remove(found[0])
    spool.remove(found[0])
    assert drained(tmp_path) == []


def test_the_name_of_a_spool_file_tells_time_and_id(tmp_path: Path) -> None:
    frame = call(mono_ns=7, wall_ns=1_700_000_000_123_456_789)
    assert keep(tmp_path, frame).name == f"1700000000123-{7:020d}-{frame.ulid}.frame"


def test_only_the_owner_can_read_the_spool(tmp_path: Path) -> None:
    path = keep(tmp_path / "data", call())
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.parent.parent.stat().st_mode & 0o777 == 0o700


def test_order_within_a_boot_survives_a_clock_that_goes_back(tmp_path: Path) -> None:
    wall = 10**18
    for index, shift in enumerate((0, -DAY_NS, DAY_NS, -(10**18), 3)):
        keep(tmp_path, call(mono_ns=1000 + index, wall_ns=wall + shift, stdin=b"%d" % index))
    assert drained(tmp_path) == [b"0", b"1", b"2", b"3", b"4"]


def test_boots_follow_each_other_by_their_earliest_time(tmp_path: Path) -> None:
    keep(tmp_path, call(5, 10**18 + DAY_NS, BOOTS[0], b"second boot"))
    keep(tmp_path, call(900, 10**18 + 2 * DAY_NS, BOOTS[1], b"first boot, late"))
    keep(tmp_path, call(800, 10**18, BOOTS[1], b"first boot"))
    assert drained(tmp_path) == [b"first boot", b"first boot, late", b"second boot"]


def test_no_spool_is_an_empty_spool(tmp_path: Path) -> None:
    assert drained(tmp_path) == []
    assert spool.statistics(str(tmp_path)) == spool.Statistics(0, 0, 0, 0)


def test_a_spool_that_cannot_be_listed_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "spool").write_text("a file")
    with pytest.raises(StoreError):
        drained(tmp_path)


def test_a_damaged_file_is_set_aside_and_counted(tmp_path: Path) -> None:
    good = keep(tmp_path, call(stdin=b"good"))
    cut = keep(tmp_path, call(stdin=b"cut"))
    cut.write_bytes(cut.read_bytes()[:-1])
    (good.parent / "nonsense.frame").write_bytes(b"\xff" * 300)
    (good.parent / "empty.frame").touch()
    with open(good.parent / "0-0-huge.frame", "wb") as huge:
        huge.truncate(1 << 34)
    assert drained(tmp_path) == [b"good"]
    assert spool.statistics(str(tmp_path)).damaged == 4
    assert sorted(os.listdir(good.parent / "damaged"))[0] == "0-0-huge.frame"
    assert drained(tmp_path) == [b"good"]


def test_what_cannot_be_read_now_stays(tmp_path: Path) -> None:
    path = keep(tmp_path, call(stdin=b"good"))
    os.symlink("/etc/passwd", path.parent / "1-1-link.frame")
    os.mkdir(path.parent / "2-2-folder.frame")
    os.mkfifo(path.parent / "3-3-pipe.frame")
    assert drained(tmp_path) == [b"good"]
    assert (path.parent / "1-1-link.frame").is_symlink()


def test_a_damaged_file_that_cannot_be_moved_is_passed_over(tmp_path: Path) -> None:
    path = keep(tmp_path, call(stdin=b"good"))
    (path.parent / "damaged").write_text("in the way")
    (path.parent / "9-9-bad.frame").write_bytes(b"bad")
    assert drained(tmp_path) == [b"good"]


def test_temporary_files_are_ignored_and_removed_when_old(tmp_path: Path) -> None:
    folder = keep(tmp_path, call()).parent
    fresh, stale = folder / "a.frame.1.tmp", folder / "b.frame.2.tmp"
    for path in (fresh, stale):
        path.write_bytes(b"half")
    long_ago = time.time() - 2 * spool.TEMPORARY_SECONDS
    os.utime(stale, (long_ago, long_ago))
    assert drained(tmp_path) == [b"x"]
    assert fresh.exists()
    assert not stale.exists()


def test_statistics_count_files_and_bytes(tmp_path: Path) -> None:
    sizes = [keep(tmp_path, call(stdin=bytes(n))).stat().st_size for n in (1, 1000)]
    assert spool.statistics(str(tmp_path)) == spool.Statistics(2, sum(sizes), 0, 0)


def test_past_the_cap_the_oldest_go_and_are_counted(tmp_path: Path) -> None:
    for index in range(10):
        keep(tmp_path, call(index, 10**18 + index * DAY_NS, stdin=bytes([index]) * 1000))
    folder = str(tmp_path / "spool")
    size = spool.statistics(str(tmp_path)).bytes // 10
    assert spool_writer.keep_within(folder, 7 * size) == 3
    assert spool_writer.keep_within(folder, 5 * size) == 2
    assert spool_writer.keep_within(folder, 5 * size) == 0
    assert [data[0] for data in drained(tmp_path)] == [5, 6, 7, 8, 9]
    assert spool.statistics(str(tmp_path)).dropped == 5


def test_a_large_event_looks_at_the_cap_at_once(tmp_path: Path) -> None:
    keep(tmp_path, call(1, stdin=b"old"), cap=10 << 20)
    keep(tmp_path, call(2, wall_ns=10**18 + DAY_NS, stdin=bytes(1 << 20)), cap=1 << 20)
    assert spool.statistics(str(tmp_path)).dropped >= 1


def test_a_full_disk_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(tmp_path, call())

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            keep(tmp_path, call())
    assert len(os.listdir(tmp_path / "spool")) <= 2  # the first event, perhaps the lock
    assert drained(tmp_path) == [b"x"]


def test_when_scrubbing_fails_nothing_raw_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(data: bytes) -> bytes:
        raise RecursionError

    monkeypatch.setattr(spool_writer, "_scrub", broken)
    frame = call(stdin=b"a secret")
    frame.argv, frame.env = (b"host", b"Stop", b"a secret"), (b"USER_PROMPT=a secret",)
    frame.cwd = b"/home/a secret"
    kept = spool_writer.scrubbed(frame)
    assert kept.flags & frames.DROPPED
    assert b"secret" not in frames.encode(kept)
    assert (kept.ulid, kept.argv) == (frame.ulid, (b"host", b"Stop", b""))


def test_a_name_that_could_be_a_secret_is_not_kept_when_scrubbing_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(data: bytes) -> bytes:
        raise ValueError

    monkeypatch.setattr(spool_writer, "_scrub", broken)
    frame = call()
    frame.argv = (b"ghp_a1B2c3D4e5a1B2c3", b"post_cascade_response")
    assert spool_writer.scrubbed(frame).argv == (b"", b"post_cascade_response")


def test_an_item_that_takes_too_long_is_left_out_and_the_others_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = spool_writer._scrub

    def slow(data: bytes) -> bytes:
        while data == b"endless":
            pass
        return plain(data)

    monkeypatch.setattr(spool_writer, "_scrub", slow)
    frame = call(stdin=b"a prompt")
    frame.argv, frame.env, frame.cwd = (b"h", b"Stop", b"endless"), (b"A=endless", b"B=b"), b"/x"
    kept = spool_writer.scrubbed(frame, cpu_seconds=0.01)
    assert (kept.argv, kept.env) == ((b"h", b"Stop", b""), (b"", b"B=b"))
    assert (kept.cwd, kept.stdin, kept.flags) == (b"/x", b"a prompt", frames.DROPPED)


def test_secrets_are_scrubbed_before_they_are_kept() -> None:
    secret = b"ghp_" + b"a1B2c3D4e5" * 4
    frame = call(stdin=b'{"prompt": "use %s now"}' % secret)
    frame.argv, frame.env = (b"host", b"Stop", b"token=" + secret), (b"USER_PROMPT=" + secret,)
    frame.cwd = b"/home/me/" + secret
    kept = spool_writer.scrubbed(frame)
    assert secret not in frames.encode(kept)
    assert kept.argv[:2] == frame.argv[:2]
    assert b'{"prompt": "use ' in kept.stdin
    assert not kept.flags & frames.DROPPED


def test_what_tells_a_session_apart_is_not_taken_for_a_secret() -> None:
    session = b"0b4a7d1e-2c3f-4a5b-8c6d-7e8f9a0b1c2d"
    frame = call(stdin=b'{"session_id": "%s", "cwd": "/home/me/work"}' % session)
    frame.argv = (b"claude-code", b"UserPromptSubmit")
    frame.env = (
        b"CLAUDE_CODE_SESSION_ID=" + session,
        b"KIRO_SESSION_ID=" + session,
        b"CLAUDE_PROJECT_DIR=/home/me/work",
    )
    assert spool_writer.scrubbed(frame) == frame


# --- when the store is encrypted ---


def encrypted(directory: Path) -> store_key.StoreKey:
    """A data directory as a hook sees it, and the key that it does not see."""
    key = store_key.make(f"file:{directory}.key")
    (directory / "recollect.db").write_bytes(key.header)
    store_key.write_public_key(str(directory), key)
    return key


def test_what_waits_for_an_encrypted_store_cannot_be_read_and_comes_back_in_order(
    tmp_path: Path,
) -> None:
    encrypted(tmp_path)
    for boot, wall in ((BOOTS[1], DAY_NS), (BOOTS[0], 2 * DAY_NS)):
        for mono in (2, 1):
            keep(tmp_path, call(mono, wall, boot, b"the heron, %s, %d" % (boot[:4].encode(), mono)))
    assert not any(b"heron" in path.read_bytes() for path in (tmp_path / "spool").iterdir())
    assert drained(tmp_path) == [
        b"the heron, bbbb, 1",
        b"the heron, bbbb, 2",
        b"the heron, aaaa, 1",
        b"the heron, aaaa, 2",
    ]


def test_without_the_key_sealed_events_stay_and_a_changed_one_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encrypted(tmp_path)
    good, bad = keep(tmp_path, call(1)), keep(tmp_path, call(2))
    bad.write_bytes(bad.read_bytes()[:-1] + b"?")
    held = dict(store_key._known)
    monkeypatch.setattr(store_key, "_known", {})
    monkeypatch.setattr(store_key, "_sources", [])
    assert drained(tmp_path) == []
    assert good.exists() and bad.exists()
    monkeypatch.setattr(store_key, "_known", held)
    assert drained(tmp_path) == [b"x"]
    assert spool.statistics(str(tmp_path)).damaged == 1


def test_without_the_public_key_an_event_is_lost_and_counted_but_never_readable(
    tmp_path: Path,
) -> None:
    encrypted(tmp_path)
    (tmp_path / store_key.PUBLIC_KEY).unlink()
    keep(tmp_path, call(stdin=b"the heron"))
    assert spool.statistics(str(tmp_path)) == spool.Statistics(0, 0, 1, 0)
    assert not any(b"heron" in path.read_bytes() for path in (tmp_path / "spool").iterdir())


def test_what_waits_is_sealed_and_opened_when_the_store_changes(tmp_path: Path) -> None:
    path = keep(tmp_path, call(stdin=b"the heron"))
    plain = path.read_bytes()
    key = encrypted(tmp_path)
    assert drained(tmp_path) == [b"the heron"]
    assert spool.recode(str(tmp_path)) == 0
    assert b"heron" not in path.read_bytes()
    assert drained(tmp_path) == [b"the heron"]
    (tmp_path / "recollect.db").write_bytes(b"SQLite format 3\0")
    assert spool.recode(str(tmp_path)) == 0
    assert path.read_bytes() == plain
    assert key.sealing not in plain
