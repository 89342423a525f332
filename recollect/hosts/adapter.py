"""What all adapters share: from a payload to the few events that a session has.

In: a payload. Out: a Capture, built by the method that the host's table of routes names. Nothing
raises: what cannot be read or is empty gives a Capture without drafts and with a note.
"""

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from recollect.capture.foreign import strip_foreign
from recollect.core.values import JsonBody, MessageBody, TextBody, encode
from recollect.hosts import tools
from recollect.hosts.facts import Facts
from recollect.hosts.payloads import (
    Capture,
    ContextSize,
    EventDraft,
    Payload,
    SignalName,
    Wants,
    conversation,
)
from recollect.hosts.reading import (
    STRING_BYTES,
    Data,
    fit,
    moment,
    pick,
    plain_text,
    prose,
    read_object,
    section,
    word,
)

# How a host is recognised that runs another's hooks: by a field that only it sends, or by the shape
# of the whole, which is less certain.
Sign = Literal["own field", "shape"]

NOT_READABLE = "payload not readable"
# Set in the environment of Recollect's own LLM calls; the hook leaves at once, this is the net.
GUARD = "RECOLLECT_INTERNAL"
_TURN_FIELDS = (
    "prompt_id", "turn_id", "turnId", "turn-id", "generation_id", "execution_id",
)  # fmt: skip
_MAX_SESSION = 256
_MAX_CWD = 2048
# Without an id from the host, the same content within this time is one event that fired twice.
DOUBLE_FIRING_SECONDS = 2.0


@dataclass(frozen=True)
class Reading:
    """A payload that was read: its object, the host's id of the turn, and the capture that it
    becomes, which has no drafts yet."""

    payload: Payload
    data: Data
    turn: str
    empty: Capture

    def nothing(self, note: str) -> Capture:
        """The capture of a payload of which nothing is stored, with the reason."""
        return replace(self.empty, note=note)


def event_key(event: str) -> str:
    """Events are found whatever their spelling: SessionStart, sessionStart, session_start."""
    return "".join(filter(str.isalnum, event[:100].lower()))


class Adapter:
    """What a host's payloads mean and how it is answered: a route per event."""

    # event_key -> the name of the method that reads the event
    routes: ClassVar[Mapping[str, str]] = {
        "sessionstart": "on_start",
        "agentspawn": "on_start",
        "sessionend": "on_end",
        "userpromptsubmit": "on_prompt",
        "userpromptsubmitted": "on_prompt",
        "promptsubmit": "on_prompt",
        "posttooluse": "on_tool",
        "posttoolusefailure": "on_tool_failure",
        "stop": "on_stop",
        "agentstop": "on_stop",
        "precompact": "on_compaction",
    }
    # The events whose answer the host reads, as it spells them.
    answered: ClassVar[tuple[str, ...]] = ()
    session_fields: ClassVar[tuple[str, ...]] = ("session_id", "sessionId", "sessionID")
    root_fields: ClassVar[tuple[str, ...]] = ("cwd",)  # each a path or a list of paths
    injects_prompt: ClassVar[bool] = True
    # With how many tokens the host compacts a session, for each size of window that its models may
    # have, smallest first, unless `context_size` says it. Empty: its transcripts tell no size.
    compacts_at: ClassVar[tuple[int, ...]] = ()
    prints_text: ClassVar[bool] = False  # its answer is the context and nothing else, not JSON
    # Hosts whose hook files this one runs too, the variables and fields without which it is not
    # asked whether it sent a payload of theirs, and how sure its `sent` is (see hooks.guests).
    runs_hooks_of: ClassVar[tuple[str, ...]] = ()
    signs: ClassVar[frozenset[str]] = frozenset()
    sent_by: ClassVar[Sign] = "own field"

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.name = facts.name
        self._injecting = {event_key(hook.event) for hook in facts.hooks if hook.injects}

    def sent(self, payload: Payload, data: Data) -> bool:
        """Whether this host sent a payload of a hook that was written for another. One of its
        signs is there."""
        return False

    def interpret(self, payload: Payload, data: Data | None, repaired: bool) -> Capture:
        readable, data = data is not None, data or {}
        damaged = repaired or payload.truncated
        # Where the project is. The host's variable first: an agent may change its directory.
        places: list[Any] = [payload.env.get(name) for name in self.facts.project_env]
        for field in self.root_fields:
            found = data.get(field)
            places += found if isinstance(found, list) else [found]
        paths = (one for one in (*places, payload.cwd) if isinstance(one, str))
        usable = (one for one in paths if os.path.isabs(one) and len(one) <= _MAX_CWD)
        empty = Capture(
            host=self.name,
            event=payload.event or word(data, "hook_event_name", "hookName", "hookEventName"),
            session_id=self.session_id(payload, data),
            cwd=plain_text(next(usable, "")),
            happened_at=moment(data.get("timestamp") or data.get("time")),
            damaged=damaged or (not readable and bool(payload.stdin.strip())),
        )
        reading = Reading(payload, data, word(data, *_TURN_FIELDS), empty)
        if payload.env.get(GUARD):
            return reading.nothing("own call")
        if not readable and empty.damaged:
            return reading.nothing(NOT_READABLE)
        route = self.routes.get(event_key(empty.event))
        if route is None:
            return reading.nothing("event not used")
        read: Callable[[Reading], Capture] = getattr(self, route)
        return read(reading)

    def answer(self, event: str, context: str, message: str = "") -> bytes:
        """What the hook prints: exactly what the host accepts, for the empty context too. The
        message is for the user; a host that cannot show one does not get it."""
        for name in self.answered:
            if event_key(name) == event_key(event):
                context = plain_text(context)
                if self.prints_text:
                    return context.encode()
                output = self.output(name, context)
                if output and message and self.facts.shows_message:
                    output["systemMessage"] = message
                return encode(output) if output else b""
        return b""

    def output(self, event: str, context: str) -> Data:
        """The context as the host reads it: the one answer that Claude, Codex, Gemini and Qwen
        read; any other key breaks Codex."""
        if not context:
            return {}
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}

    def final_answer(self, transcript: bytes) -> str:
        """The last answer in (the end of) the host's transcript; empty when it is not known."""
        return ""

    def context_size(self, transcript: bytes) -> ContextSize | None:
        """How full the context is, by (the end of) the host's transcript; None when it does not
        say, or nothing was said since a compaction."""
        return None

    def prompt_in(self, file: bytes) -> tuple[str, str]:
        """The last prompt in (the end of) a file of the host's, and its id; empty when there is
        none. Only for hosts that name such a file."""
        return "", ""

    @staticmethod
    def file_name(session: str) -> str:
        """A session's id as part of a path, which it cannot leave."""
        return "".join(one for one in session if one.isalnum() or one in "-_")

    # --- reading ---------------------------------------------------------------------------------

    def read(self, payload: Payload) -> tuple[Data | None, bool]:
        return read_object(payload.stdin)

    def session_id(self, payload: Payload, data: Data) -> str | None:
        found = word(data, *self.session_fields) or word(payload.env, *self.facts.session_env)
        found = plain_text(found).strip()
        if len(found) > _MAX_SESSION or not found.isprintable():
            return hashlib.sha256(found.encode()).hexdigest()
        return found or None

    # --- captures --------------------------------------------------------------------------------

    def signalled(
        self,
        reading: Reading,
        signal: SignalName,
        reason: str,
        *,
        wants: Wants | None = None,
        query: str = "",
        once: bool = False,
    ) -> Capture:
        reason = plain_text(reason)[:200]
        field = "source" if signal == "session-start" else "reason"
        draft = EventDraft(
            kind="note",
            body=JsonBody(data={"signal": signal, field: reason}),
            author="tool",
            dedupe_key=f"{signal}:{'' if once else reason}",
            dedupe_seconds=None if once else DOUBLE_FIRING_SECONDS,
        )
        return replace(
            reading.empty,
            drafts=(draft,),
            signal=signal,
            reason=reason,
            wants=wants,
            query=said(query),
        )

    def prompted(self, reading: Reading, text: Any, turn: str = "") -> Capture:
        draft = prompt_draft(text, turn)
        if draft is None:
            return reading.nothing("empty prompt")
        assert isinstance(draft.body, TextBody)
        return replace(
            reading.empty,
            drafts=(draft,),
            wants="prompt" if self.injects_prompt else None,
            query=draft.body.content,
            size_file=_transcript(reading) if self.compacts_at else None,
        )

    def used(
        self,
        reading: Reading,
        name: str,
        arguments: Any,
        output: Any,
        *,
        call: str = "",
        failed: bool | None = None,
        server: str = "",
    ) -> Capture:
        why_not = tools.ignored(name, server)
        if why_not:
            return reading.nothing(why_not)
        draft = tool_draft(name, arguments, output, call=call, failed=failed)
        runs = draft.tool is not None and draft.tool.tool_class == "command"
        injects = event_key(reading.empty.event) in self._injecting
        return replace(
            reading.empty,
            drafts=(draft,),
            wants="tool" if runs and injects else None,
        )

    def stopped(
        self, reading: Reading, answer: Any, *, prompt: Any = "", turn: str = "", reason: str = ""
    ) -> Capture:
        found = replace(reading.empty, signal="stop", reason=plain_text(reason)[:200] or "stop")
        draft = answer_draft(answer, prompt=prompt, turn=turn)
        if draft:
            return replace(found, drafts=(draft,))
        return replace(found, transcript=_transcript(reading), note="no answer in the payload")

    # --- routes that many hosts share, over fields that are spelt alike ---------------------------

    def on_start(self, reading: Reading) -> Capture:
        return self.signalled(
            reading,
            "session-start",
            word(reading.data, "source") or "startup",
            wants="session-start",
            query=prose(pick(reading.data, "initial_prompt", "initialPrompt")),
        )

    def on_end(self, reading: Reading) -> Capture:
        return self.signalled(reading, "session-end", word(reading.data, "reason") or "end")

    def on_compaction(self, reading: Reading) -> Capture:
        return self.signalled(reading, "compaction", word(reading.data, "trigger") or "auto")

    def on_prompt(self, reading: Reading) -> Capture:
        return self.prompted(reading, reading.data.get("prompt"), reading.turn)

    def on_tool(self, reading: Reading) -> Capture:
        return self._tool(reading, None)

    def on_tool_failure(self, reading: Reading) -> Capture:
        return self._tool(reading, True)

    def _tool(self, reading: Reading, failed: bool | None) -> Capture:
        data = reading.data
        output = pick(
            data,
            "tool_response",
            "tool_result",
            "toolResult",
            "toolResponse",
            "tool_output",
            "result",
            "error",
            "error_message",
        )
        server = word(section(data, "mcp_server"), "name") or word(
            section(data, "mcp_context"), "server_name"
        )
        return self.used(
            reading,
            word(data, "tool_name", "toolName"),
            pick(data, "tool_input", "toolArgs", "toolInput", "tool_args"),
            output,
            call=word(data, "tool_use_id", "toolUseId", "tool_call_id", "toolCallId"),
            failed=failed,
            server=server,
        )

    def on_stop(self, reading: Reading) -> Capture:
        data = reading.data
        return self.stopped(
            reading,
            pick(data, "last_assistant_message", "assistant_response", "assistantResponse"),
            turn=reading.turn,
            reason=word(data, "stop_reason", "stopReason"),
        )


def _transcript(reading: Reading) -> str | None:
    """The file in which the host keeps the session, if it names one that can be read."""
    path = word(reading.data, "transcript_path", "transcriptPath")
    usable = os.path.isabs(path) and path.endswith(".jsonl") and len(path) <= _MAX_CWD
    return path if usable else None


# --- drafts ---------------------------------------------------------------------------------------


def said(text: Any) -> str:
    """Text of a person or a model: valid, without the blocks that others put into it."""
    clean = strip_foreign(plain_text(prose(text))).strip()
    # In JSON a character takes at most six bytes.
    return clean if len(clean) * 6 <= STRING_BYTES else str(fit({"content": clean})["content"])


def prompt_draft(text: Any, turn: str = "") -> EventDraft | None:
    """A prompt; None when it is empty."""
    content = said(text)
    if not content:
        return None
    body = TextBody(content=content)
    return EventDraft(kind="prompt", body=body, author="user", **_key("prompt", turn, content))


def answer_draft(answer: Any, *, prompt: Any = "", turn: str = "") -> EventDraft | None:
    """The final answer of a turn, after the prompt where the host gives both."""
    content = said(answer)
    if not content:
        return None
    fitted = fit({"prompt": said(prompt), "answer": content})
    body: MessageBody = conversation(fitted["prompt"], fitted["answer"])
    key = _key("answer", turn, content)
    return EventDraft(kind="session_summary", body=body, author="assistant", **key)


def tool_draft(
    name: str, arguments: Any, output: Any, *, call: str = "", failed: bool | None = None
) -> EventDraft:
    tool = tools.facts(name, arguments, output, failed)
    data = {
        "tool": tool.name,
        "input": tools.kept_input(tool, arguments),
        "output": tools.kept_output(tool, output),
        "class": tool.tool_class,
        "files": list(tool.files),
        "command": tool.command,
        "failed": tool.failed,
    }
    defines = tools.defined_names(tool, arguments, output)
    if defines:
        data["defines"] = defines
    # Copilot reports one call in two spellings: the names of fields and tools differ, nothing else.
    values = list(output.values()) if isinstance(output, dict) else output
    content = "" if call else encode([tool.tool_class, data["input"], values]).decode()
    data = fit(data)
    return EventDraft(
        kind="tool_use",
        body=JsonBody(data=data),
        author=tools.author(tool.tool_class),
        tool=replace(tool, command=str(data["command"])),
        **_key("tool", call, content),
    )


def _key(kind: str, given: str, content: str) -> dict[str, Any]:
    """The host's id where it gives one; one turn may still hold several prompts or answers."""
    digest = hashlib.sha256(content.encode()).hexdigest()[:16] if content else ""
    key = ":".join((kind, given[:_MAX_SESSION], digest))
    return {"dedupe_key": key, "dedupe_seconds": None if given else DOUBLE_FIRING_SECONDS}


class UnknownHost(Adapter):
    """A host that Recollect does not know: what can be read is stored, nothing is answered."""

    session_fields = (*Adapter.session_fields, "conversation_id", "trajectory_id", "taskId")
    injects_prompt = False

    def __init__(self, given: str) -> None:
        """Under the given name, as far as it can be one."""
        letters = (letter for letter in given.lower() if letter.isalnum() or letter in "-_.")
        name = "".join(letters)[:64] or "unknown"
        super().__init__(Facts(name=name, title=name))
