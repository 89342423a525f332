"""The hook socket, `hook.sock`: one frame in, one answer out.

In: frames from processes of the same user. Out: answers after COMMIT. One thread accepts, reads and
writes for all connections, so that a slow or silent client delays no other; only complete frames
reach a worker. A connection that sends garbage or nothing, or belongs to another user, is closed.
While the store cannot write, the answer is "not now", and the hook keeps the event. No error stops
the thread from accepting.
"""

import hmac
import logging
import os
import queue
import selectors
import socket
import threading
import time
from collections.abc import Callable
from functools import partial

from recollect.capture import frames
from recollect.capture.frames import Frame, FrameError
from recollect.core import errors, oslayer
from recollect.ingest.counters import Counters
from recollect.ingest.messages import Reply, Send

log = logging.getLogger(__name__)

WORKERS = 32
CONNECTIONS = 256
# A hook ends after one second; a slower client is not a hook.
PATIENCE_S = 2.0
LOOK_S = 0.25
# How long accepting pauses when the system has no room for one more connection.
PAUSE_S = 0.1
# On close, frames that were read are still answered, unless the store hangs for longer.
CLOSE_S = 10.0
COMPLAIN_S = 60.0
# The most that all frames being read or waiting for a worker may take.
HELD_BYTES = 64 << 20
_PIECE = 1 << 20

Take = Callable[[Frame, bytes, Send], Reply]


class _Connection:
    def __init__(self, peer: socket.socket) -> None:
        self.peer = peer
        self.since = time.monotonic()
        self.held = bytearray()
        self.flags = 0
        self.length: int | None = None  # of the payload, once the header was read
        self.known = True  # whether we know the version of its frame
        self.answered = False
        self.answer = memoryview(b"")  # what is still to be sent
        self.token = oslayer.expected_token(peer)  # what is to come before the frame
        self.waits = True  # for the client to send its frame or to take its answer


class HookServer:
    def __init__(
        self,
        path: str,
        take: Take,
        counters: Counters,
        *,
        connections: int = CONNECTIONS,
        workers: int = WORKERS,
    ) -> None:
        self.path = path
        self._take = take
        self._counters = counters
        self._most = connections
        self._jobs: queue.SimpleQueue[_Connection | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._open: dict[_Connection, None] = {}  # the oldest first
        self._to_write: list[_Connection] = []
        self._wake, self._woken = socket.socketpair()
        self._woken.setblocking(False)
        self._wake.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._accepting = False
        self._accept_from = 0.0
        self._stop_at: float | None = None
        self._reopening = False
        self._complained_at = -COMPLAIN_S
        self._listen()
        self._thread = threading.Thread(target=self._run, name="recollect-hooks", daemon=True)
        # Daemon threads: those of an executor keep the process alive while one hangs.
        self._workers = [
            threading.Thread(target=self._work, name=f"recollect-hook-{number}", daemon=True)
            for number in range(workers)
        ]

    def start(self) -> None:
        self._thread.start()
        for worker in self._workers:
            worker.start()

    def close(self) -> None:
        """Stop accepting; frames that were read are still answered."""
        self._stop_at = time.monotonic() + CLOSE_S
        if os.path.exists(self.path) and os.stat(self.path).st_ino == self._inode:
            os.unlink(self.path)
        self._notify()
        if self._thread.is_alive():
            self._thread.join()
        for _ in self._workers:
            self._jobs.put(None)
        for one in (self._listener, self._wake, self._woken):
            one.close()
        self._selector.close()

    def reopen(self) -> None:
        """Listen again: the socket's file was removed or replaced."""
        self._reopening = True
        self._notify()

    # --- the socket thread ---

    def _run(self) -> None:
        while not self._stopped():
            try:
                self._turn()
            except Exception:
                # A defect of ours, or a system out of resources. The socket stays open.
                log.exception("the hook socket failed; it continues")
                self._counters.error("the hook socket failed; the log has the details")
                time.sleep(PAUSE_S)
        with self._lock:
            left = list(self._open)
        for one in left:
            self._drop(one)

    def _stopped(self) -> bool:
        if self._stop_at is None:
            return False
        return not self._open or time.monotonic() > self._stop_at

    def _turn(self) -> None:
        if self._reopening and self._stop_at is None:
            self._reopening = False
            before = self._listener
            self._listen()  # if this fails, the old listener stays
            if self._accepting:
                self._selector.unregister(before)
                self._accepting = False
            before.close()
        self._set_accepting()
        for key, _ in self._selector.select(self._until_next()):
            if key.fileobj is self._listener:
                self._accept()
            elif key.fileobj is self._woken:
                self._read_wakes()
            else:
                self._go_on(key.data)
        with self._lock:
            writing, self._to_write = self._to_write, []
            writing = [one for one in writing if one in self._open]
        for one in writing:
            self._selector.register(one.peer, selectors.EVENT_WRITE, one)
        self._expire()

    def _until_next(self) -> float | None:
        paused = self._accept_from - time.monotonic()
        return LOOK_S if self._open else max(0.0, paused) if paused > 0 else None

    def _set_accepting(self) -> None:
        """Accept while there is room; other connections wait in the system's backlog."""
        with self._lock:
            room = len(self._open) < self._most or any(one.waits for one in self._open)
        wanted = room and self._stop_at is None and time.monotonic() >= self._accept_from
        if wanted == self._accepting:
            return
        self._accepting = wanted
        if wanted:
            self._selector.register(self._listener, selectors.EVENT_READ)
        else:
            self._selector.unregister(self._listener)

    def _listen(self) -> None:
        self._listener = oslayer.listen_local(self.path)
        self._listener.setblocking(False)
        self._inode = os.stat(self.path).st_ino

    def _accept(self) -> None:
        try:
            peer, _ = self._listener.accept()
        except (BlockingIOError, ConnectionAbortedError, InterruptedError):
            return
        except OSError as error:
            # Most likely no descriptors are left: close the oldest connection that waits.
            self._complain(f"the hook socket could not accept a connection: {error.strerror}")
            self._accept_from = time.monotonic() + PAUSE_S
            self._make_room()
            return
        if not oslayer.is_owner(peer):
            self._counters.error("a process of another user tried the hook socket")
            peer.close()
            return
        peer.setblocking(False)
        if len(self._open) >= self._most:
            self._make_room()
        one = _Connection(peer)
        with self._lock:
            self._open[one] = None
        self._selector.register(peer, selectors.EVENT_READ, one)
        self._go_on(one)  # a hook has usually sent its whole frame by now

    def _complain(self, what: str) -> None:
        """Log at most once a minute: the same failure meets every hook."""
        if time.monotonic() > self._complained_at + COMPLAIN_S:
            self._complained_at = time.monotonic()
            log.error("%s; it continues", what)
            self._counters.error(what)

    def _make_room(self) -> None:
        with self._lock:
            oldest = next((one for one in self._open if one.waits), None)
        if oldest is not None:
            self._counters.count("hook connections closed to make room")
            self._drop(oldest)

    def _go_on(self, one: _Connection) -> None:
        if one not in self._open:
            return  # closed in this round to make room
        try:
            if one.answer:
                one.answer = one.answer[one.peer.send(one.answer) :]
                if not one.answer:
                    self._drop(one)
            else:
                self._read(one)
        except (BlockingIOError, InterruptedError):
            return
        except (OSError, FrameError) as error:
            log.debug("a client disconnected, or is not a hook: %s", error)
            self._drop(one)

    def _read(self, one: _Connection) -> None:
        part = one.peer.recv(_PIECE)
        if not part:
            raise FrameError("the client disconnected before its frame was complete")
        one.held += part
        if one.token:
            if len(one.held) < len(one.token):
                return
            if not hmac.compare_digest(one.held[: len(one.token)], one.token):
                raise FrameError("the client does not know the token")
            del one.held[: len(one.token)]
            one.token = b""
        if one.length is None and len(one.held) >= frames.HEADER_BYTES:
            self._read_header(one)
        if one.length is not None and len(one.held) >= one.length:
            del one.held[one.length :]
            self._selector.unregister(one.peer)
            one.waits = False
            self._jobs.put(one)
        elif self._held() > HELD_BYTES:
            self._make_room()

    def _held(self) -> int:
        with self._lock:
            return sum(len(one.held) for one in self._open)

    def _read_header(self, one: _Connection) -> None:
        header = bytes(one.held[: frames.HEADER_BYTES])
        del one.held[: frames.HEADER_BYTES]
        try:
            one.flags, one.length = frames.request_header(header)
        except frames.UnknownVersion:
            one.known, one.length = False, 0

    def _expire(self) -> None:
        before = time.monotonic() - PATIENCE_S
        with self._lock:
            late = [one for one in self._open if one.waits and one.since < before]
        for one in late:
            self._drop(one)

    def _drop(self, one: _Connection) -> None:
        with self._lock:
            if self._open.pop(one, one) is one:
                return
        if one.peer.fileno() in self._selector.get_map():
            self._selector.unregister(one.peer)
        one.peer.close()

    def _read_wakes(self) -> None:
        try:
            self._woken.recv(4096)
        except (BlockingIOError, InterruptedError):
            return

    def _notify(self) -> None:
        try:
            self._wake.send(b"!")
        except OSError:
            return  # already woken, or closed

    # --- workers ---

    def _work(self) -> None:
        while (one := self._jobs.get()) is not None:
            self._answer(one)
            one.held = bytearray()
            with self._lock:
                full = len(self._open) >= self._most or self._stop_at is not None
                slow = bool(one.answer)  # a slow reader: the socket thread sends the rest
                if slow:
                    one.since = time.monotonic()
                    one.waits = True
                    self._to_write.append(one)
                else:
                    self._open.pop(one, None)
                    one.peer.close()
            if full or slow:
                self._notify()

    def _answer(self, one: _Connection) -> None:
        if not one.known:
            self._send(one, Reply(frames.NOT_NOW))
            return
        payload = bytes(one.held)
        try:
            frame = frames.decode_payload(payload, one.flags)
        except FrameError as error:
            log.debug("not a frame: %s", error)
            return
        try:
            self._take(frame, frames.digest(payload), partial(self._send, one))
        except errors.BadInput as error:
            self._counters.error(f"a frame was refused: {error}")
            self._send(one, Reply(frames.REFUSED))
        except errors.StoreError as error:
            self._counters.error(str(error))
            self._send(one, Reply(frames.NOT_NOW))
        except Exception:
            # A defect of ours. Without an answer the hook keeps the event; the log has the cause.
            log.exception("frame %s could not be processed", frame.ulid)
            self._counters.error(f"frame {frame.ulid} could not be processed; see the log")
            self._send(one, Reply(frames.NOT_NOW))

    def _send(self, one: _Connection, reply: Reply) -> None:
        """Send what the client takes at once. Only the first answer counts: what fails after it
        is no longer the hook's business."""
        if one.answered:
            return
        one.answered = True
        answer = frames.encode_answer(reply.status, reply.stdout)
        try:
            sent = one.peer.send(answer)
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError as error:
            log.debug("a hook disconnected: %s", error)
            sent = len(answer)
        one.answer = memoryview(answer)[sent:]
