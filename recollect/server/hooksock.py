"""The hooks' door: `hook.sock`, one frame in, one answer out, by plain threads.

In: frames from processes of the same user. Out: answers after COMMIT. A connection that sends
garbage, nothing, or belongs to somebody else is closed; a store that cannot write answers "not
now", so that the hook keeps the event.
"""

import logging
import os
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from recollect.capture import frames
from recollect.capture.frames import Frame, FrameError
from recollect.core import errors, oslayer
from recollect.ingest.counters import Counters
from recollect.ingest.pipeline import Reply

log = logging.getLogger(__name__)

THREADS = 32
# A hook is gone after a second; what is slower is no hook.
PATIENCE_S = 2.0

Take = Callable[[Frame, bytes], Reply]


class HookServer:
    def __init__(self, path: str, take: Take, counters: Counters) -> None:
        self._take = take
        self._counters = counters
        self._listener = oslayer.listen_unix(path)
        self._path = path
        self._inode = os.stat(path).st_ino
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="recollect-hook")
        self._thread = threading.Thread(target=self._accept, name="recollect-hooks", daemon=True)
        self._stopping = False

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Stop accepting; frames that were taken in are still answered."""
        self._stopping = True
        if os.path.exists(self._path) and os.stat(self._path).st_ino == self._inode:
            os.unlink(self._path)
        # shutdown() wakes the thread that waits in accept()
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            log.debug("the hook socket was shut already")
        self._listener.close()
        if self._thread.is_alive():
            self._thread.join()
        self._pool.shutdown(wait=True)

    def _accept(self) -> None:
        while not self._stopping:
            try:
                connection, _ = self._listener.accept()
            except OSError as error:
                if not self._stopping:
                    log.error("the hook socket failed: %s", error)
                    self._counters.error("the hook socket failed")
                return
            self._pool.submit(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(PATIENCE_S)
            try:
                if oslayer.peer_uid(connection) != os.getuid():
                    self._counters.error("a process of another user tried the hook socket")
                    return
                answer = self._answer(connection)
                if answer:
                    connection.sendall(answer)
            except OSError as error:
                log.debug("a hook went away: %s", error)

    def _answer(self, connection: socket.socket) -> bytes:
        try:
            flags, length = frames.request_header(_read(connection, frames.HEADER_BYTES))
            payload = _read(connection, length)
            frame = frames.decode_payload(payload, flags)
        except frames.UnknownVersion:
            return frames.encode_answer(frames.NOT_NOW)
        except (FrameError, EOFError) as error:
            log.debug("not a frame: %s", error)
            return b""
        try:
            reply = self._take(frame, frames.digest(payload))
        except errors.BadInput as error:
            self._counters.error(f"a frame was refused: {error}")
            return frames.encode_answer(frames.REFUSED)
        except errors.StoreError as error:
            self._counters.error(str(error))
            return frames.encode_answer(frames.NOT_NOW)
        except Exception:
            # A defect of ours. The hook keeps the event, the log keeps the reason.
            log.exception("frame %s could not be taken", frame.ulid)
            self._counters.error(f"frame {frame.ulid} could not be taken; the log says why")
            return frames.encode_answer(frames.NOT_NOW)
        return frames.encode_answer(reply.status, reply.stdout)


def _read(connection: socket.socket, length: int) -> bytes:
    parts = []
    while length:
        part = connection.recv(min(length, 1 << 20))
        if not part:
            raise EOFError("the hook went away before its frame was whole")
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
