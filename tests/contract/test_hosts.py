"""What every host's adapter promises, over its recorded payloads, and the traps of single hosts.

A new host needs no line here: it is found by its folder, its data by its name.
"""

import json
from dataclasses import replace
from typing import Any

import pytest

from recollect.core.values import encode
from recollect.hosts import hooks, registry
from recollect.hosts.facts import Facts
from recollect.hosts.payloads import Capture, Payload
from recollect.hosts.reading import read_object
from tests.contract.host_contract import (
    FENCED,
    captured,
    check_capture,
    golden,
    has_transcript,
    missing,
    payloads,
    transcript,
)

HOSTS = tuple(registry.adapters())
PROMPTED = [name for name in HOSTS if registry.facts()[name].prompts]


def changed(payload: Payload, **fields: Any) -> Payload:
    return replace(payload, stdin=json.dumps({**json.loads(payload.stdin), **fields}).encode())


def prompt(host: str) -> Payload:
    return payloads(host)[registry.facts()[host].prompts[0]]


def answer(capture: Capture, context: str = "") -> bytes:
    return hooks.adapter(capture.host).answer(capture.event, context)


def quoted(text: str) -> bytes:
    return json.dumps(text)[1:-1].encode()


# --- every host -----------------------------------------------------------------------------------


@pytest.mark.parametrize("host", registry.facts())
def test_every_host_has_its_payloads_and_its_install_cases(host: str) -> None:
    assert not missing(host), "; ".join(missing(host))


@pytest.mark.parametrize("host", HOSTS)
def test_payloads_and_answers_are_what_the_golden_file_says(host: str) -> None:
    assert captured(host) == golden(host)


@pytest.mark.parametrize("host", HOSTS)
def test_every_draft_is_a_valid_event(host: str) -> None:
    for payload in payloads(host).values():
        check_capture(hooks.capture(payload))


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_is_found_by_its_name_and_its_aliases(host: str) -> None:
    for alias in (host, *registry.facts()[host].aliases):
        assert hooks.adapter(alias) is hooks.ADAPTERS[host]


@pytest.mark.parametrize("host", HOSTS)
def test_every_hook_that_is_installed_is_understood(host: str) -> None:
    for hook in registry.facts()[host].hooks:
        assert hooks.capture(Payload(host, hook.event)).note != "event not used", hook


@pytest.mark.parametrize("host", HOSTS)
def test_every_hook_that_injects_carries_the_context_and_no_end_of_a_turn_does(host: str) -> None:
    adapter = hooks.ADAPTERS[host]
    for hook in adapter.facts.hooks:
        assert not hook.injects or b"- secret" in adapter.answer(hook.event, FENCED), hook
    for payload in payloads(host).values():
        if hooks.capture(payload).signal in ("stop", "session-end", "compaction"):
            assert b"secret" not in adapter.answer(payload.event, FENCED), payload.event


@pytest.mark.parametrize("host", HOSTS)
def test_an_answer_survives_any_text(host: str) -> None:
    adapter = hooks.ADAPTERS[host]
    for hook in adapter.facts.hooks:
        adapter.answer(hook.event, 'quote " \\ \ud800 \x00 line\n').decode()


@pytest.mark.parametrize("host", PROMPTED)
def test_what_recollect_injected_is_not_captured_again(host: str) -> None:
    payload = prompt(host)
    said = hooks.capture(payload).query
    again = said + "\n\n" + FENCED
    stdin = payload.stdin.replace(quoted(f'"{said}"'), quoted(again))
    if stdin == payload.stdin:
        stdin = payload.stdin.replace(quoted(said), quoted(again))
    assert stdin != payload.stdin
    capture = hooks.capture(replace(payload, stdin=stdin))
    assert capture.query == said
    assert b"secret" not in encode(capture.drafts[0].body)


@pytest.mark.parametrize("host", PROMPTED)
def test_the_same_payload_has_the_same_keys_and_other_words_have_others(host: str) -> None:
    payload = prompt(host)
    first, again = hooks.capture(payload), hooks.capture(payload)
    assert first.dedupe_key and first.dedupe_key == again.dedupe_key
    other = replace(payload, stdin=payload.stdin.replace(first.query[:4].encode(), b"Else"))
    assert hooks.capture(other).dedupe_key not in (None, first.dedupe_key)


@pytest.mark.parametrize("host", PROMPTED)
def test_half_a_payload_still_gives_session_and_project(host: str) -> None:
    payload = prompt(host)
    whole = hooks.capture(payload)
    half = replace(payload, stdin=payload.stdin.rstrip()[:-2], truncated=True)
    capture = hooks.capture(half)
    assert (capture.session_id, capture.cwd) == (whole.session_id, whole.cwd)
    assert capture.query[:8] == whole.query[:8]
    assert capture.damaged


@pytest.mark.parametrize("host", HOSTS)
def test_what_cannot_be_read_is_noted(host: str) -> None:
    capture = hooks.capture(Payload(host, "PostToolUse", stdin=b"\xff\xfe garbage"))
    assert not capture.drafts
    assert capture.note
    assert capture.damaged


@pytest.mark.parametrize("host", [name for name in HOSTS if has_transcript(name)])
def test_the_answer_of_a_turn_is_read_from_the_transcript(host: str) -> None:
    assert "FINAL-ANSWER" in hooks.ADAPTERS[host].final_answer(transcript(host))


@pytest.mark.parametrize("host", HOSTS)
def test_a_folder_has_the_name_of_its_host(host: str) -> None:
    """The registry goes from one to the other."""
    for part in (hooks.ADAPTERS[host], registry.installers()[host]):
        assert part.name == host


# --- who sent it ----------------------------------------------------------------------------------


def test_hosts_that_run_claudes_hooks_are_asked_the_surest_first() -> None:
    guests = [one.name for one in hooks.guests("claude-code")]
    assert guests == ["continue-cli", "cursor", "devin-cli", "copilot"]


def test_no_payload_is_claimed_by_two_hosts_that_are_recognised_alike() -> None:
    for host in HOSTS:
        for name, payload in payloads(host).items():
            data, _ = read_object(payload.stdin)
            given = {*payload.env, *(data or ())}
            asked = [one for one in hooks.guests(host) if one.signs & given]
            claims = [one.sent_by for one in asked if one.sent(payload, data or {})]
            assert len(claims) == len(set(claims)), (host, name)


def test_a_host_whose_folder_lacks_its_data_is_told_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bare = Facts(name="brand-new", title="Brand New")
    monkeypatch.setattr(registry, "facts", lambda: {"brand-new": bare})
    found = missing("brand-new")
    assert (
        "brand-new has no recorded prompt: tests/data/hosts/brand-new/UserPromptSubmit.json"
        in found
    )
    assert "brand-new has no install case: tests/data/install/brand-new/empty/before" in found


# --- single hosts ---------------------------------------------------------------------------------


def test_claude_code_the_project_is_where_the_session_began_not_where_the_agent_went() -> None:
    moved = changed(payloads("claude-code")["PostToolUse.Bash"], cwd="/elsewhere")
    assert hooks.capture(moved).cwd == "/PROJECT"
    assert hooks.capture(replace(moved, env={})).cwd == "/elsewhere"


def test_claude_code_the_answer_can_be_read_from_the_transcript() -> None:
    stop = changed(payloads("claude-code")["Stop"], last_assistant_message=None)
    capture = hooks.capture(stop)
    assert capture.transcript
    found = hooks.answered_from_transcript(capture, transcript("claude-code"))
    assert "FINAL-ANSWER" in str(found.drafts[0].body)
    assert found.transcript is None


def test_copilot_as_a_guest_of_claude_code_is_answered_in_its_own_format() -> None:
    capture = hooks.capture(payloads("claude-code")["guest.copilot.UserPromptSubmit"])
    assert answer(capture, "context") == b'{"additionalContext":"context"}'


def test_claude_code_a_guest_has_the_keys_that_it_has_under_its_own_name() -> None:
    guest = hooks.capture(payloads("claude-code")["guest.copilot.PostToolUse.Write"])
    own = hooks.capture(payloads("copilot")["postToolUse.create"])
    assert guest.dedupe_key == own.dedupe_key


def test_claude_code_started_from_within_copilot_is_still_claude() -> None:
    for name, payload in payloads("claude-code").items():
        if not name.startswith("guest."):
            inside = replace(payload, env={**payload.env, "COPILOT_PROJECT_DIR": "/x"})
            assert hooks.capture(inside).host == "claude-code", name


def test_claude_code_its_own_llm_calls_are_not_captured() -> None:
    payload = payloads("claude-code")["UserPromptSubmit"]
    guarded = replace(payload, env={**payload.env, "RECOLLECT_INTERNAL": "1"})
    assert hooks.capture(guarded).note == "own call"
    assert not hooks.capture(guarded).drafts


def test_codex_a_notification_repeats_what_the_hooks_said_under_the_same_keys() -> None:
    notified = hooks.capture(payloads("codex")["notify"])
    turn = json.loads(payloads("codex")["notify"].args[-1])
    prompt = changed(
        payloads("codex")["UserPromptSubmit"],
        turn_id=turn["turn-id"],
        prompt=turn["input-messages"][0],
    )
    stop = changed(payloads("codex")["Stop"], turn_id=turn["turn-id"])
    assert [draft.dedupe_key for draft in notified.drafts] == [
        hooks.capture(prompt).dedupe_key,
        hooks.capture(stop).dedupe_key,
    ]


def test_gemini_precompress_is_no_compaction() -> None:
    assert hooks.capture(payloads("gemini")["PreCompress.auto"]).signal is None
    assert "PreCompress" not in {spec.event for spec in hooks.ADAPTERS["gemini"].facts.hooks}


def test_gemini_timeouts_are_in_milliseconds() -> None:
    host = hooks.ADAPTERS["gemini"]
    assert host.facts.hooks[0].timeout_ms == 10_000


def test_gemini_a_failed_command_is_seen_in_what_the_model_was_told() -> None:
    shell = payloads("gemini")["AfterTool.run_shell_command"]
    told = {"llmContent": "<untrusted_context>\nOutput: no\nExit Code: 2\n</untrusted_context>"}
    tool = hooks.capture(changed(shell, tool_response=told)).drafts[0].tool
    assert tool is not None and tool.failed


def test_copilot_both_spellings_of_one_call_have_one_key() -> None:
    stored = payloads("copilot")
    for camel, pascal in (
        ("postToolUse.bash", "PostToolUse.Bash"),
        ("postToolUse.create", "PostToolUse.Write"),
    ):
        keys = {hooks.capture(stored[name]).dedupe_key for name in (camel, pascal)}
        assert len(keys) == 1


def test_copilot_a_call_with_another_result_is_another_call() -> None:
    call = payloads("copilot")["postToolUse.bash"]
    other = changed(call, toolResult={"resultType": "failure", "textResultForLlm": "no"})
    assert hooks.capture(call).dedupe_key != hooks.capture(other).dedupe_key


def test_copilot_the_answer_is_read_from_the_transcript() -> None:
    capture = hooks.capture(payloads("copilot")["agentStop"])
    found = hooks.answered_from_transcript(capture, transcript("copilot"))
    assert "FINAL-ANSWER" in str(found.drafts[0].body)


def test_copilot_a_transcript_without_an_answer_to_this_prompt_gives_none() -> None:
    capture = hooks.capture(payloads("copilot")["agentStop"])
    asked = transcript("copilot") + b'{"type":"user.message","data":{"content":"more"}}\n'
    assert hooks.answered_from_transcript(capture, asked) == capture
    assert hooks.answered_from_transcript(capture, b"\xff{nothing") == capture


def test_qwen_the_prompt_hook_after_a_tool_is_nobody_speaking() -> None:
    capture = hooks.capture(payloads("qwen")["http.UserPromptSubmit"])
    assert (capture.drafts, capture.wants, capture.note) == ((), None, "empty prompt")


def test_qwen_the_prompt_is_what_was_submitted() -> None:
    payload = changed(payloads("qwen")["UserPromptSubmit"], prompt="as it was changed")
    assert hooks.capture(payload).query == "PROBE-PROMPT-1 NOTOOLS: hi."


def test_opencode_only_the_quotes_that_the_host_added_are_removed() -> None:
    for sent, said in (
        ('"fix it"', "fix it"),
        ('"say \\"hi\\" twice"', 'say "hi" twice'),
        ('"a" and "b"', '"a" and "b"'),
        ("plain", "plain"),
    ):
        parts = [{"type": "text", "text": sent}]
        data = {"input": {"sessionID": "s"}, "output": {"parts": parts}}
        payload = Payload("opencode", "chat.message", stdin=json.dumps(data).encode())
        assert hooks.capture(payload).query == said


def test_opencode_parts_that_plugins_added_are_not_the_users() -> None:
    parts = [{"type": "text", "text": "memory", "synthetic": True}]
    data = {"input": {"sessionID": "s"}, "output": {"parts": parts}}
    payload = Payload("opencode", "chat.message", stdin=json.dumps(data).encode())
    assert hooks.capture(payload).note == "empty prompt"


def test_opencode_the_project_is_the_directory_not_the_root_of_the_disk() -> None:
    placed = changed(payloads("opencode")["chat.message"], directory="/proj", worktree="/")
    assert hooks.capture(placed).cwd == "/proj"


def test_opencode_the_name_of_an_event_may_be_in_its_payload() -> None:
    named = payloads("opencode")["event.session.created"]
    assert hooks.capture(replace(named, event="event")).signal == "session-start"


def test_kiro_cli_a_spawn_on_every_prompt_is_one_start_of_a_session() -> None:
    spawn = hooks.capture(payloads("kiro-cli")["agentSpawn"])
    assert spawn.signal == "session-start"
    assert spawn.dedupe_key == "session-start:"
    assert spawn.drafts[0].dedupe_seconds is None


def test_kiro_cli_no_session_id_is_no_session_id() -> None:
    assert hooks.capture(payloads("kiro-cli")["userPromptSubmit"]).session_id is None
    assert hooks.capture(payloads("kiro-cli")["userPromptSubmit.tui"]).session_id


def test_kiro_ide_the_prompt_is_found_beside_bad_json() -> None:
    payload = Payload(
        "kiro-ide", "promptSubmit", env={"USER_PROMPT": "do it"}, stdin=b"not json at all"
    )
    assert hooks.capture(payload).query == "do it"


def test_kiro_ide_the_prompt_may_be_the_arguments() -> None:
    payload = Payload("kiro-ide", "promptSubmit", args=("do", "it"))
    assert hooks.capture(payload).query == "do it"


def test_cursor_a_prompt_is_let_through_with_a_context_and_without() -> None:
    capture = hooks.capture(payloads("cursor")["beforeSubmitPrompt"])
    assert capture.wants == "prompt"
    assert json.loads(answer(capture, FENCED)) == {
        "continue": True,
        "additional_context": FENCED,
    }
    assert answer(capture) == b'{"continue":true}'


def test_kiro_ide_a_tool_and_a_stop_may_be_told_in_the_variable() -> None:
    tool = hooks.capture(payloads("kiro-ide")["PostToolUse.env"])
    assert tool.drafts[0].tool is not None and tool.drafts[0].tool.command == "make test"
    stop = hooks.capture(payloads("kiro-ide")["Stop.env"])
    assert stop.signal == "stop" and "All tests pass." in str(stop.drafts[0].body)


def test_devin_cli_as_a_guest_of_claude_code_is_itself_in_its_project() -> None:
    guest = hooks.capture(payloads("claude-code")["guest.devin-cli.UserPromptSubmit"])
    assert (guest.host, guest.cwd) == ("devin-cli", "/PROJECT")
    own = hooks.capture(payloads("devin-cli")["UserPromptSubmit"])
    assert guest.dedupe_key == own.dedupe_key
    inside = payloads("claude-code")["UserPromptSubmit"]
    inside = replace(inside, env={**inside.env, "DEVIN_PROJECT_DIR": "/x"})
    assert hooks.capture(inside).host == "claude-code"


def test_cline_the_cli_names_its_session_and_its_answer_elsewhere() -> None:
    start, end = (hooks.capture(payloads("cline")[f"Task{name}.cli"])
                  for name in ("Start", "Complete"))  # fmt: skip
    assert start.session_id == end.session_id == "1794868611426_xbi49"
    assert "FINAL-ANSWER" in str(end.drafts[0].body)
    tool = hooks.capture(payloads("cline")["PostToolUse.cli"])
    assert tool.drafts[0].tool is not None and tool.wants == "tool"
    assert tool.drafts[0].tool.command == "echo canary > made.txt && cat made.txt"


def test_cursor_the_users_address_is_not_kept() -> None:
    for payload in payloads("cursor").values():
        assert "example.com" not in str(hooks.capture(payload).drafts)


def test_windsurf_nothing_is_ever_injected() -> None:
    host = hooks.ADAPTERS["windsurf"]
    assert not any(spec.injects for spec in host.facts.hooks)
    assert not any(host.answer(spec.event, FENCED) for spec in host.facts.hooks)


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
    assert answer(capture, "context") == b""
    assert hooks.adapter("").name == "unknown"
