"""Titles of notes: which sentence says what a turn came to, alone and uncut.

In: ranked sentences, or what was asked for. Out: a title, empty where none is good enough.
"""

import re
from collections.abc import Iterator, Sequence

from recollect.core.tuning import NOTE_MAKING
from recollect.extract.normalised_text import content_words, names, names_code, normalised
from recollect.extract.rules import patterns
from recollect.extract.rules.later_edits import TELLS
from recollect.extract.rules.prose import (
    capitalised,
    is_whole,
    placed_sentences,
    shortened,
    with_short_paths,
    without_line_numbers,
)
from recollect.extract.rules.sentence_ranker import BEFORE, RankedSentence, narrates
from recollect.extract.rules.turns import Turn
from recollect.work import edited_text
from recollect.work.paths import base

_FIXED = "Fixed: "

# A heading's first word, before what it heads.
_LABEL = re.compile(
    r"^(?:plan|summary|change|solution|fix|bug|issue|test|code change|title|result)"
    r"(?: \((?-i:[A-Z]+)\))?:\s+(?=(?:\S+\s+){2})",
    re.IGNORECASE,
)
_OF_ONESELF = re.compile(
    r"(?:i'm|i am|i'll|i'd|i was|my|i (?:also )?(?:see|saw|think|thought|need|can|can't|could|will|"
    r"believe|understand|assumed?|want|should|would|don't|didn't|noticed?|realized?|know|guess|hope|"
    r"suggest|recommend|found|have|haven't))\b|\*",
    re.IGNORECASE,
)
_BEGINS_WITH_ONESELF = re.compile(r"(?:i|my)\b", re.IGNORECASE)
# It only leads to what follows, or says of something unnamed what it does.
_NO_TITLE = re.compile(
    r"\A(?:(?i:.{0,200}\b(?:here(?:'s| is| are)|below|as follows|the following)\b|"
    r"now (?:correctly |also |always |only )?[a-z]+s\b)|"
    r"(?:Verifi|Check|Test|Use|Return|Create|Read|Assert|Ensure|Run|Call|Set|Show|Print|Cover|Fall|"
    r"Require|Handle|Take|Make|Get|Include|Document|Store|Find|Add|Keep|Detect|Scan|Fetch|Trigger|"
    r"List|Copi|Write|Remove|Validate|Wrap|Extract|Parse|Load|Save|Send|Build|Allow|Prevent|Support|"
    r"Skip|Exit|Satisfi|Move|Update|Replace|Select|Clear)(?:s|es)\b|"
    r"(?i:technically it\b|.{0,200}\b(?:uncommitted|working tree|committed as)\b)|"
    r"(?:Before|After|Pros|Cons|Note|Example|Title|Effort|Step \d+): |"
    r"[^-—–]{1,40}+(?<= )[-—–] "
    r"(?:Verifies|Checks|Tests|Uses|Returns|Creates|Reads|Asserts|Ensures)\b)"
)
# What may stand before a sentence and is no part of it: a commit's number, "Yes, ", "However, ".
LEAD = re.compile(
    r"^(?:[0-9a-f]{7,40}\b[\s:—–-]*|based on [^,]{3,60}, |(?:yes|no|done)(?:[,.!]| [—–-]) |"
    r"(?:however|but|so|also|additionally|finally|overall),? )+",
    re.IGNORECASE,
)
# Headings that say no more than that something follows.
SAYS_LITTLE = re.compile(
    r"(?:the |key |main |code |what |files? |test |final |full |new )*"
    r"(?:changes?|findings?|summary|details|results?|notes?|overview|points?|i did|was done|"
    r"changed|added|modified|implementation|how it works|analysis|solution|fix(?:es)?|answer|"
    r"explanation|review|example|behaviou?r|features?|tests?)\b.{0,12}$",
    re.IGNORECASE,
)
# A question that the rest of the sentence answers; "There is a".
_WHY = re.compile(r"\A(?:why|how|what|when) [^:]{3,80}: (?=\S+ \S+ \S)", re.IGNORECASE)
_THERE_IS = re.compile(r"\Athere(?:'s| is| are) (?:also )?(?:an? )?", re.IGNORECASE)
_AT_LINE = re.compile(r"lines? \d", re.IGNORECASE)
_CONDITION = re.compile(
    r"(?:if|when|once|should|in case|since|because|otherwise|next time|given|while|although|as|"
    r"after|until|unless)\b",
    re.IGNORECASE,
)
# What is to be done, or offered.
OFFERS = re.compile(
    r"\b(?:would|could|might|should|try|needs? to|(?:has|have) to|next (?:time|run))\b",
    re.IGNORECASE,
)
# Speaks to the reader, who is another one later.
_ADDRESSES = re.compile(r"\byou(?:rs?|'re|'ve|'ll)?\b", re.IGNORECASE)
# Done to something that only the sentence before names.
POINTS_BACK = re.compile(r"\b\w++ (?:\(|(?:\w++ )?(?:it|this|that|them|these|those)\b)", re.I)
# What only the sentence before it names: "gradient.go now special-cases it".
_ENDS_POINTING = re.compile(r"\b(?:it|this|that|them|these|those)\W*$", re.IGNORECASE)
_COMMIT_HASH = re.compile(r"\b(?=[a-f]{0,39}\d)(?=\d{0,39}[a-f])[0-9a-f]{7,40}\b")
_OF_A_COMMIT = re.compile(
    r"\b(?:commit|amend|squash|push|rebase|merge|cherry|land|revert)", re.IGNORECASE
)
_MEANS = re.compile(r"\b(?:this|these|those)\b", re.IGNORECASE)
_POINTING = frozenset(("it", "this", "that", "them", "these", "those"))
_NOW = re.compile(r"\b(?:now|no longer)\b", re.IGNORECASE)
_JOINS = re.compile(r"(?:but|and|or|so|also|then|(?:even )?though|although)\b", re.IGNORECASE)
_OFFERED = re.compile(
    r"(?:option|approach|alternative|variant|(?:fix )?suggestion|suggested fix) ?\w?\b",
    re.IGNORECASE,
)
# What an item of a list is called, before what is said of it.
_LABEL_OF_ITEM = re.compile(
    r"([^\s:—–(-](?:(?! [-—–] |: )[^(]){1,50}?)(?: \([^)]{1,20}\))?(?: [-—–] |: |\?$)"
)


def best_title(
    kept: Sequence[RankedSentence],
    project: str,
    order: str = "",
    *,
    heading: str = "",
    leaning: bool = False,
    names_nothing: bool = False,
) -> str:
    """The best sentence that stands alone and is not cut off anywhere. Where it is a poor title:
    the heading of the whole answer, the order that was given, or the heading above it, if they say
    what was done. `leaning`: it may depend on the sentence before it. `names_nothing`: it may name
    nothing of the code: then it often tells how the work goes, or what was talked about."""
    titles = _titles(kept, project, leaning=leaning, names_nothing=names_nothing)
    one, title = next(titles, (None, ""))
    if heading and (one is None or one.title < NOTE_MAKING.better_title):
        return heading
    if one is None or (one.title >= NOTE_MAKING.good_title and not one.sentence.listed):
        return title or order
    return order or _done_heading(one.sentence.heading, project) or title


def _titles(
    kept: Sequence[RankedSentence], project: str, *, leaning: bool, names_nothing: bool
) -> Iterator[tuple[RankedSentence, str]]:
    """The sentences that can be a title, best first; what was done before how it was or is."""

    def worth(one: RankedSentence) -> float:
        done = patterns.DONE_FIRST.match(one.text) is not None
        done = done and not POINTS_BACK.match(patterns.WHO_DID.sub("", one.text))
        return one.keep * one.title * (4 if done else 2 if _NOW.search(one.text) else 1)

    for one in sorted(kept, key=worth, reverse=True):
        did = patterns.DONE_FIRST.match(one.text)
        done = did is not None and one.text[did.end() :][:1] not in (",", "—", "-", ".", "")
        leads = one.text.endswith(":") and not done
        if leads or _OFFERED.match(one.text) or patterns.UNSURE.search(one.text):
            continue
        if one.text.startswith(BEFORE):
            continue
        title = as_title(one.text, project)
        if len(content_words(title)) < 2 + (not names(title)) or not is_whole(title):
            continue
        begins = one.text.split(" ", 1)[0]
        torn = begins[:1].islower() and not names(begins)  # the rest of a sentence
        if torn or not (done or names_nothing or names_code(title)):
            continue
        if _ADDRESSES.search(title) and not done:
            continue
        short = len(title.split()) <= NOTE_MAKING.title_words + 2
        if _BEGINS_WITH_ONESELF.match(title) or tells_of_a_commit(title):
            continue
        if short and _ENDS_POINTING.search(title):
            continue
        if is_talk(title) or any(bad.match(title) for bad in (_AT_LINE, _CONDITION, _NO_TITLE)):
            continue
        if one.sentence.listed and "→" in title:  # a step of something
            continue
        if OFFERS.search(title) or (
            one.sentence.is_heading and not patterns.DONE_FIRST.match(title)
        ):
            continue
        leans = patterns.LEANS.match(patterns.WHO_DID.sub("", title)) or _JOINS.match(title)
        if bool(leans) == leaning and (not leans or len(names(title)) > 1):
            yield one, title


def title_of_part(kept: Sequence[RankedSentence], project: str, file: str = "") -> str:
    """The best sentence that says what something unnamed does, with the file that was written, or
    the heading above it: "cache.py: Keeps the rows for a minute"."""
    for one in sorted(kept, key=lambda one: one.keep, reverse=True):
        title = as_title(one.text, project)
        what = base(file) or (one.sentence.heading if heads(one.sentence.heading, "") else "")
        talks = is_talk(title) or leads_in(one.text) or OFFERS.search(title)
        if what and _NO_TITLE.match(title) and not talks and len(content_words(title)) >= 4:
            return as_title(f"{what}: {title}", project)
    return ""


def _done_heading(heading: str, project: str) -> str:
    title = as_title(heading, project)
    done = patterns.DONE_FIRST.match(title) is not None and not tells_of_a_commit(title)
    return title if done and len(content_words(title)) >= 3 else ""


def answer_heading(answer: str, project: str) -> str:
    """The first heading of an answer, if it says what was done."""
    found = next((one.text for one in placed_sentences(answer) if one.is_heading), "")
    return _done_heading(found, project)


def with_file(title: str, turn: Turn) -> str:
    """A title that names nothing, with the file that was written: of two, the one whose new lines
    have more of its words, and not the tests if they have as many; the tests if it is about one."""
    files = list(turn.written())
    if names(title) or not 0 < len(files) < 3:
        return title
    words = set(content_words(title))

    def about(path: str) -> tuple[bool, int, bool]:
        tells = TELLS.search(path) is not None
        inputs = [call.input for call in turn.calls if path in call.files and not call.failed]
        new = " ".join(after for given in inputs for _, after in edited_text.changes(given))
        shared = len(words & set(content_words(new)))
        return tells and not words.isdisjoint(("test", "tests")), shared, not tells

    return f"{title.rstrip('.')} ({base(max(reversed(files), key=about))})"


def listed_title(title: str, answer: str, project: str) -> str:
    """Instead of one item of a list of what was done, what all of them are called: "Added the
    table of contents, the requirements"; empty where the title is no such item."""
    items = [one for one in placed_sentences(answer) if one.listed and one.opens]
    lead = next((one.lead for one in items if as_title(one.text, project) == title), "")
    done = patterns.WHO_DID.sub("", lead).rstrip(" :")
    if not leads_in(lead) or not patterns.DONE_FIRST.match(done):
        return ""
    called = [_LABEL_OF_ITEM.match(one.text) for one in items if one.lead == lead]
    labels = [found[1].strip() for found in called if found]
    if len(labels) < 2 or len(labels) < len(called):
        return ""
    whole = f"{capitalised(done)} {', '.join(labels)}"
    return whole if len(whole) <= NOTE_MAKING.title_chars else ""


def stated_order(asked: str, project: str) -> str:
    """What was asked for, if it says enough and is an order. Of something wrong that was reported:
    that it was fixed."""
    remark = patterns.NO_ORDER.search(asked) or narrates(asked) or _CONDITION.match(asked)
    remark = remark or patterns.OPTION.search(asked)
    points = not _POINTING.isdisjoint(asked.lower().split()[1:3])
    remark = remark or points or _MEANS.search(asked)
    if remark or asked.endswith("…") or len(content_words(asked)) < 4:
        return ""
    title = as_title(asked, project)
    if patterns.PROBLEM.search(asked):
        return _FIXED + title if len(content_words(title)) >= NOTE_MAKING.title_words else ""
    return title if patterns.ORDER.match(asked) else ""


def order(asked: str) -> str:
    """What somebody wanted done, without the polite part; empty when it does not stand alone."""
    polite = patterns.ORDER.match(asked)
    bare = asked[polite.end() :].rstrip(" ?") if polite else ""
    leans = not _POINTING.isdisjoint(bare.lower().split()[1:3]) or _MEANS.search(bare)
    return "" if leans or len(content_words(bare)) < 4 else bare


def as_title(text: str, project: str) -> str:
    """A sentence as a title: without who did it, line numbers and far paths; empty when it is too
    long and cannot be ended earlier."""
    text = _LABEL.sub("", LEAD.sub("", text))
    text = _WHY.sub("", text)
    if names(bare := _THERE_IS.sub("", text)):
        text = bare
    bare = patterns.WHO_DID.sub("", text)
    text = bare if patterns.DONE_FIRST.match(text) else text
    text = without_line_numbers(with_short_paths(text, project)).rstrip(" :")
    text = capitalised(text)
    return shortened(text, NOTE_MAKING.title_chars) or shortened(
        text.partition(" — ")[2], NOTE_MAKING.title_chars
    )


def heads(heading: str, title: str) -> bool:
    few = 0 < len(content_words(heading)) <= NOTE_MAKING.heading_words
    says = not is_talk(heading) and not SAYS_LITTLE.match(heading)
    return few and says and normalised(heading) not in normalised(title)


def leads_in(text: str) -> bool:
    """The words before a list or a piece of code, which say nothing without it."""
    return text.endswith(":") and len(content_words(text)) < 6


def tells_of_a_commit(text: str) -> bool:
    """Whether a sentence names a commit of this work by its hash, which the next rebase changes."""
    return _OF_A_COMMIT.search(text) is not None and _COMMIT_HASH.search(text) is not None


def is_talk(text: str) -> bool:
    """Whether a sentence is about the conversation, not about the work."""
    if patterns.DONE_FIRST.match(text):
        return False
    return _OF_ONESELF.match(text) is not None or patterns.CHATTER.match(text) is not None
