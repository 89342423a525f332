"""The numbers that decide what is found and said: every weight, floor and threshold, in one table.

In: nothing. Out: one frozen group per decision; each entry has a value, the range in which it makes
sense and a reason. Limits that only bound time or memory stand beside the code that they bound.
`recollect bench --fit` proposes other values and changes nothing;
`tests/unit/retrieve/test_pinned_ranking.py` fails when a change reorders results.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any


def entry(value: float, least: float, most: float, why: str) -> Any:
    return field(default=value, metadata={"least": least, "most": most, "why": why})


@dataclass(frozen=True)
class SearchWeights:
    """What each signal adds to a memory's score; measured in docs/decisions/ranking.md."""

    grams: float = entry(0.40, 0, 1, "BM25 over character 4-grams, as a share of its bound")
    window: float = entry(0.10, 0, 1, "share of the query's weight in the best 40 words")
    pairs: float = entry(0.10, 0, 1, "words that stand together in query and memory")
    cosine: float = entry(0.25, 0, 1, "likeness of meaning, by the best part")
    neighbour: float = entry(0.30, 0, 1, "share of the better neighbour's score in the session")
    answer: float = entry(1.0, 0, 3, "how much more the question before a reply counts")
    session: float = entry(0.20, 0, 1, "BM25 over stems of the session around it")
    alone: float = entry(0.25, 0, 1, "likeness of one that has no session, in place of its words")
    session_cosine: float = entry(0.08, 0, 0.5, "likeness of the session's mean vector")
    date: float = entry(0.15, 0, 0.5, "share of the date or time that the query names")
    user: float = entry(0.08, 0, 0.5, "the user said it, not the agent")
    graph: float = entry(0.45, 0, 1, "bonus of a memory that the graph leads to")


@dataclass(frozen=True)
class Matching:
    """How words are compared, before any weight."""

    k1: float = entry(1.2, 0.5, 2.5, "BM25: how soon repetition stops counting")
    b: float = entry(0.75, 0, 1, "BM25: how much a long text is held back")
    window_words: int = entry(40, 10, 120, "length of the window; 10 to 80 measured alike")
    near_words: int = entry(4, 2, 8, "words within which two of the query stand together")
    stop_weight: float = entry(0.3, 0, 1, "weight of a stop word; neither full nor none")
    title_weight: int = entry(2, 1, 4, "a word of the title counts as this many of the text")
    question_words: int = entry(60, 20, 120, "a longer text that ends with ? is no question")
    unknown_cosine: float = entry(0.2, 0, 0.4, "a memory without a vector is of average likeness")


@dataclass(frozen=True)
class Priors:
    """Factors near 1 that do not depend on the query; exactly 1 for default values."""

    importance: float = entry(0.10, 0, 0.3, "importance 1 to 10 becomes 0.92 to 1.10")
    confidence: float = entry(0.20, 0, 0.5, "confidence 0 to 1 becomes 0.8 to 1")
    derived: float = entry(0.05, 0, 0.2, "more for everything but turns")
    access: float = entry(0.02, 0, 0.1, "more for what was used before")
    recency: float = entry(0.03, 0, 0.1, "more for what is new")
    recent_hours: float = entry(168, 24, 720, "how long something is new: a week")
    drifted: float = entry(0.95, 0.5, 1, "its files have changed since")
    orphaned: float = entry(0.85, 0.3, 1, "its files are gone")
    ended: float = entry(0.5, 0.1, 1, "a belief that does not hold: ended, proposed, outdated")


@dataclass(frozen=True)
class GraphWeights:
    """What a fact on the graph walk is worth to the memories it came from."""

    base: float = entry(0.05, 0, 0.5, "a fact that shares no word with the prompt")
    step_penalty: float = entry(0.15, 0, 1, "per step; with 0.5 the second step was lost")
    least_confidence: float = entry(0.3, 0, 0.9, "a less certain edge is not followed")
    rrf_bonus: float = entry(0.02, 0, 0.1, "bonus in rank fusion")


@dataclass(frozen=True)
class Floor:
    """Whether anything found is worth saying: confidence is compared with a threshold."""

    hybrid: float = entry(0.19, 0, 0.6, "silences 92 % of foreign questions for 1.4 points")
    lexical: float = entry(0.08, 0, 0.4, "without vectors: 59 % for 1.3 points")
    grams: float = entry(0.5, 0, 1, "part of the best match by 4-grams in the confidence")
    window: float = entry(0.25, 0, 1, "part of the best window in the confidence")
    others: int = entry(20, 0, 200, "sessions counted besides, for the share of words it knows")
    chance: float = entry(0.1, 0, 0.3, "how near the nearest of n vectors is by chance")


@dataclass(frozen=True)
class StartWeights:
    """What matters at the start of a session, when there is no question yet. The four parts and
    their weights are those of the original design."""

    recency: float = entry(0.40, 0, 1, "how new it is")
    frequency: float = entry(0.20, 0, 1, "how common its files and concepts are")
    semantic: float = entry(0.25, 0, 1, "likeness to the branch and to the last task")
    decay: float = entry(0.15, 0, 1, "changed files, never used")
    fade_hours: float = entry(168, 24, 720, "age at which recency is 1/e")
    unread_days: float = entry(14, 1, 90, "a memory not used for longer sinks")
    unread_fade_days: float = entry(90, 10, 365, "and after this many more it has sunk fully")
    drifted: float = entry(0.5, 0, 1, "penalty of changed files")
    orphaned: float = entry(1.0, 0, 1, "penalty of files that are gone")
    importance: float = entry(0.4, 0, 1, "importance 1 to 10 becomes 0.84 to 1.2")


@dataclass(frozen=True)
class FileSignals:
    """What speaks for a file; equal weights did as well as anything learned (brief.md)."""

    often: float = entry(1.0, 0, 4, "sessions that touched it")
    recent: float = entry(1.0, 0, 4, "when it was last touched")
    person: float = entry(1.0, 0, 4, "sessions of this person that touched it")
    branch: float = entry(1.0, 0, 4, "when it was last touched on this branch")
    prompt: float = entry(1.0, 0, 4, "turns like the prompt touched it")
    branch_words: float = entry(1.0, 0, 4, "turns like the branch's name touched it")
    context: float = entry(1.0, 0, 4, "turns like the last ones of this session touched it")
    name: float = entry(1.0, 0, 4, "its path holds words of the prompt")
    pair: float = entry(1.0, 0, 4, "it tests what is named or touched, or the reverse")
    symbol: float = entry(1.0, 0, 4, "it defines a name that the prompt holds")
    defines: float = entry(1.0, 0, 4, "its definitions share words with the prompt")


@dataclass(frozen=True)
class WorkFiles:
    """How work is read when files and commands are ranked."""

    recent_days: float = entry(3, 0.5, 30, "age at which a touch counts 1/e")
    branch_days: float = entry(1, 0.25, 30, "the same on the branch of the prompt")
    run_days: float = entry(14, 1, 90, "the same for a command")
    voters: int = entry(15, 3, 60, "turns that vote for the files they touched")
    context_turns: int = entry(3, 1, 10, "last turns of this session that count as its context")
    edit: float = entry(2.0, 0, 4, "vote for a file that a turn edited")
    read: float = entry(1.0, 0, 4, "vote for a file that it read")
    search: float = entry(0.7, 0, 4, "vote for a file in which it searched")
    run: float = entry(0.7, 0, 4, "vote for a file that its command named")
    name_weight: int = entry(2, 1, 6, "a word of a file's name counts as this many of its folders")
    most_share: float = entry(0.25, 0, 1, "of the known files of a project so many are told")
    rare_share: float = entry(0.08, 0, 1, "a name that more sessions hold tells nothing")
    rare_sessions: int = entry(3, 1, 10, "but one in so few is never too common")
    names: int = entry(6, 0, 20, "names of the likely files; a seventh costs more than it tells")
    names_later: int = entry(2, 0, 20, "the same at a later prompt, which needs fewer new things")
    command_sessions: int = entry(2, 1, 5, "one session's command may be for that session alone")


@dataclass(frozen=True)
class Speaking:
    """How likely a session is to use a file, and how likely it must be; a logistic regression on
    replayed sessions, each left out of its own fit (brief.md)."""

    base: float = entry(-4.74, -10, 2, "constant of the regression")
    score: float = entry(0.84, 0, 3, "per point of the file's score")
    later: float = entry(-1.07, -4, 2, "not the first prompt of its session")
    names_nothing: float = entry(-0.93, -4, 2, "a later prompt with at most one word of meaning")
    idle: float = entry(-0.2, -4, 0, "a later prompt that only carries the conversation on")
    publishes: float = entry(-2.0, -6, 0, "it asks to commit or publish what was done")
    speak: float = entry(0.05, 0, 1, "the best file must be as likely as this")
    least: float = entry(0.02, 0, 1, "and every other one as this")


@dataclass(frozen=True)
class Notes:
    """How likely a memory is to be of use at a prompt, and how likely it must be."""

    base: float = entry(-8.1, -20, 4, "constant of the regression")
    cosine: float = entry(21.6, 0, 40, "likeness of meaning, less what chance gives")
    by_chance: float = entry(0.27, 0, 1, "as much as chance gives in a store of 40 is left")
    words: float = entry(1.7, 0, 20, "share of the prompt's 4-grams that it holds")
    many_words: float = entry(8.0, 0, 40, "what of that share is above the next number")
    many: float = entry(0.35, 0, 1, "so large a share is no accident")
    unseen_cosine: float = entry(0.316, 0, 1, "counted for likeness where there are no vectors")
    names: float = entry(2.2, 0, 10, "it holds a name of the prompt that few memories hold")
    few: int = entry(2, 1, 10, "so many memories hold a name that tells which one is meant")
    name_chars: int = entry(4, 2, 12, "a shorter word is no name")
    graph: float = entry(2.0, 0, 10, "the graph leads to it")
    idle: float = entry(-3.0, -10, 0, "the prompt is sure to only carry the conversation on")
    by_rules: float = entry(-0.7, -5, 0, "it is a note that rules made, not a person or a model")
    thing: float = entry(1.0, -5, 5, "a fact or a thing that the prompt names")
    unasked: float = entry(-2.0, -10, 0, "the prompt names the thing, and nothing of the fact")
    idle_thing: float = entry(-4.0, -10, 0, "the same, when it only carries the conversation on")
    speak: float = entry(0.33, 0, 1, "a line must be as likely as this")
    sure: float = entry(0.9, 0, 1, "of two that are likelier than this, a belief comes first")
    is_idle: float = entry(0.5, 0, 0.95, "up to here idleness costs nothing, above no turn is told")
    turn: float = entry(0.95, 0, 1, "and a turn, unless the past is asked for, as this")
    turn_by_words: float = entry(0.53, 0, 1, "the same where there are no vectors")
    unsure: float = entry(0.5, 0, 1, "a disputed statement that was only proposed, for a task")
    past: float = entry(0.15, 0, 1, "a line for a question about the past")
    near: float = entry(0.55, 0, 1, "a cosine that is enough by itself while an index is filled")
    most: int = entry(2, 1, 10, "most memories that a prompt is told")
    title_names: int = entry(6, 0, 20, "most names in code behind the title of a note")
    most_past: int = entry(8, 1, 30, "most memories for a question about the past")
    alike: float = entry(0.7, 0, 1, "share of words that two titles of one memory have in common")
    alike_words: int = entry(3, 1, 10, "fewest words of a title, for that share to mean something")
    restated: float = entry(0.6, 0, 1, "share of a memory's words that rules told before it say")
    stated_words: int = entry(3, 1, 10, "fewest words of a prompt that states something")


@dataclass(frozen=True)
class NoteMaking:
    """What rules keep of a turn; probabilities are the sentence ranker's (notes.md)."""

    poor: float = entry(0.1, 0, 1, "a sentence of a change where no other is better")
    keep: float = entry(0.3, 0, 1, "a sentence beside a better one")
    detail: float = entry(0.08, 0, 1, "a sentence that stands in the detail only")
    lead_in: float = entry(0.2, 0, 1, "what leads to a list; then the list is told whole")
    aside: float = entry(0.25, 0, 1, "counted for a row of a table, or a cause named on the way")
    sure: float = entry(0.4, 0, 1, "the best sentence of a turn that changed something")
    asked_for: float = entry(0.5, 0, 1, "the best sentence of an answer to a question")
    certain: float = entry(0.65, 0, 1, "the best sentence of a turn that changed nothing")
    written: float = entry(0.6, 0, 1, "counted for a sentence of a commit's message")
    good_title: float = entry(0.2, 0, 1, "a title that is better than what was asked for")
    better_title: float = entry(0.5, 0, 1, "a title that is better than the answer's own heading")
    title_chars: int = entry(160, 40, 200, "length of a title")
    body_chars: int = entry(420, 100, 2000, "length of the body, which a brief may show")
    last_answer: int = entry(160, 0, 1000, "a shorter last answer leaves room for earlier ones")
    answers_back: int = entry(6, 1, 20, "so many answers of a turn are then looked at")
    sentences: int = entry(60, 10, 200, "most sentences of an answer that are ranked")
    rows: int = entry(20, 0, 100, "most rows of its tables that are ranked")
    hopeless: float = entry(0.1, 0, 1, "below this without meaning, no meaning is asked for")
    code_line: int = entry(16, 1, 80, "characters of a line of code that is not found by chance")
    removed: float = entry(0.75, 0, 1, "share of a removed thing's words that a text about it has")
    removed_words: int = entry(3, 1, 10, "fewest words of such a thing, for that share to count")
    detail_chars: int = entry(3_000, 0, 8000, "length of the rest, which only a reader sees")
    request_chars: int = entry(140, 40, 400, "length of what was asked for")
    prompt_chars: int = entry(800, 0, 8000, "a longer prompt is a document, not remarks")
    prompt_lines: int = entry(5, 1, 50, "one with more lines holds something that was pasted")
    short_answer: int = entry(400, 0, 2000, "characters of an answer of which all counts")
    chore_answer: int = entry(160, 0, 1000, "an answer of a chore is shorter than this")
    title_words: int = entry(5, 2, 10, "fewest words of a problem or a question as a title")
    heading_words: int = entry(5, 1, 10, "most words of a heading that stands before its items")
    facts: int = entry(3, 0, 10, "most repaired commands in one note")
    remarks: int = entry(2, 0, 10, "most sentences of the user besides the request")
    carried: int = entry(4, 0, 20, "most sentences of the user from turns without a note")
    refusals: int = entry(3, 0, 10, "most words with which the user refused a call")
    said_again: float = entry(0.7, 0, 1, "share of words that the answer repeats of it")
    on_the_way: int = entry(4, 0, 10, "most sentences on what was found before an edit")
    reasons: int = entry(2, 0, 10, "most sentences on why a plan was made")
    before: int = entry(2, 0, 10, "most sentences on how it was before")
    findings: int = entry(4, 1, 20, "most sentences of a finding in the note of later work")
    worked_on: float = entry(0.2, 0, 1, "share of a finding's words that later work has, too")
    undone: float = entry(0.5, 0, 1, "share of a turn's lines that are gone when it was replaced")
    words_gone: int = entry(2, 1, 10, "fewest words of a sentence in lines that are gone")
    shown: float = entry(0.5, 0, 1, "share of the code in an answer that a later turn edited")
    names_edited: int = entry(2, 1, 10, "names of an answer in lines that a later turn edited")
    leads_to: int = entry(2, 1, 10, "turns until something that was found leads to an edit")
    followed_up: int = entry(3, 1, 10, "turns until something that was found is mended")
    choice_chars: int = entry(60, 0, 400, "a prompt that only says yes, or which one")


@dataclass(frozen=True)
class Statements:
    """When the rules hold or propose what a prompt states; probabilities are those of
    `extract/rules/sentence_kind.py` (beliefs.md)."""

    held: float = entry(0.97, 0, 1, "a sentence without a cue is held from here on")
    held_by_cue: float = entry(0.75, 0, 1, "a sentence with a cue is held from here on")
    held_by_plain_cue: float = entry(0.2, 0, 1, "a sentence whose cue is unmistakable is held")
    proposed: float = entry(0.6, 0, 1, "a sentence without a cue is proposed from here on")
    requested: float = entry(
        0.9, 0, 1, "the same for one with the form of a request: most are tasks"
    )
    hardly: float = entry(0.08, 0, 1, "below this a cue alone does not make a proposal")
    hardly_stated: float = entry(
        0.35,
        0,
        1,
        "below this detector's probability, grammar alone proposes nothing",
    )
    most: int = entry(8, 1, 50, "statements of one turn; more is a document, not a prompt")
    planned: int = entry(3, 0, 20, "most decisions of an approved plan")
    document_chars: int = entry(900, 100, 10_000, "a longer prompt is a document with own words")
    document_lines: int = entry(8, 2, 100, "a prompt with as many line ends is one, too")
    own_sentences: int = entry(2, 0, 10, "sentences at its beginning that are the user's own")


@dataclass(frozen=True)
class CosineScale:
    """Brings the cosines of another model to those of the default one, to which all other numbers
    were fitted; docs/decisions/embedding-weights.md."""

    stretch: float = entry(1.0, 0.5, 3, "related texts are as near as the default model has them")
    shift: float = entry(0.0, -2, 1, "and unrelated ones as far")


@dataclass(frozen=True)
class HintThresholds:
    """When an agent is asked to record what a prompt may have changed."""

    related: float = entry(0.33, 0, 1, "the score from which a hint names a belief")
    tools_hours: float = entry(24, 0, 720, "how long ago the project's agents had our tools")


@dataclass(frozen=True)
class SummaryRequests:
    """When an agent is asked for a summary, before its conversation is compacted. Chosen on 184
    sessions and confirmed on others: docs/decisions/beliefs.md."""

    full: float = entry(0.7, 0.1, 1, "share of the tokens with which the host compacts")
    above: float = entry(1.1, 1, 2, "times those tokens: the window must be a larger one")


@dataclass(frozen=True)
class SessionEnds:
    """Where a session ends that nobody says the end of."""

    silent_hours: float = entry(4, 0.5, 168, "without an event, after which a session is over")
    start_minutes: float = entry(30, 0, 240, "in which another start is of the same session")


@dataclass(frozen=True)
class Endings:
    """How likely a statement ends an older one: weights of `reconcile/ending_pairs.py`, fitted by
    `tests/bench/fit_endings.py`, and how certain it must be."""

    near: float = entry(6.5, -10, 30, "likeness of meaning")
    shared: float = entry(0.6, -10, 30, "words that both have, up to three")
    same_kind: float = entry(2.0, -10, 30, "both name things that do the same job, other ones")
    typed: float = entry(0.3, -10, 30, "both have a value of one type, other ones")
    other_side: float = entry(-2.0, -20, 5, "each speaks of another side: backend; set by hand")
    change: float = entry(0.4, -10, 30, "how likely the newer one tells of a change")
    near_change: float = entry(5.1, -10, 30, "likeness of meaning, times that")
    shared_change: float = entry(1.2, -10, 30, "shared words, times that")
    kind_change: float = entry(1.6, -10, 30, "the same job, times that")
    typed_change: float = entry(0.5, -10, 30, "a value of one type, times that")
    by_words: float = entry(0.6, 0, 1, "the likeness of two that share all words, without vectors")
    named: float = entry(8.0, 0, 20, "the newer one names it as what no longer holds; set by hand")
    none: float = entry(4.5, -5, 20, "none of the older ones is meant; fitted: 5.3 (beliefs.md)")
    none_of_many: float = entry(0.4, 0, 5, "the same, for each time e as many candidates")
    clear: float = entry(0.8, 0, 1, "certainty that ends an older belief")
    doubt: float = entry(0.28, 0, 1, "certainty with which a held statement disputes an older one")
    doubt_end: float = entry(0.2, 0, 1, "certainty with which one that ends something disputes")
    doubt_of_many: float = entry(0.05, 0, 1, "added to these for each time e as many candidates")
    unsure: float = entry(0.45, 0, 1, "certainty with which a proposed statement disputes")
    unread: float = entry(0.45, 0, 1, "certainty to dispute where the rules could not read one")
    vetoed: float = entry(0.55, 0, 1, "certainty to dispute where a veto is against the newer one")
    plain: float = entry(0.75, 0, 1, "certainty to dispute where the newer one tells of no change")
    changes: float = entry(0.5, 0, 1, "probability from which a statement tells of a change")
    read_as_end: float = entry(0.9, 0, 1, "that probability where the rules read an end; by hand")
    stated: float = entry(0.25, 0, 1, "probability from which an unread prompt states something")
    later: float = entry(0.25, 0, 1, "certainty to tell later words with an older statement")
    later_plain: float = entry(0.6, 0, 1, "the same, where they tell of no change")
    tells: float = entry(0.7, 0, 1, "the same, for a prompt that may be a task and has no value")
    template: float = entry(0.75, 0, 1, "share of words in order by which two are one template")
    quoted: float = entry(0.5, 0, 1, "share of a text's words that the user's quoted words have")
    quoted_end: float = entry(0.5, 0, 1, "certainty that a quoted end or change needs; by hand")
    quoted_margin: float = entry(3.0, 0, 20, "how much better another belief may fit the quote")
    same_words: float = entry(0.5, 0, 1, "share of words by which two speak of one thing")
    later_chars: int = entry(160, 20, 400, "length of later words on the line of an older one")
    later_nearest: int = entry(12, 1, 100, "memories among which later words are looked for")
    frame: float = entry(0.5, 0, 1, "share of an older one's words above which 'now' is about it")
    outdates: float = entry(0.6, 0, 1, "certainty that a later belief says otherwise than a note")
    again: float = entry(
        0.5, 0, 1, "share of the doubt of a belief that saying it again takes away"
    )
    repeats: float = entry(0.7, 0, 1, "share of an ended belief's words by which a text repeats it")
    repeat_words: int = entry(
        2, 1, 10, "fewest words of a belief, for that share to mean something"
    )


SEARCH = SearchWeights()
MATCHING = Matching()
PRIORS = Priors()
GRAPH = GraphWeights()
FLOOR = Floor()
START = StartWeights()
FILE_SIGNALS = FileSignals()
WORK_FILES = WorkFiles()
SPEAKING = Speaking()
NOTES = Notes()
NOTE_MAKING = NoteMaking()
STATEMENTS = Statements()
HINTS = HintThresholds()
SUMMARY_REQUESTS = SummaryRequests()
SESSIONS = SessionEnds()
AS_IT_IS = CosineScale()
MULTILINGUAL = CosineScale(stretch=1.5, shift=-0.03)
ENDINGS = Endings()

GROUPS = {
    "search": SEARCH,
    "matching": MATCHING,
    "priors": PRIORS,
    "graph": GRAPH,
    "floor": FLOOR,
    "start": START,
    "file signals": FILE_SIGNALS,
    "work files": WORK_FILES,
    "speaking": SPEAKING,
    "notes": NOTES,
    "making notes": NOTE_MAKING,
    "statements": STATEMENTS,
    "hints": HINTS,
    "summary requests": SUMMARY_REQUESTS,
    "sessions": SESSIONS,
    "endings": ENDINGS,
    "cosines of use-multilingual-v3": MULTILINGUAL,
}


@dataclass(frozen=True)
class TuningEntry:
    """One line of the table."""

    group: str
    name: str
    value: float
    least: float
    most: float
    why: str


def entries(group: str, values: Any) -> Iterator[TuningEntry]:
    for one in fields(values):
        yield TuningEntry(group, one.name, getattr(values, one.name), **one.metadata)


def table() -> list[TuningEntry]:
    return [line for group, values in GROUPS.items() for line in entries(group, values)]
