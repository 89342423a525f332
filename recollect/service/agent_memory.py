"""What an agent may store and change: `remember` and `correct`.

In: the arguments of the two tools. Out: what was done, as a memory and the operation that undoes
it. An agent's words are authored `assistant`. What quotes a prompt of the user's, and says nothing
that the prompt does not say, counts as the user's. A user's memory is changed only by the user's
words; what an agent wants without them becomes a proposal, so that no file or web page that an
agent reads can make or unmake a rule.
"""

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from recollect.core import projects
from recollect.core.errors import BadInput, Conflict, NotFound
from recollect.core.kinds import TYPES, KnowledgeType
from recollect.core.values import TITLE_CHARS, BeliefScope, FactText, Record, RecordName
from recollect.extract.normalised_text import hash_of_words
from recollect.extract.rules.statements import instructs
from recollect.extract.statement_match import same_statement, word_hashes
from recollect.extract.tombstone_entry import tombstone_of, tombstone_of_edit
from recollect.reconcile import related_beliefs
from recollect.reconcile.ending_pairs import says_another_value
from recollect.reconcile.related_beliefs import words_of
from recollect.reconcile.restatements import restates
from recollect.service import beliefs, quotes, record_ids, write
from recollect.service.quoted_change import Doubt, not_changed, not_said
from recollect.service.quotes import UserPrompt
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import Scope, namespace_to_write, namespaces_to_search

ASSISTANT = "assistant"  # ended by it
NOT_EVERYWHERE = Doubt(
    "the user's words do not say that it holds in all projects",
    "If they do, quote that prompt.",
)
ALIKE = 0.5  # score of a belief that may be about the same
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
    """What was done with a memory; `waits` says why it is only proposed, `narrowed` why it does not
    hold as far as it was to."""

    what: Literal["stored", "known", "replaced", "ended", "forgotten", "proposed"]
    record: Record
    op_id: str = ""
    waits: Doubt | None = None
    narrowed: str = ""
    related: tuple[Record, ...] = ()


# --- remember ------------------------------------------------------------------------------------


def remember(runtime: ServiceRuntime, given: Remember) -> Done:
    if not given.text.strip():
        raise BadInput(
            "the text is empty, perhaps without its private spans and secrets", field="text"
        )
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
    wanted = _scope(runtime, given, namespace, prompt)
    belief = write.NewKnowledge(
        namespace=namespace, type=given.type, title=title, content=content, files=given.files,
        reason=given.reason, session_id=session, author="assistant",
    )  # fmt: skip
    return store_belief(runtime, belief, prompt, scope=wanted[0], scope_name=wanted[1])


def store_belief(
    runtime: ServiceRuntime,
    new: write.NewKnowledge,
    prompt: UserPrompt | None = None,
    *,
    scope: BeliefScope = "project",
    scope_name: str = "",
) -> Done:
    """A belief that an agent tells. What instructs agents holds only in the user's words, and
    everywhere holds only what the user said of all projects."""
    namespace = said_in = namespace_to_write(runtime, new)
    text = f"{new.title} {new.content}"
    doubt = not_said(text, prompt, scope)
    orders = TYPES[new.type].users_words_only or instructs(text)
    waits = doubt if orders else None
    if doubt is not None:
        _refuse_what_was_refused(runtime, namespace, text)
    narrowed = ""
    if "everywhere" in (scope, _scope_of(runtime, namespace)):
        if doubt is None and prompt is not None and prompt.everywhere:
            scope, namespace = "everywhere", projects.namespace(runtime.actor)
        elif _scope_of(runtime, namespace) == "everywhere":
            waits = waits or doubt or NOT_EVERYWHERE  # there is no project for it to hold in
        else:
            scope, narrowed = "project", NOT_EVERYWHERE.why
    if doubt is None and prompt is not None:
        lasts = scope in ("project", "everywhere")
        known = beliefs.said_before(runtime, said_in, new.title, prompt.event_id, lasts=lasts)
        if known is not None:
            done = _said_again(runtime, known, new, prompt, scope, scope_name)
            return dataclasses.replace(done, narrowed=narrowed)
    added = write.add_knowledge(
        runtime,
        msgspec.structs.replace(new, namespace=namespace, project=None),
        author="user" if doubt is None else "assistant",
        source_type="stated" if doubt is None else "inferred",
        source_event_ids=(prompt.event_id,) if prompt is not None else (),
        state="proposed" if waits else "current",
        scope=scope,
        scope_name=scope_name,
    )
    if not added.stored and not waits and added.record.state in ("proposed", "ended"):
        kept = beliefs.keep(runtime, added.record.record_id, reason="said again")
        again = beliefs.find(runtime, added.record.record_id)
        return Done("stored", again, kept.op_id, narrowed=narrowed)
    others = beliefs.related(runtime, added.record.namespace, added.record.title, most=3)
    near = [one for one, score in others if score >= ALIKE and one != added.record]
    return dataclasses.replace(_stored(added, waits, tuple(near)), narrowed=narrowed)


def _said_again(
    runtime: ServiceRuntime,
    known: Record,
    new: write.NewKnowledge,
    prompt: UserPrompt,
    scope: BeliefScope,
    scope_name: str,
) -> Done:
    """What the rules read of the same prompt, or what is held in the same words: it is told once,
    and holds as the agent understood it."""
    operation = beliefs.confirm(runtime, known, prompt.event_id, new.type)
    if scope != "project" and (scope, scope_name) != (known.scope, known.scope_name):
        operation = beliefs.rescope(runtime, known.record_id, scope, scope_name)
    if operation is None:
        return Done("known", known)
    return Done("stored", beliefs.find(runtime, known.record_id), operation.op_id)


def _scope_of(runtime: ServiceRuntime, namespace: str) -> BeliefScope:
    return "everywhere" if namespace == projects.namespace(runtime.actor) else "project"


def _refuse_what_was_refused(runtime: ServiceRuntime, namespace: str, text: str) -> None:
    """Conflict if the user refused this, or it ended, in whatever words."""
    words = word_hashes(text)
    for place in dict.fromkeys((namespace, projects.everywhere(namespace))):
        for one in beliefs.ended(runtime, place):
            said = one.title if not one.summary else f"{one.title} {one.summary}"
            same = restates(text, said) or hash_of_words(text) == hash_of_words(said)
            if one.ended_by == beliefs.USER and not says_another_value(text, said):
                same = same or same_statement(words_of(one), words)
            if same and one.ended_by != ASSISTANT:
                raise Conflict(
                    f"the user refused or ended this: {one.record_id} ({one.title})",
                    hint="Store it only if the user says it again, with those words as quote.",
                )


def _scope(
    runtime: ServiceRuntime, given: Remember, namespace: str, prompt: UserPrompt | None
) -> tuple[BeliefScope, str]:
    """Where a belief is to hold, and the session or branch."""
    if given.scope == "session":
        session = prompt.session_id if prompt is not None else _newest_session(runtime, namespace)
        return "session", session
    if given.scope == "branch":
        branch = projects.branch_of(given.project_path) if given.project_path else ""
        if not branch:
            raise BadInput("no branch is checked out there", field="scope")
        return "branch", branch
    return given.scope, ""


def _newest_session(runtime: ServiceRuntime, namespace: str) -> str:
    for one in runtime.store.sessions.page(namespace, limit=1).items:
        return one.session_id
    raise BadInput("no session is known here", field="scope")


# --- correct -------------------------------------------------------------------------------------


def correct(runtime: ServiceRuntime, given: Correct) -> Done:
    where = namespaces_to_search(runtime, given)
    record = _find(runtime, given.id, where)
    action = given.action or ("replace" if given.text is not None else "end")
    _refuse_the_impossible(record, given, action)
    prompt = _prompt(runtime, where[0], given.quote)
    text = given.text if action == "replace" else None
    stated = _stated_by_the_user(runtime, record, text, action)
    instead = text if record.traits.is_belief or record.author == "user" else None
    doubts = (not_changed(runtime, one, instead, prompt) for one in stated)
    waits = next(filter(None, doubts), None)
    if not record.traits.is_belief:
        return _correct_other(runtime, record, given, action, waits, stated)
    users = record.author == "user"
    if text is not None and not users:
        doubt = not_said(text, prompt, record.scope)
        users = doubt is None and not stated
        orders = record.is_rule or record.state != "current" or instructs(text)
        waits = waits or (doubt if orders else None)
    if waits:
        _refuse_a_refused_change(runtime, record, text)
        made, operation = beliefs.propose_change(runtime, record, text, reason=given.reason)
        return Done("proposed", made, operation.op_id if operation else "", waits)
    if action == "forget":
        return _forgotten(runtime, record, given.reason)
    by = prompt.event_id if prompt is not None else ASSISTANT
    if action == "end":
        ended = beliefs.end(runtime, record.record_id, by=by, reason=given.reason)
        return Done("ended", record, ended.op_id)
    new, operation = beliefs.replace(
        runtime,
        record.record_id,
        given.text or "",
        by=by,
        reason=given.reason,
        author="user" if users else "assistant",
        event_ids=(prompt.event_id,) if prompt is not None else (),
        session_id=prompt.session_id if prompt is not None else None,
    )
    return Done("replaced", new, operation.op_id)


def _refuse_the_impossible(record: Record, given: Correct, action: str) -> None:
    """BadInput for what no quotation could make possible."""
    if action == "replace" and not (given.text or "").strip():
        raise BadInput("what holds instead?", field="text")
    if action != "replace" and given.text is not None:
        raise BadInput(
            f"action {action} takes no text",
            field="text",
            hint="To put the text in its place, leave action out.",
        )
    if record.state == "ended" and (action != "forget" or record.author == "user"):
        day = f" on {record.valid_until:%Y-%m-%d}" if record.valid_until else ""
        raise BadInput(f"{record.record_id} ended already{day}", field="id")


def _stated_by_the_user(
    runtime: ServiceRuntime, record: Record, text: str | None, action: str
) -> list[Record]:
    """What of the user's a change concerns: the memory itself, or each belief of the user's that
    would lose words by it, or was made of the same words of the user's."""
    if record.author == "user":
        return [record]
    places = dict.fromkeys((record.namespace, projects.everywhere(record.namespace)))
    theirs = [
        one
        for one in related_beliefs.standing(runtime.store, tuple(places), proposed=True)
        if one.author == "user"
    ]
    if not theirs:
        return []
    entry = _tombstone(runtime, record, text, action)
    said = word_hashes(f"{record.title} {record.summary}")
    return [
        one
        for one in theirs
        if (entry is not None and runtime.tombstones.would_hide(entry, one))
        or (
            not set(one.source_event_ids).isdisjoint(record.source_event_ids)
            and record.traits.is_belief
            and same_statement(words_of(one), said)
        )
    ]


def _tombstone(
    runtime: ServiceRuntime, record: Record, text: str | None, action: str
) -> dict[str, Any] | None:
    """What would hide what else says the same; None for what hides nothing."""
    now, sessions = runtime.clock.now(), runtime.tombstones.sessions_of(record)
    if action == "forget":
        return tombstone_of(record, "delete", again=True, sessions=sessions, at=now)
    if record.traits.is_belief:
        return None
    title, content = _title_and_rest(text or "")
    edited = msgspec.structs.replace(record, title=title, summary=content, detail="")
    earlier = runtime.tombstones.correction_of(record)
    return tombstone_of_edit(record, edited, earlier, sessions, now)


def _refuse_a_refused_change(runtime: ServiceRuntime, record: Record, text: str | None) -> None:
    """Conflict if the user refused such a change before."""
    if text is not None:
        _refuse_what_was_refused(runtime, record.namespace, text)
    for one in beliefs.ended(runtime, record.namespace):
        if (
            text is None
            and one.ended_by == beliefs.USER
            and beliefs.ENDS + record.record_id in one.facts
        ):
            raise Conflict(
                f"the user refused to end {record.record_id} before",
                hint="Ask the user, and quote the words that end it.",
            )


def _correct_other(
    runtime: ServiceRuntime,
    record: Record,
    given: Correct,
    action: str,
    waits: Doubt | None,
    stated: list[Record],
) -> Done:
    """A note, a summary or a turn does not end: it is reworded, or forgotten."""
    if waits:
        told = ", ".join(f"{one.record_id} ({one.title})" for one in stated if one != record)
        owns = f"says what the user stated, too: {told}" if told else "is the user's"
        raise BadInput(f"{given.id} {owns}; nothing was changed, because {waits.why}",
                       hint=waits.advice)  # fmt: skip
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


def _title_and_rest(text: str) -> tuple[str, str]:
    flat = " ".join(text.split())
    return (flat, "") if len(flat) <= TITLE_CHARS else (write.title_of(text), text)


def _stored(
    added: write.Added, waits: Doubt | None = None, related: tuple[Record, ...] = ()
) -> Done:
    if not added.stored:
        return Done("known", added.record)
    what: Literal["proposed", "stored"] = "proposed" if waits else "stored"
    return Done(what, added.record, added.op_id or "", waits, related=related)
