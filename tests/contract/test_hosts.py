"""Each host against the contract, and the traps that only one of them has."""

import json
from dataclasses import replace
from typing import Any, ClassVar

from recollect.hosts import hooks, registry
from recollect.hosts.payloads import Payload
from tests.contract.host_contract import FENCED, HostContract, payloads, transcript


def hook_specific(answer: bytes, event: str) -> str:
    """As Codex reads it: one key more and everything is dropped."""
    data = json.loads(answer)
    assert list(data) == ["hookSpecificOutput"]
    assert set(data["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert data["hookSpecificOutput"]["hookEventName"] == event
    return str(data["hookSpecificOutput"]["additionalContext"])


def changed(payload: Payload, **fields: Any) -> Payload:
    return replace(payload, stdin=json.dumps({**json.loads(payload.stdin), **fields}).encode())


class TestClaudeCode(HostContract):
    name = "claude-code"
    prompt = "UserPromptSubmit"
    stops = ("Stop", "SubagentStop", "SessionEnd")

    def context_in(self, answer: bytes, event: str) -> str:
        return hook_specific(answer, event)

    def test_the_project_is_where_the_session_began_not_where_the_agent_went(self) -> None:
        moved = changed(payloads(self.name)["PostToolUse.Bash"], cwd="/elsewhere")
        assert hooks.capture(moved).cwd == "/PROJECT"
        assert hooks.capture(replace(moved, env={})).cwd == "/elsewhere"

    def test_the_answer_can_be_read_from_the_transcript(self) -> None:
        stop = changed(payloads(self.name)["Stop"], last_assistant_message=None)
        capture = hooks.capture(stop)
        assert capture.transcript
        found = hooks.answered_from_transcript(capture, transcript(self.name))
        assert "FINAL-ANSWER" in str(found.drafts[0].body)
        assert found.transcript is None

    def test_copilot_as_a_guest_is_answered_in_its_own_format(self) -> None:
        capture = hooks.capture(payloads(self.name)["guest.copilot.UserPromptSubmit"])
        assert hooks.answer(capture, "context") == b'{"additionalContext":"context"}'

    def test_a_guest_has_the_keys_that_it_has_under_its_own_name(self) -> None:
        guest = hooks.capture(payloads(self.name)["guest.copilot.PostToolUse.Write"])
        own = hooks.capture(payloads("copilot")["postToolUse.create"])
        assert guest.dedupe_key == own.dedupe_key

    def test_claude_started_from_within_copilot_is_still_claude(self) -> None:
        for name, payload in payloads(self.name).items():
            if not name.startswith("guest."):
                inside = replace(payload, env={**payload.env, "COPILOT_PROJECT_DIR": "/x"})
                assert hooks.capture(inside).host == "claude-code", name

    def test_its_own_llm_calls_are_not_captured(self) -> None:
        payload = payloads(self.name)["UserPromptSubmit"]
        guarded = replace(payload, env={**payload.env, "RECOLLECT_INTERNAL": "1"})
        assert hooks.capture(guarded).note == "own call"
        assert not hooks.capture(guarded).drafts


class TestCodex(HostContract):
    name = "codex"
    prompt = "UserPromptSubmit"

    def context_in(self, answer: bytes, event: str) -> str:
        return hook_specific(answer, event)

    def test_a_notification_repeats_what_the_hooks_said_under_the_same_keys(self) -> None:
        notified = hooks.capture(payloads(self.name)["notify"])
        turn = json.loads(payloads(self.name)["notify"].args[-1])
        prompt = changed(
            payloads(self.name)["UserPromptSubmit"],
            turn_id=turn["turn-id"],
            prompt=turn["input-messages"][0],
        )
        stop = changed(payloads(self.name)["Stop"], turn_id=turn["turn-id"])
        assert [draft.dedupe_key for draft in notified.drafts] == [
            hooks.capture(prompt).dedupe_key,
            hooks.capture(stop).dedupe_key,
        ]


class TestGemini(HostContract):
    name = "gemini"
    prompt = "BeforeAgent"
    stops = ("AfterAgent", "PreCompress", "SessionEnd")

    def context_in(self, answer: bytes, event: str) -> str:
        return hook_specific(answer, event)

    def test_precompress_is_no_compaction(self) -> None:
        assert hooks.capture(payloads(self.name)["PreCompress.auto"]).signal is None
        assert "PreCompress" not in {spec.event for spec in hooks.ADAPTERS[self.name].facts.hooks}

    def test_timeouts_are_in_milliseconds(self) -> None:
        host = hooks.ADAPTERS[self.name]
        assert host.facts.hooks[0].timeout_ms == 10_000

    def test_a_failed_command_is_seen_in_what_the_model_was_told(self) -> None:
        shell = payloads(self.name)["AfterTool.run_shell_command"]
        told = {"llmContent": "<untrusted_context>\nOutput: no\nExit Code: 2\n</untrusted_context>"}
        tool = hooks.capture(changed(shell, tool_response=told)).drafts[0].tool
        assert tool is not None and tool.failed


class TestCopilot(HostContract):
    name = "copilot"
    prompt = "userPromptSubmitted"
    stops = ("agentStop", "Stop", "sessionEnd")

    def context_in(self, answer: bytes, event: str) -> str:
        data = json.loads(answer)
        assert list(data) == ["additionalContext"]
        return str(data["additionalContext"])

    def test_both_spellings_of_one_call_have_one_key(self) -> None:
        stored = payloads(self.name)
        for camel, pascal in (
            ("postToolUse.bash", "PostToolUse.Bash"),
            ("postToolUse.create", "PostToolUse.Write"),
        ):
            keys = {hooks.capture(stored[name]).dedupe_key for name in (camel, pascal)}
            assert len(keys) == 1

    def test_a_call_with_another_result_is_another_call(self) -> None:
        call = payloads(self.name)["postToolUse.bash"]
        other = changed(call, toolResult={"resultType": "failure", "textResultForLlm": "no"})
        assert hooks.capture(call).dedupe_key != hooks.capture(other).dedupe_key

    def test_the_answer_is_read_from_the_transcript(self) -> None:
        capture = hooks.capture(payloads(self.name)["agentStop"])
        found = hooks.answered_from_transcript(capture, transcript(self.name))
        assert "FINAL-ANSWER" in str(found.drafts[0].body)

    def test_a_transcript_without_an_answer_to_this_prompt_gives_none(self) -> None:
        capture = hooks.capture(payloads(self.name)["agentStop"])
        asked = transcript(self.name) + b'{"type":"user.message","data":{"content":"more"}}\n'
        assert hooks.answered_from_transcript(capture, asked) == capture
        assert hooks.answered_from_transcript(capture, b"\xff{nothing") == capture


class TestQwen(HostContract):
    name = "qwen"
    prompt = "UserPromptSubmit"

    def context_in(self, answer: bytes, event: str) -> str:
        return hook_specific(answer, event)

    def test_the_prompt_hook_after_a_tool_is_nobody_speaking(self) -> None:
        capture = hooks.capture(payloads(self.name)["http.UserPromptSubmit"])
        assert (capture.drafts, capture.wants, capture.note) == ((), None, "empty prompt")

    def test_the_prompt_is_what_was_submitted(self) -> None:
        payload = changed(payloads(self.name)["UserPromptSubmit"], prompt="as it was changed")
        assert hooks.capture(payload).query == "PROBE-PROMPT-1 NOTOOLS: hi."


class TestOpenCode(HostContract):
    name = "opencode"
    prompt = "chat.message"
    stops = ("session.idle", "event.session.idle")

    def context_in(self, answer: bytes, event: str) -> str:
        return answer.decode()

    def test_only_the_quotes_that_the_host_added_are_removed(self) -> None:
        for sent, said in (
            ('"fix it"', "fix it"),
            ('"say \\"hi\\" twice"', 'say "hi" twice'),
            ('"a" and "b"', '"a" and "b"'),
            ("plain", "plain"),
        ):
            parts = [{"type": "text", "text": sent}]
            data = {"input": {"sessionID": "s"}, "output": {"parts": parts}}
            payload = Payload(self.name, "chat.message", stdin=json.dumps(data).encode())
            assert hooks.capture(payload).query == said

    def test_parts_that_plugins_added_are_not_the_users(self) -> None:
        parts = [{"type": "text", "text": "memory", "synthetic": True}]
        data = {"input": {"sessionID": "s"}, "output": {"parts": parts}}
        payload = Payload(self.name, "chat.message", stdin=json.dumps(data).encode())
        assert hooks.capture(payload).note == "empty prompt"

    def test_the_project_is_the_directory_not_the_root_of_the_disk(self) -> None:
        placed = changed(payloads(self.name)["chat.message"], directory="/proj", worktree="/")
        assert hooks.capture(placed).cwd == "/proj"

    def test_the_name_of_an_event_may_be_in_its_payload(self) -> None:
        named = payloads(self.name)["event.session.created"]
        assert hooks.capture(replace(named, event="event")).signal == "session-start"


class TestKiroCli(HostContract):
    name = "kiro-cli"
    prompt = "userPromptSubmit"
    verified = False
    stops = ("stop",)

    def context_in(self, answer: bytes, event: str) -> str:
        return answer.decode()

    def test_a_spawn_on_every_prompt_is_one_start_of_a_session(self) -> None:
        spawn = hooks.capture(payloads(self.name)["agentSpawn"])
        assert spawn.signal == "session-start"
        assert spawn.dedupe_key == "session-start:"
        assert spawn.drafts[0].dedupe_seconds is None

    def test_no_session_id_is_no_session_id(self) -> None:
        assert hooks.capture(payloads(self.name)["userPromptSubmit"]).session_id is None
        assert hooks.capture(payloads(self.name)["userPromptSubmit.tui"]).session_id


class TestKiroIde(HostContract):
    name = "kiro-ide"
    prompt = "UserPromptSubmit"
    verified = False
    stops = ("Stop", "agentStop")

    def context_in(self, answer: bytes, event: str) -> str:
        return answer.decode()

    def test_the_prompt_is_found_beside_bad_json(self) -> None:
        payload = Payload(
            self.name, "promptSubmit", env={"USER_PROMPT": "do it"}, stdin=b"not json at all"
        )
        assert hooks.capture(payload).query == "do it"

    def test_the_prompt_may_be_the_arguments(self) -> None:
        payload = Payload(self.name, "promptSubmit", args=("do", "it"))
        assert hooks.capture(payload).query == "do it"


class TestCursor(HostContract):
    name = "cursor"
    prompt = "beforeSubmitPrompt"
    verified = False
    stops = ("stop", "afterAgentResponse", "beforeSubmitPrompt")
    silence: ClassVar[dict[str, bytes]] = {"beforeSubmitPrompt": b'{"continue":true}'}

    def context_in(self, answer: bytes, event: str) -> str:
        data = json.loads(answer)
        assert list(data) == ["additional_context"]
        return str(data["additional_context"])

    def test_a_prompt_is_let_through_and_asks_for_no_context(self) -> None:
        capture = hooks.capture(payloads(self.name)["beforeSubmitPrompt"])
        assert capture.wants is None
        assert hooks.answer(capture, FENCED) == b'{"continue":true}'

    def test_the_users_address_is_not_kept(self) -> None:
        for payload in payloads(self.name).values():
            assert "example.com" not in str(hooks.capture(payload).drafts)


class TestWindsurf(HostContract):
    name = "windsurf"
    prompt = "pre_user_prompt"
    verified = False
    stops = ("post_cascade_response", "pre_user_prompt")

    def test_nothing_is_ever_injected(self) -> None:
        host = hooks.ADAPTERS[self.name]
        assert not any(spec.injects for spec in host.facts.hooks)
        assert not any(host.answer(spec.event, FENCED) for spec in host.facts.hooks)


class TestCline(HostContract):
    name = "cline"
    prompt = "UserPromptSubmit"
    verified = False
    stops = ("TaskComplete", "TaskCancel", "PreCompact")
    silence: ClassVar[dict[str, bytes]] = dict.fromkeys(
        (spec.event for spec in hooks.ADAPTERS["cline"].facts.hooks),
        b'{"cancel":false,"contextModification":"","errorMessage":""}',
    )

    def context_in(self, answer: bytes, event: str) -> str:
        data = json.loads(answer)
        assert set(data) == {"cancel", "contextModification", "errorMessage"}
        assert data["cancel"] is False
        return str(data["contextModification"])


def test_every_host_has_its_contract() -> None:
    assert {contract.name for contract in HostContract.__subclasses__()} == set(hooks.ADAPTERS)


def test_every_route_leads_to_a_method() -> None:
    for host in (*hooks.ADAPTERS.values(), hooks.adapter("never heard of")):
        for method in getattr(host, "routes").values():  # noqa: B009
            assert callable(getattr(host, method))


def test_an_unknown_host_stores_what_it_can_and_is_told_nothing() -> None:
    payload = replace(payloads("claude-code")["UserPromptSubmit"], host="Some New Agent!")
    capture = hooks.capture(payload)
    assert capture.host == "somenewagent"
    assert capture.query == "PROBE-PROMPT-1 NOTOOLS: hello."
    assert capture.wants is None
    assert hooks.answer(capture, "context") == b""
    assert hooks.adapter("").name == "unknown"


def test_the_hook_passes_on_what_adapters_look_at() -> None:
    for name in ("CLAUDE_PROJECT_DIR", "COPILOT_PROJECT_DIR", "USER_PROMPT"):
        assert name in registry.hook_environment()
