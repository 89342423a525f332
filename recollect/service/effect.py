"""What memory changes: sessions with it beside sessions in which it was silent on purpose.

In: a project and a period. Out: both arms of shadow mode, compared on a few measures, with
intervals and with sentences that say what can and what cannot be concluded.

A session is in the arm that it was assigned to, whatever it was told: one with memory that was told
nothing counts as one with memory. Only sessions that began in the period while shadow mode was on
count; one without a prompt, or whose arm changed with the setting, counts in neither.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from msgspec import structs

from recollect.core.errors import BadInput
from recollect.core.values import Moment, Receipt, Value
from recollect.hosts.proof import SESSION_PREFIX
from recollect.service.arm_statistics import LEAST_SESSIONS, Comparison, compare
from recollect.service.report import DAYS, Period
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import Scope, namespaces_to_list
from recollect.store.interface import Cursor
from recollect.work.session_effort import SessionEffort, effort, step_of

PAGE = 200
MOST_RECEIPTS = 20_000  # read of one project, newest first
MOST_SESSIONS = 2000
MOST_EVENTS = 2000  # of one session, from its beginning
LONGEST = timedelta(days=3650)

# What is measured of each session, and what it is called.
LABELS = {
    "turns": "turns",
    "calls_before_edit": "calls before first edit",
    "edited": "sessions that edit",
    "corrected_turns": "corrected turns",
    "failed_commands": "failed commands",
    "tokens": "tokens injected",
}
NO_OUTCOME = ("edited", "tokens")  # they say what the sessions were like, not how well they went


class EffectQuery(Scope, frozen=True, kw_only=True):
    """A named period that ends now, or the time from `since` to `until`; by default everything
    whose receipts are still kept."""

    period: Period | None = None
    since: Moment | None = None
    until: Moment | None = None


class Measure(Value, frozen=True, kw_only=True):
    name: str
    label: str
    comparison: Comparison


class LeftOut(Value, frozen=True, kw_only=True):
    """Sessions of the period that are in neither arm."""

    without_shadow: int  # shadow mode was off
    changed_arm: int  # the setting changed while they ran
    without_prompt: int


class Effect(Value, frozen=True, kw_only=True):
    """Both arms, measure by measure. `complete` is false when there were more sessions or receipts
    than one report reads: the newest are counted, and `since` says from when on."""

    since: Moment | None
    until: Moment
    shares: tuple[float, ...]
    memory_sessions: int
    silent_sessions: int
    measures: tuple[Measure, ...]
    left_out: LeftOut
    complete: bool
    conclusions: tuple[str, ...] = ()


@dataclass
class _Marks:
    """What the receipts of one session say."""

    namespace: str
    session_id: str
    arms: set[bool | None] = field(default_factory=set)
    shares: set[float] = field(default_factory=set)
    tokens: int = 0
    first: datetime = datetime.max

    def add(self, receipt: Receipt, at: datetime) -> None:
        detail = receipt.detail if isinstance(receipt.detail, dict) else {}
        self.arms.add(detail.get("shadow"))
        if "shadow_share" in detail:
            self.shares.add(float(detail["shadow_share"]))
        self.tokens += receipt.tokens
        self.first = at  # receipts come newest first


@dataclass(frozen=True)
class _Session:
    silent: bool
    tokens: int
    effort: SessionEffort

    def measured(self, name: str) -> float | None:
        match name:
            case "tokens":
                return float(self.tokens)
            case "edited":
                return float(self.effort.calls_before_edit is not None)
        found: int | None = getattr(self.effort, name)
        return None if found is None else float(found)


def effect(runtime: ServiceRuntime, asked: EffectQuery) -> Effect:
    until = asked.until or runtime.clock.now()
    since = asked.since or until - (timedelta(days=DAYS[asked.period]) if asked.period else LONGEST)
    if since >= until:
        raise BadInput("the period ends before it begins", field="since")
    found: list[tuple[datetime, _Marks]] = []
    complete = True
    for namespace in namespaces_to_list(runtime, asked):
        marks, read_from = _marks(runtime, namespace, since)
        complete = complete and read_from is None
        earliest = max(since, read_from or since)
        for one in marks:
            known = runtime.store.sessions.get(namespace, one.session_id)
            began = known.started_at if known is not None else one.first
            if earliest <= began < until:
                found.append((began, one))
    found.sort(key=lambda one: one[0], reverse=True)
    complete = complete and len(found) <= MOST_SESSIONS
    found = found[:MOST_SESSIONS]
    sessions: list[_Session] = []
    shares: set[float] = set()
    without_shadow = changed_arm = without_prompt = 0
    for _, one in found:
        if one.arms == {None}:
            without_shadow += 1
        elif len(one.arms) != 1:
            changed_arm += 1
        elif (worked := _effort(runtime, one)).turns == 0:
            without_prompt += 1
        else:
            shares |= one.shares
            sessions.append(_Session(True in one.arms, one.tokens, worked))
    silent = sum(one.silent for one in sessions)
    # Of the sessions to come; the setting may be off again.
    share = runtime.settings.shadow or (silent / len(sessions) if sessions else 0.0)
    made = Effect(
        since=asked.since or (found[-1][0] if found else None),
        until=until,
        shares=tuple(sorted(shares)),
        memory_sessions=len(sessions) - silent,
        silent_sessions=silent,
        measures=tuple(
            Measure(
                name=name,
                label=label,
                comparison=compare(
                    _values(sessions, name, silent=False),
                    _values(sessions, name, silent=True),
                    share,
                ),
            )
            for name, label in LABELS.items()
        ),
        left_out=LeftOut(
            without_shadow=without_shadow, changed_arm=changed_arm, without_prompt=without_prompt
        ),
        complete=complete,
    )
    return structs.replace(made, conclusions=tuple(_conclusions(made, runtime.settings.shadow)))


def _marks(
    runtime: ServiceRuntime, namespace: str, since: datetime
) -> tuple[list[_Marks], datetime | None]:
    """The sessions of a project that have receipts in the period; if there are more receipts than
    may be read, also the time from which on they were."""
    found: dict[str, _Marks] = {}
    place: Cursor | None = None
    oldest: datetime | None = None
    for _ in range(MOST_RECEIPTS // PAGE):
        page = runtime.store.receipts.page(namespace, before=place, limit=PAGE)
        for receipt in page.items:
            oldest = receipt.created_at
            if oldest is None or oldest < since:
                return list(found.values()), None
            session = receipt.session_id
            if session and not session.startswith(SESSION_PREFIX):
                found.setdefault(session, _Marks(namespace, session)).add(receipt, oldest)
        place = page.next
        if place is None:
            return list(found.values()), None
    return list(found.values()), oldest


def _effort(runtime: ServiceRuntime, marks: _Marks) -> SessionEffort:
    events = runtime.store.events.session(marks.namespace, marks.session_id, MOST_EVENTS)
    return effort(step for one in events if (step := step_of(one.event)) is not None)


def _values(sessions: list[_Session], name: str, *, silent: bool) -> list[float]:
    measured = (one.measured(name) for one in sessions if one.silent == silent)
    return [one for one in measured if one is not None]


# --- in sentences ---------------------------------------------------------------------------------


def _conclusions(made: Effect, share: float) -> Iterator[str]:
    """What can and what cannot be concluded."""
    arms = made.memory_sessions, made.silent_sessions
    if not sum(arms) and share:
        yield f"Shadow mode is on (share {share:g}); no session has been assigned to an arm yet."
        return
    if not sum(arms):
        yield (
            "Shadow mode was never on in this time, so there is nothing to compare. Turn it on: "
            "recollect settings set shadow 0.2"
        )
        return
    if len(made.shares) > 1:
        several = ", ".join(f"{one:g}" for one in made.shares)
        yield (
            f"The share changed in this time ({several}), so the arms hold more sessions of one "
            "part of it than of another. Compare one part: --since and --until."
        )
    if min(arms) < LEAST_SESSIONS:
        yield (
            f"Too few sessions to conclude anything: {arms[0]} with memory and {arms[1]} silent; "
            f"an interval needs {LEAST_SESSIONS} of each."
        )
    else:
        yield from _differences(made)
    missing = {
        one.label: one.comparison.more_sessions
        for one in made.measures
        if one.name not in NO_OUTCOME and not one.comparison.clear and one.comparison.more_sessions
    }
    if missing:
        told = "; ".join(f"{label}: {count}" for label, count in missing.items())
        yield f"More sessions needed to see a difference of 20 %, at this spread: {told}."
    if not made.complete:
        yield "There were more sessions than one report reads; the newest are counted."


def _differences(made: Effect) -> Iterator[str]:
    unclear = []
    for one in made.measures:
        found = one.comparison
        if one.name in NO_OUTCOME:
            continue
        if found.difference is None or not found.clear:
            unclear.append(one.label)
            continue
        told = f"{'Fewer' if found.difference.value < 0 else 'More'} {one.label} with memory"
        part = found.relative
        if part is not None:
            told += f": {100 * part.value:+.0f} %"
            if part.low is not None and part.high is not None:
                told += f" ({100 * part.low:+.0f} to {100 * part.high:+.0f} %)"
        yield f"{told}."
    if unclear:
        yield f"No difference that chance could not explain: {', '.join(unclear)}."
