"""What the user said in a turn: the request, remarks, refusals, and what was left of an offer.

In: a turn, and the answer before it. Out: lines for a note, each marked as what it is.
"""

import re
from functools import lru_cache

from recollect.core.tuning import NOTE_MAKING
from recollect.extract.normalised_text import content_words, names, normalised
from recollect.extract.rules import patterns
from recollect.extract.rules.prose import cut, numbered, options, sentences, shortened
from recollect.extract.rules.turns import ToolCall, Turn
from recollect.extract.rules.vetoes import QUOTATION, own_words
from recollect.work.paths import base

SAID = "User"
_SAID, _REFUSED = f"{SAID}: ", f"{SAID} refused "
_DIGIT = re.compile(r"(?<![\w.])\d")
_ALL = re.compile(r"\b(?:all|both|each|first|start)\b", re.IGNORECASE)
_CHOICE = re.compile(r"\b(?:prefer\w*|which|options?|approach)\b", re.IGNORECASE)


def request(turn: Turn, told: frozenset[str] = frozenset()) -> str:
    """What was asked for, in the user's words, on one line; empty when it says too little. `told`:
    sentences that are no request, normalised."""
    for text in (text for _, text in turn.prompts):
        for sentence in sentences(text)[:6]:
            sentence = patterns.FILLER.sub("", sentence)
            if patterns.DOCUMENT.search(text[:200]) and patterns.DOCUMENT.match(sentence):
                continue
            if (told and normalised(sentence) in told) or quotes(turn, sentence):
                continue
            words = len(content_words(sentence))
            if patterns.MERGES.match(sentence):
                continue
            if words >= 3 or (words == 2 and names(sentence)):
                return cut(sentence, NOTE_MAKING.request_chars)
    return ""


def quotes(turn: Turn, sentence: str) -> bool:
    """Whether a sentence of the user repeats the answer before it."""
    words = normalised(sentence)
    return words.count(" ") > 2 and words in _bare(turn.heard)


@lru_cache(maxsize=64)
def _bare(text: str) -> str:
    return normalised(text)


def quoted(turn: Turn, sentence: str) -> bool:
    """Whether the user repeats a sentence of the answer before."""
    return quotes(turn, sentence) and normalised(sentence) in _bare(turn.asked)


def remarks(turn: Turn, told: frozenset[str] = frozenset()) -> list[str]:
    """What the user said besides the request: in the prompt, and while refusing an edit."""
    asked = request(turn, told)
    found: list[str] = []
    for _, text in turn.prompts:
        many = len(text.split("\n")) > NOTE_MAKING.prompt_lines
        if many or len(text) > NOTE_MAKING.prompt_chars or patterns.DOCUMENT.search(text):
            continue
        for sentence in sentences(own_words(text.strip()).partition("\n\n")[0]):
            if QUOTATION in sentence:
                continue
            bare = patterns.FILLER.sub("", sentence)
            known = normalised(bare) in told or quotes(turn, bare)
            if not known and cut(bare, NOTE_MAKING.request_chars) != asked:
                found.append(_SAID + bare)
    found = found[: NOTE_MAKING.remarks]
    found = [one for one in found if len(content_words(one)) >= NOTE_MAKING.title_words]
    refusals = filter(None, map(_refusal, turn.calls))
    return [*found, *list(dict.fromkeys(refusals))[: NOTE_MAKING.refusals]]


def _refusal(call: ToolCall) -> str:
    """What the user refused, and what they said; empty where nobody did, or for an edit that was
    refused without a word."""
    if not call.refused or not patterns.DECLINED.search(call.output[:300]):
        return ""
    said = [one for one in sentences(call.refusing_words) if one[0].isalnum()]  # not pasted
    if not said:
        return f"{_REFUSED}{_on_one_line(call.command)}" if call.command else ""
    edited = f"an edit of {base(call.files[0])}" if call.files else "a step"
    return f"{_REFUSED}{_on_one_line(call.command) or edited}: {said[0]}"


def _on_one_line(command: str) -> str:
    return cut(command.strip().partition("\n")[0], NOTE_MAKING.title_chars // 2)


def not_chosen(answer: str, asked: str) -> list[str]:
    """Of the numbered options between which an answer let the user choose, those that the next
    prompt says nothing of. A choice by number is left alone: the others may come later."""
    offered = options(answer) if answer.rstrip().endswith("?") else {}
    words = set(content_words(asked))
    if len(offered) < 2 or len(words) < 3 or _DIGIT.search(asked) or _ALL.search(asked):
        return []
    several = len(numbered(answer)) > len(offered) or asked.count("\n") >= NOTE_MAKING.prompt_lines
    if several or not _CHOICE.search(sentences(answer)[-1]) or patterns.contradicts(asked):
        return []
    left = [text for text in offered.values() if words.isdisjoint(content_words(text))]
    named = [short for text in left if (short := shortened(text, NOTE_MAKING.request_chars))]
    return [f"Offered, not chosen: {'; '.join(named)}"] if named else []
