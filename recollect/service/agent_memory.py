"""What an agent may store and change: `remember` and `correct`.

In: the arguments of the two tools. Out: what was done, as a memory and the operation that undoes
it. An agent's words are authored `assistant`. What quotes a prompt of the user's, and says nothing
that the prompt does not say, counts as the user's. A user's memory is changed only by the user's
words; what an agent wants without them becomes a proposal, so that no file or web page that an
agent reads can make or unmake a rule.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from recollect.core import projects
from recollect.core.errors import BadInput, NotFound
from recollect.core.kinds import TYPES, KnowledgeType
from recollect.core.values import TITLE_CHARS, BeliefScope, FactText, Record, RecordName
from recollect.extract.statement_match import Words, word_hashes
from recollect.service import beliefs, quotes, record_ids, write
from recollect.service.quotes import UserPrompt
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import Scope, namespace_to_write, namespaces_to_search

COVERED = 0.5  # share of a text's words that the prompt must have, for it to be the user's
Text = Annotated[str, Meta(min_length=1, max_length=4000)]
Quote = Annotated[str, Meta(max_length=2000)]


class Remember(Scope, frozen=True, kw_only=True):
    text: Text
    kind: Literal["belief", "note"] = "belief"
    type: KnowledgeType = "decision"
    scope: Literal["session", "branch", "project", "everywhere"] = "project"
    reason: FactText | None = None
    files: write.Files = ()
    quote: Quote = ""


class Correct(Scope, frozen=True, kw_only=True):
    id: RecordName
    text: Text | None = None
    action: Literal["replace", "end", "forget"] | None = None
    reason: Annotated[str, Meta(max_length=500)] = ""
    quote: Quote = ""


@dataclass(frozen=True)
class Done:
    """What was done with a memory; `waits` says why it is only proposed."""

    what: Literal["stored", "known", "replaced", "ended", "forgotten", "proposed"]
    record: Record
    op_id: str = ""
    waits: str = ""
    related: tuple[Record, ...] = ()


# --- remember ------------------------------------------------------------------------------------


def remember(runtime: ServiceRuntime, given: Remember) -> Done:
    namespace = namespace_to_write(runtime, given)
    prompt = _prompt(runtime, namespace, given.quote)
    title, content = _title_and_rest(given.text)
    session = prompt.session_id if prompt is not None else None
    if given.kind == "note":
        note = write.NewObservation(
            namespace=namespace, title=title, content=content, files=given.files,
            session_id=session, author="assistant",
        )  # fmt: skip
        return _stored(write.add_observation(runtime, note))
    scope, scope_name = _scope(runtime, given, namespace, prompt)
    if scope == "everywhere":
        namespace = projects.namespace(runtime.actor)
    belief = write.NewKnowledge(
        namespace=namespace, type=given.type, title=title, content=content, files=given.files,
        reason=given.reason, session_id=session, author="assistant",
    )  # fmt: skip
    return store_belief(runtime, belief, prompt, scope=scope, scope_name=scope_name)


def store_belief(
    runtime: ServiceRuntime,
    new: write.NewKnowledge,
    prompt: UserPrompt | None = None,
    *,
    scope: BeliefScope = "project",
    scope_name: str = "",
) -> Done:
    """A belief that an agent tells. A type that instructs agents holds only in the user's words."""
    users = prompt is not None and _covered(word_hashes(f"{new.title} {new.content}"), prompt.words)
    waits = "" if users or not TYPES[new.type].users_words_only else _why_not(prompt)
    added = write.add_knowledge(
        runtime,
        new,
        author="user" if users else "assistant",
        source_type="stated" if users else "inferred",
        source_event_ids=(prompt.event_id,) if prompt is not None else (),
        state="proposed" if waits else "current",
        scope=scope,
        scope_name=scope_name,
    )
    if not added.stored and not waits and added.record.state in ("proposed", "ended"):
        kept = beliefs.keep(runtime, added.record.record_id, reason="said again")
        return Done("stored", beliefs.find(runtime, added.record.record_id), kept.op_id)
    others = beliefs.related(runtime, added.record.namespace, added.record.title, most=3)
    near = [one for one, score in others if score >= COVERED and one != added.record]
    return _stored(added, waits, tuple(near))


def _scope(
    runtime: ServiceRuntime, given: Remember, namespace: str, prompt: UserPrompt | None
) -> tuple[BeliefScope, str]:
    """Where a belief holds, and the session or branch; everywhere only if the user is quoted."""
    if given.scope == "everywhere":
        return ("everywhere", "") if prompt is not None else ("project", "")
    if given.scope == "session":
        session = prompt.session_id if prompt is not None else _newest_session(runtime, namespace)
        return "session", session
    if given.scope == "branch":
        branch = projects.branch_of(given.project_path) if given.project_path else ""
        if not branch:
            raise BadInput("no branch is checked out there", field="scope")
        return "branch", branch
    return "project", ""


def _newest_session(runtime: ServiceRuntime, namespace: str) -> str:
    for one in runtime.store.sessions.page(namespace, limit=1).items:
        return one.session_id
    raise BadInput("no session is known here", field="scope")


# --- correct -------------------------------------------------------------------------------------


def correct(runtime: ServiceRuntime, given: Correct) -> Done:
    where = namespaces_to_search(runtime, given)
    record = _find(runtime, given.id, where)
    action = given.action or ("replace" if given.text else "end")
    if action == "replace" and not given.text:
        raise BadInput("what holds instead?", field="text")
    prompt = _prompt(runtime, where[0], given.quote)
    waits = "" if record.author != "user" else _refused(record, given.text, action, prompt)
    if not record.traits.is_belief:
        return _correct_other(runtime, record, given, action, waits)
    if waits:
        text = given.text if action == "replace" else None
        made, operation = beliefs.propose_change(runtime, record, text, reason=given.reason)
        return Done("proposed", made, operation.op_id if operation else "", waits)
    if action == "forget":
        return _forgotten(runtime, record, given.reason)
    by = prompt.event_id if prompt is not None else "assistant"
    if action == "end":
        ended = beliefs.end(runtime, record.record_id, by=by, reason=given.reason)
        return Done("ended", record, ended.op_id)
    new, operation = beliefs.replace(
        runtime,
        record.record_id,
        given.text or "",
        by=by,
        reason=given.reason,
        author="user" if record.author == "user" else "assistant",
        event_ids=(prompt.event_id,) if prompt is not None else (),
        session_id=prompt.session_id if prompt is not None else None,
    )
    return Done("replaced", new, operation.op_id)


def _refused(record: Record, text: str | None, action: str, prompt: UserPrompt | None) -> str:
    """Why the user's words do not carry a change of the user's memory; empty when they do."""
    if prompt is None:
        return _why_not(prompt)
    about = word_hashes(f"{record.title} {record.subject} {record.value}")
    if action == "replace":
        # What stays of the old text need not be said again.
        new = word_hashes(text or "") - about
        said = _covered(new, prompt.words) if new else bool(about & prompt.words)
    else:
        said = bool(about & prompt.words)
    return "" if said else "the prompt that you quote does not say this"


def _correct_other(
    runtime: ServiceRuntime, record: Record, given: Correct, action: str, waits: str
) -> Done:
    """A note, a summary or a turn does not end: it is reworded, or forgotten."""
    if waits:
        raise BadInput(f"{given.id} is the user's: {waits}", hint="Quote the user's words.")
    if action == "end":
        raise BadInput(
            f"{given.id} is a {record.traits.label}, which does not end",
            hint="Give its new text, or action: forget.",
        )
    if action == "forget":
        return _forgotten(runtime, record, given.reason)
    title, content = _title_and_rest(given.text or "")
    change = write.MemoryEdit(title=title, summary=content, detail="", reason=given.reason)
    changed = write.edit(runtime, record.record_id, change)
    return Done("replaced", changed.record, changed.op_id)


def _forgotten(runtime: ServiceRuntime, record: Record, reason: str) -> Done:
    gone = write.delete(runtime, (record.record_id,), reason)
    return Done("forgotten", record, gone.op_ids[0])


def _find(runtime: ServiceRuntime, name: str, namespaces: tuple[str, ...]) -> Record:
    record_id = record_ids.resolve(runtime, name, namespaces)
    for namespace in namespaces:
        for record in runtime.visible_store.records.get(namespace, [record_id]):
            return record
    raise NotFound(f"there is no memory {name} here")


# --- whose words ---------------------------------------------------------------------------------


def _prompt(runtime: ServiceRuntime, namespace: str, quote: str) -> UserPrompt | None:
    return quotes.find_prompt(runtime, namespace, quote) if quote.strip() else None


def _why_not(prompt: UserPrompt | None) -> str:
    if prompt is not None:
        return "the prompt that you quote does not say this"
    return "no words of the user's are quoted, or no prompt of this session has them"


def _covered(words: Words, said: Words) -> bool:
    return bool(words) and len(words & said) >= COVERED * len(words)


def _title_and_rest(text: str) -> tuple[str, str]:
    flat = " ".join(text.split())
    return (flat, "") if len(flat) <= TITLE_CHARS else (write.title_of(text), text)


def _stored(added: write.Added, waits: str = "", related: tuple[Record, ...] = ()) -> Done:
    if not added.stored:
        return Done("known", added.record)
    return Done("proposed" if waits else "stored", added.record, added.op_id or "", waits, related)
