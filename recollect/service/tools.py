"""What runs when an agent calls a tool; `core/tool_schemas.py` has what it sees of them.

In: a tool's name, its arguments, and where the agent works. Out: text with ids. Lists give titles;
get_observations gives the rest. What is refused raises an error whose words the agent can act on.
No text can be taken for a tag of the host's, and what is sensitive needs consent, as in a hook.
"""

import re
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from recollect.core.errors import BadInput
from recollect.core.one_line import one_line
from recollect.core.tool_schemas import BY_NAME
from recollect.core.values import Record, convert, encode
from recollect.inject import render
from recollect.inject.judge import SENSITIVE, is_sensitive_memory
from recollect.privacy.sensitive import is_sensitive
from recollect.service import (
    administration,
    agent_memory,
    context,
    conversation_compaction,
    graph,
    read,
    report,
    search,
    sessions,
    write,
)
from recollect.service.clean_input import scrubbed_tree
from recollect.service.record_ids import resolve, resolve_each
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import GLOBAL, Scope, namespaces_to_search, refuse_kept_out

LINE = 200
DAY = re.compile(r"\d{4}-\d\d-\d\d")
# What a day means without a time, in UTC: where it begins, or where it ends.
DATES = {
    "since": "T00:00:00Z",
    "at": "T00:00:00Z",
    "until": "T23:59:59.999999Z",
    "as_of": "T23:59:59.999999Z",
}
BELIEVES = ("remember", "store_knowledge")


def call(runtime: ServiceRuntime, name: str, arguments: Any, cwd: str | None) -> str:
    """Run a tool. Raises only RecollectError: bad arguments, and ids or names that do not exist."""
    tool = BY_NAME.get(name)
    if tool is None:
        raise BadInput(f"there is no tool {name!r}", hint=", ".join(BY_NAME))
    given = arguments if isinstance(arguments, dict) else {}
    unknown = sorted(set(given) - set(tool.properties) - {"project"})
    if unknown:
        known = ", ".join((*tool.properties, "project"))
        raise BadInput(f"{name} has no argument {unknown[0]!r}", hint=f"It takes: {known}.")
    given = {key: value for key, value in given.items() if value is not None}
    if given.get("project") == GLOBAL and cwd and name in BELIEVES and given.get("kind") != "note":
        given = {**given, "scope": "everywhere"}  # else it belongs to where the agent works
        del given["project"]
    if "project" not in given and cwd:
        refuse_kept_out(runtime, cwd)
        given["project_path"] = cwd
    for key, value in given.items():
        if isinstance(value, str) and tool.properties.get(key, {}).get("type") == "array":
            given[key] = [line for line in value.splitlines() if line.strip()]  # a list as lines
        elif key in DATES and isinstance(value, str) and DAY.fullmatch(value.strip()):
            given[key] = f"{value.strip()}{DATES[key]}"
    _refuse_no_path(given.get("files"))
    if tool.writes:
        given = scrubbed_tree(runtime, given, tool.as_sent)
    text = RUN[name](runtime, given)
    return text if tool.fenced else render.disarm(text)


def _refuse_no_path(files: Any) -> None:
    """BadInput for what is no path of a file, or leads out of the place where it begins."""
    for at, path in enumerate(files if isinstance(files, list) else ()):
        if isinstance(path, str) and (not path.isprintable() or ".." in path.split("/")):
            raise BadInput(
                f"{path!r} is no path of a file",
                field=f"files[{at}]",
                hint="Give the path in the project, without .. and control characters.",
            )


# --- the tools -----------------------------------------------------------------------------------


def _search(runtime: ServiceRuntime, given: dict[str, Any]) -> str:
    answer = search.search(runtime, convert(search.SearchQuery, given))
    items = tuple(one for one in answer.items if _allowed_record(runtime, one.record))
    return search_text(msgspec.structs.replace(answer, items=items))


def _search_by_meaning(runtime: ServiceRuntime, given: dict[str, Any]) -> str:
    return _search(runtime, {"mode": "semantic", **given})


def _embedding_stats(runtime: ServiceRuntime, given: dict[str, Any]) -> str:
    found = administration.embedding_stats(runtime)
    text = (
        f"{found.embedded} of {found.memories} memories ({100 * found.coverage:.0f} %) have "
        f"vectors of {found.model or 'no model yet'}; embedding is {found.state}."
    )
    return f"{text} {found.problem}".strip()


def _compact(runtime: ServiceRuntime, given: dict[str, Any]) -> str:
    asked = convert(conversation_compaction.CompactRequest, given)
    return encode(conversation_compaction.compact(runtime, asked)).decode()


def _allowed_record(runtime: ServiceRuntime, record: Record) -> bool:
    """Whether an agent may read a memory."""
    return runtime.settings.share_sensitive or not is_sensitive_memory(record)


def _allowed_text(runtime: ServiceRuntime, text: str) -> str:
    """A text made of many memories, without the lines that need consent."""
    if runtime.settings.share_sensitive:
        return text
    return "\n".join(line for line in text.split("\n") if not is_sensitive(line))


def search_text(answer: search.SearchAnswer) -> str:
    if not answer.items:
        return "No memories found. Try other words, or project: all."
    lines = [
        f"{memory_line(one.record, says_ended=one.says_ended)} (score {one.score:.2f})"
        for one in answer.items
    ]
    if not answer.good:
        lines.insert(0, "No good match; the nearest memories are:")
    elif answer.good < len(lines):
        lines.insert(answer.good, "Nearest, but less likely to be about it:")
    if "semantic" in answer.left_out and answer.mode != "keyword":
        lines.append(f"(by words alone: {answer.left_out['semantic']})")
    return "\n".join(lines)


CONTEXT_TOKENS = 2000  # unless the agent names its budget


def _context(runtime: ServiceRuntime, given: dict[str, Any]) -> str:
    asked = convert(context.ContextQuery, {"token_budget": CONTEXT_TOKENS, **given})
    answer = context.context(runtime, asked)
    if not answer.context:
        return "No memory is relevant to this."
    ids = f"\nids: {', '.join(answer.records)}" if answer.records else ""
    return answer.context + ids


def _timeline(runtime: ServiceRuntime, given: dict[str, Any]) -> str:
    asked = convert(read.TimelineQuery, given)
    if asked.anchor is None and asked.at is None and "before" not in given:
        asked = msgspec.structs.replace(asked, before=20)
    if asked.anchor is not None:
        anchor = resolve(runtime, asked.anchor, namespaces_to_search(runtime, asked))
        asked = msgspec.structs.replace(asked, anchor=anchor)
    answer = read.timeline(runtime, asked)
    marks = {answer.anchor: "> "}
    lines = [
        marks.get(one.record_id, "") + memory_line(one)
        for one in answer.items
        if _allowed_record(runtime, one)
    ]
    return "\n".join(lines) or "There are no memories here yet."


class _Ids(Scope, frozen=True, kw_only=True):
    ids: read.Ids


def _get(runtime: ServiceRuntime, given: dict[str, Any]) -> str:
    asked = convert(_Ids, given)
    wanted = resolve_each(runtime, asked.ids, namespaces_to_search(runtime, asked))
    records = read.get(runtime, wanted)
    missing = [one for one in wanted if one not in {record.record_id for record in records}]
    parts = [
        memory_text(record) if _allowed_record(runtime, record) else withheld(record)
        for record in records
    ]
    if missing:
        parts.append(f"Not found: {', '.join(missing)}")
    return "\n\n".join(parts)


def _observe(runtime: ServiceRuntime, given: dict[str, Any]) -> str:
    new = convert(write.NewObservation, {"author": "assistant", **given})
    return _stored(write.add_observation(runtime, new))


def _know(runtime: ServiceRuntime, given: dict[str, Any]) -> str:
    scope = given.pop("scope", "project")
    new = convert(write.NewKnowledge, {"author": "assistant", **given})
    return _done_text(runtime, agent_memory.store_belief(runtime, new, scope=scope))


def _remember(runtime: ServiceRuntime, given: dict[str, Any]) -> str:
    done = agent_memory.remember(runtime, convert(agent_memory.Remember, given))
    return _done_text(runtime, done)


def _correct(runtime: ServiceRuntime, given: dict[str, Any]) -> str:
    done = agent_memory.correct(runtime, convert(agent_memory.Correct, given))
    return _done_text(runtime, done)


def _done_text(runtime: ServiceRuntime, done: agent_memory.Done) -> str:
    """What an agent is told of a change: the id, how to undo it, and what is left to do."""
    said = {"known": "Already stored", "replaced": "Holds instead"}
    text = f"{said.get(done.what, done.what.capitalize())}: {done.record.record_id}"
    if done.op_id:
        text += f" (undo: {done.op_id})"
    if done.waits:
        text += f"\nIt is a proposal until the user agrees, because {done.waits.why}."
        text += f" {done.waits.advice}"
    elif done.narrowed:
        text += f"\nIt holds in this project only, because {done.narrowed}."
    near = [memory_line(one) for one in done.related if _allowed_record(runtime, one)]
    if near:
        text += "\nThese hold, too; correct those that no longer do:\n" + "\n".join(near)
    return text


def _sum_up(runtime: ServiceRuntime, given: dict[str, Any]) -> str:
    new = convert(write.NewSummary, {"author": "assistant", **given})
    return _stored(write.add_summary(runtime, new))


def _stored(added: write.Added) -> str:
    if not added.stored:
        return f"Already stored: {added.record.record_id}"
    return f"Stored: {added.record.record_id} (undo: {added.op_id})"


class _Session(Scope, frozen=True, kw_only=True):
    session_id: Annotated[str, Meta(min_length=1, max_length=256)] | None = None


def _resume(runtime: ServiceRuntime, given: dict[str, Any]) -> str:
    asked = convert(_Session, given)
    return _allowed_text(runtime, sessions.resume(runtime, asked, asked.session_id).text)


def _report(runtime: ServiceRuntime, given: dict[str, Any]) -> str:
    made = report.report(runtime, convert(report.ReportQuery, given))
    return _allowed_text(runtime, report.markdown(made))


class _Named(Scope, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=256)]


def _entity(runtime: ServiceRuntime, given: dict[str, Any]) -> str:
    asked = convert(_Named, given)
    answer = graph.recall_entity(runtime, asked.name, asked)
    if not runtime.settings.share_sensitive:
        memories = tuple(one for one in answer.memories if _allowed_record(runtime, one))
        entities = tuple(_without_private(one) for one in answer.entities)
        answer = msgspec.structs.replace(answer, memories=memories, entities=entities)
    return _allowed_text(runtime, entity_text(answer)) or f"{asked.name}: {SENSITIVE}"


def _without_private(one: graph.EntityDetail) -> graph.EntityDetail:
    facts = tuple(fact for fact in one.facts if not fact.sensitive)
    return msgspec.structs.replace(one, facts=facts)


def entity_text(answer: graph.EntityRecall) -> str:
    lines: list[str] = []
    for one in answer.entities:
        known = one.entity
        lines.append(f"**{known.name}** ({known.type}) {known.description}".rstrip())
        lines += [
            f"- {fact.subject} {fact.predicate} {fact.object} (confidence {fact.confidence:.1f})"
            for fact in one.facts
        ]
        lines += [
            f"- {', '.join(sources)} {type_} {', '.join(targets)}"
            for sources, type_, targets in graph.grouped(one)
        ]
    if answer.memories:
        lines += ["Memories:", *map(memory_line, answer.memories)]
    return "\n".join(lines)


# --- answers as text -----------------------------------------------------------------------------


def memory_line(record: Record, *, says_ended: bool = False) -> str:
    """A memory in a list: id, date, kind, title and the beginning of its summary."""
    kind = record.knowledge_type or record.observation_type or record.traits.label
    kind += " (says what no longer holds)" if says_ended else ""
    kind += f" ({state_of(record)})" if record.state != "current" else ""
    text = f"{record.record_id} [{record.valid_from:%Y-%m-%d}] {kind}: {_flat(record.title)}"
    if _flat(record.summary) not in ("", _flat(record.title)):
        text += f" - {one_line(record.summary, LINE)}"
    return text


def state_of(record: Record) -> str:
    """The state of a belief in words."""
    match record.state:
        case "ended":
            day = f" on {record.valid_until:%Y-%m-%d}" if record.valid_until else ""
            return f"ended{day}, no longer holds"
        case "proposed":
            return "proposed, nobody confirmed it"
        case "disputed":
            return "disputed" if record.stands else f"disputed by the newer {record.ended_by}"
    return record.state


def memory_text(record: Record) -> str:
    """A memory in full."""
    parts = [f"{record.record_id} [{record.valid_from:%Y-%m-%d %H:%M}] {record.title}"]
    type_ = record.knowledge_type or record.observation_type or ""
    state = state_of(record) if record.state != "current" else ""
    tags = [record.traits.label, type_, record.freshness, state]
    parts.append(
        f"({', '.join(filter(None, tags))}; confidence {record.confidence:.1f}; by {record.author})"
    )
    parts += [text for text in (record.summary, record.detail) if text]
    parts += [f"- {fact}" for fact in record.facts]
    if record.files:
        parts.append("Files: " + ", ".join(record.files))
    if record.concepts:
        parts.append("Concepts: " + ", ".join(record.concepts))
    return "\n".join(parts)


def withheld(record: Record) -> str:
    return f"{record.record_id}: {SENSITIVE}; the user can read it in the dashboard"


def _flat(text: str) -> str:
    return " ".join(text.split())


Run = Callable[[ServiceRuntime, dict[str, Any]], str]

RUN: dict[str, Run] = {
    "search_memory": _search,
    "search": _search,
    "hybrid_search": _search,
    "semantic_search": _search_by_meaning,
    "embedding_stats": _embedding_stats,
    "compact_conversation": _compact,
    "get_context": _context,
    "timeline": _timeline,
    "get_observations": _get,
    "remember": _remember,
    "correct": _correct,
    "store_observation": _observe,
    "save_observation": _observe,
    "save_memory": _observe,
    "store_knowledge": _know,
    "store_summary": _sum_up,
    "save_session_summary": _sum_up,
    "resume_session": _resume,
    "generate_report": _report,
    "recall_entity": _entity,
}
