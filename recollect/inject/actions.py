"""Which rules and procedures are about an action that a prompt asks for or that a command does.

In: the rules of a project, and a prompt or a shell line. Out: the rules about it, each with the
reason. A rule is found by what it names (programs with their subcommand, packages, files) and by
the verb that leads it, with its object; never because two sentences are alike. A rule that is being
followed is not brought up: `uv add` does not bring "use uv, not pip". Nothing raises.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from recollect.core.text_words import STOP_WORDS
from recollect.inject.clauses import (
    DEFINITE,
    INDEFINITE,
    REFUSALS,
    Clause,
    Token,
    clauses,
    request_of,
    stem_of,
    tokens,
)
from recollect.work.commands import ActingStep, acting_steps
from recollect.work.paths import words_of

MOST_FOUND = 12
NAMED = "the prompt names"
_MOST_WORDS = 3  # of a program with its subcommands
_MOST_FOLDERS = 8
# Verbs that take any object, so that alone they name no action. They led five or more of 443
# prompts of real sessions and had an object there; "commit" and "push" lead as many and stand
# alone. Completed by verbs of the same kind.
LIGHT = frozenset(
    map(
        stem_of,
        words_of(
            """
            add adjust allow apply ask become begin break bring build call change check clean close
            come compare consider continue copy create cut debug define delete describe do document
            edit enable end ensure expect explain extend feel figure find finish fix follow get give
            go handle have implement improve include install introduce investigate keep know leave
            let list load look make mean mention modify move name need open pass prefer put read
            refactor remember remove rename replace return review rewrite run save say see set show
            simplify start stay stop store support switch take tell test think touch try turn update
            use validate verify want work write
            """
        ),
    )
)
# With these something comes into being: "write a migration" is to migrate.
_MAKING = frozenset(
    map(stem_of, words_of("add create cut do draft make need open prepare publish put start write"))
)
# Subcommands of git that people name as what they do, whatever it is done to.
_GIT = frozenset(map(stem_of, words_of("commit push pull merge rebase tag stash revert")))
# Of these a rule says something wherever it mentions them: "no trailer in commits".
_MENTIONED = frozenset(map(stem_of, words_of("commit push merge rebase")))
# After these words a rule names a tool; a prompt does after the first of them.
_USING = words_of(
    "use uses using used run runs running with via call invoke execute install prefer"
)
_TOOL_SLOT = _USING | words_of("of than not never only and or over")
_MEANS = words_of("with via using through")
_GOES_ON = words_of("and or nor")  # a list does
_OCCASIONS = words_of("before after when whenever once if")
# What runs another program: `uv run pytest`, `npx vitest`.
_RUNNERS = words_of("run exec dlx x npx bunx uvx pipx pnpx")
_AFFIRMING = words_of("only but use prefer always")
_NO_SUBCOMMAND = STOP_WORDS | words_of(
    "instead rather without within never always via until unless must per through directly"
)
_NAME = re.compile(r"[\w@.~/*+-]{2,200}$")
_HUMP = re.compile(r"[a-z][A-Z0-9]")
_NO_NAME = re.compile(r"v?\d[\d.]*\w?$|e\.g$|i\.e$|and/or$", re.IGNORECASE)
_PLAIN = re.compile(r"[a-z][a-z0-9]*$")
_JOINTS = re.compile(r"[-_:./]")
_VOWEL = re.compile("[aeiouy]")


@dataclass(frozen=True, slots=True)
class ActionRule:
    """A rule as it is stated, or a procedure by its name and its trigger."""

    id: str
    text: str
    trigger: str | None = None  # of a procedure
    about_tools: bool = False  # stored as a preference for tools, so its words name some


@dataclass(frozen=True, slots=True)
class RuleMatch:
    rule: ActionRule
    reason: str


@dataclass(frozen=True, slots=True)
class _Name:
    """What a rule calls by its name: a program with its subcommand, a package, a file."""

    words: tuple[str, ...]
    flags: frozenset[str]
    refused: bool  # it is what not to use
    certain: bool  # it is no ordinary word, by its spelling or by how the rule is stored
    means: bool  # with it something is to be done

    @property
    def is_path(self) -> bool:
        return "/" in self.words[0] or "." in self.words[0]


@dataclass
class _ParsedRule:
    rule: ActionRule
    names: list[_Name]
    actions: list[Clause]
    # Names that bring the rule, and names of what it wants instead.
    telling: list[_Name] = field(init=False)
    wanted: list[_Name] = field(init=False)

    def __post_init__(self) -> None:
        tools = {stem_of(name.words[0]) for name in self.names}
        self.actions = [one for one in self.actions if one.head not in tools]
        against = [one for one in self.actions if one.refused and _stands_alone(one)]
        self.actions = against or self.actions
        refused = [name for name in self.names if name.refused]
        self.telling = refused or [name for name in self.names if not name.means] or self.names
        if not refused and any(_stands_alone(one) for one in self.actions):
            # "Run make test-fast before every commit": the commit brings it, not the test.
            self.telling = [name for name in self.telling if name.is_path and not name.means]
        self.wanted = [name for name in self.names if name not in self.telling]

    @property
    def keys(self) -> set[str]:
        """One of these is in every prompt and every command that brings the rule."""
        ends = (one.object[-1] for one in self.actions if one.object)
        named = (name.words[0].rstrip("/") for name in self.names)
        joined = (stem_of(name.words[0].rpartition("-")[2]) for name in self.names)
        return {*named, *joined, *ends, *(one.head for one in self.actions)}


class RuleIndex:
    """The rules of one project."""

    def __init__(self, rules: Iterable[ActionRule]) -> None:
        self._by_key: dict[str, list[_ParsedRule]] = {}
        # What is done as a whole, whatever the object: git's verbs, and what procedures are for.
        self._events = set(_GIT)
        self._done: set[str] = set()
        for rule in rules:
            parsed = _parsed(rule)
            if rule.trigger is not None:
                self._done |= {one.head for one in parsed.actions if _stands_alone(one)}
            for key in parsed.keys:
                self._by_key.setdefault(key, []).append(parsed)
        self._events |= self._done

    def for_prompt(self, text: str) -> list[RuleMatch]:
        """The rules about what a prompt asks for or names."""
        if not self._by_key:
            return []
        whole = tokens(request_of(text))
        asked = [one for one in clauses(whole) if not one.definite and not one.subject]
        given = [
            Token(word, one.code, one.ends)
            for one in whole
            for word in (one.text.split() if one.code else (one.text,))
        ]
        keys = _paths_above(one.lower for one in given)
        for one in asked:
            keys |= {one.head, one.head.removeprefix("re"), *one.object[-1:]}
        found = []
        for parsed in self._with(keys):
            reason = _named_in(parsed, given) or self._asked_for(parsed, asked)
            if reason:
                found.append(RuleMatch(parsed.rule, reason))
        return found[:MOST_FOUND]

    def for_command(self, line: str) -> list[RuleMatch]:
        """The rules about what a shell line does."""
        found: dict[str, RuleMatch] = {}
        for step in acting_steps(line):
            told = (part for word in step.words[: step.told] for part in _JOINTS.split(word))
            stems = {stem_of(part) for part in told if part}
            for parsed in self._with(_paths_above(step.words) | stems):
                reason = _run_by(parsed, step) or self._done_by(parsed, step, stems)
                if reason:
                    found.setdefault(parsed.rule.id, RuleMatch(parsed.rule, reason))
        return list(found.values())[:MOST_FOUND]

    def _with(self, keys: Iterable[str]) -> list[_ParsedRule]:
        found = {
            parsed.rule.id: parsed for key in sorted(keys) for parsed in self._by_key.get(key, ())
        }
        return list(found.values())

    def _asked_for(self, parsed: _ParsedRule, asked: Sequence[Clause]) -> str:
        for rule in parsed.actions:
            for one in asked:
                if self._same_action(rule, one):
                    return f"the prompt asks for it: {' '.join((one.head, *one.object[:2]))}"
        return ""

    def _same_action(self, rule: Clause, asked: Clause) -> bool:
        alone = _stands_alone(rule)
        if rule.head == asked.head or f"re{rule.head}" == asked.head:
            if not alone:
                return bool(rule.object and asked.object) and rule.object[-1] == asked.object[-1]
            if rule.head in self._events or not rule.object or not asked.object:
                return True
            return not set(rule.object).isdisjoint(asked.object)
        if not asked.object:
            return False
        if alone and rule.head == asked.object[-1] and asked.head in _MAKING:
            return asked.one_of or rule.head in self._done  # "Branch names ..." and "a branch"
        size = len(rule.object)  # "open" or "create a pull request"
        light = rule.head in LIGHT and asked.head in LIGHT
        return light and size > 1 and rule.object == asked.object[-size:]

    def _done_by(self, parsed: _ParsedRule, step: ActingStep, stems: set[str]) -> str:
        """By the verb of a rule that a subcommand or a script has as its name."""
        arguments = step.words[min(step.told, 2) :]
        given = stems.union(map(stem_of, (*arguments, *step.flags)))
        for rule in parsed.actions:
            if rule.head not in stems or not _stands_alone(rule):
                continue
            whole = not rule.object or (rule.head in self._events and not rule.refused)
            if whole or not arguments or not given.isdisjoint(rule.object):
                return f"the command is {' '.join(step.words[: step.told])}"
        return ""


def _stands_alone(clause: Clause) -> bool:
    """Whether its head alone names an action."""
    return clause.head not in LIGHT and clause.head not in STOP_WORDS


# --- names in prompts and commands ----------------------------------------------------------------


def _paths_above(words: Iterable[str]) -> set[str]:
    """The words, and of paths their ends and the folders above them."""
    found = set()
    for word in words:
        word = word.lower().removeprefix("./").rstrip("/")
        found.add(word)
        parts = word.split("/")[:_MOST_FOLDERS]
        for count in range(1, len(parts)):
            found |= {"/".join(parts[:count]), "/".join(parts[count:])}
    return found


def _named_in(parsed: _ParsedRule, given: Sequence[Token]) -> str:
    for name in parsed.telling:
        if any(_stands_at(name, given, at) for at in range(len(given))):
            return f"{NAMED} {' '.join(name.words)}"
    return ""


def _stands_at(name: _Name, given: Sequence[Token], at: int) -> bool:
    if name.is_path:
        return name.words[0].rstrip("/") in _paths_above([given[at].lower])
    size = len(name.words)
    if tuple(one.lower for one in given[at : at + size]) != name.words:
        return False
    if given[at].code or size > 1 or _is_odd(name.words[0]):
        return True
    # An ordinary word, such as "requests": it must be used as a name is.
    before = given[at - 1].lower if at else ""
    if before in DEFINITE or before in INDEFINITE:
        return False
    return name.certain or before in _USING


def _is_odd(word: str) -> bool:
    """No ordinary word of English: pip, npm, docker-compose."""
    return not word.isalpha() or len(word) <= 3 or not _VOWEL.search(word)


def _run_by(parsed: _ParsedRule, step: ActingStep) -> str:
    """By what a rule names. Nothing when the step does what the rule wants instead."""
    if any(_is_run(name, step) for name in parsed.wanted):
        return ""
    for name in parsed.telling:
        spelt = " ".join(name.words)
        if _is_run(name, step):
            return f"the command runs {spelt}"
        if name.is_path and spelt.rstrip("/") in _paths_above(step.words):
            return f"the command names {spelt}"
        if name.certain and len(name.words) == 1 and _is_in(spelt, step):
            return f"the command names {spelt}"
    return ""


def _is_in(word: str, step: ActingStep) -> bool:
    """Whether it is an argument, or an option with its subcommand: force-push."""
    parts = set(word.split("-"))
    told = parts & set(step.words[: step.told])
    return word in step.words[min(step.told, 2) :] or (told < parts and parts - told <= step.flags)


def _is_run(name: _Name, step: ActingStep) -> bool:
    """Whether a program is run, alone or by another, with the subcommand and the options that a
    rule names."""
    if not name.flags <= step.flags:
        return False
    size = len(name.words)
    for at in range(_MOST_WORDS):
        if at and step.words[at - 1 : at] and step.words[at - 1] not in _RUNNERS:
            continue
        if step.words[at : at + size] == name.words:
            return True
    return False


# --- reading rules --------------------------------------------------------------------------------


def _parsed(rule: ActionRule) -> _ParsedRule:
    given = tokens(rule.text)
    actions = [one for one in clauses(given) if not one.definite]
    if rule.trigger is not None:
        actions += [one for one in clauses(tokens(rule.trigger)) if not one.definite]
        return _ParsedRule(rule, [], actions)
    heads = {one.head for one in actions}
    actions += [
        Clause(stem)
        for at, one in enumerate(given)
        if (stem := stem_of(one.text)) in _MENTIONED - heads and _ends_phrase(given, at)
    ]
    return _ParsedRule(rule, _names(given, rule.about_tools), actions)


def _ends_phrase(given: Sequence[Token], at: int) -> bool:
    """Whether no other word of its phrase follows: "in commits", not "commit hash"."""
    follows = given[at + 1] if at + 1 < len(given) else None
    return given[at].ends or follows is None or follows.lower in STOP_WORDS


def _names(given: Sequence[Token], about_tools: bool) -> list[_Name]:
    found: list[_Name] = []
    refused = means = uses = False
    at = first = 0  # `first` name of the sentence
    while at < len(given):
        one = given[at]
        before = given[at - 1].lower if at and not given[at - 1].ends else ""
        if not before and not one.code and one.lower not in _GOES_ON:
            refused, means, first = False, False, len(found)
        if one.lower in REFUSALS:
            refused = True
        elif one.lower in _AFFIRMING and before not in REFUSALS:
            refused = False
        elif one.lower in _MEANS:
            means = True
        elif one.lower in _OCCASIONS:
            # "Run X before Y": Y brings it.
            found[first:] = [replace(name, means=True) for name in found[first:]]
        spelt = one.code or _spelt_as_name(one.text)
        # "use uv, never pip" names a tool; "never mock" is a verb.
        doubtful = before in REFUSALS or before in _GOES_ON
        named = before in _TOOL_SLOT and (uses or not doubtful) and _may_be_tool(one)
        uses = uses or one.lower in _USING
        if spelt or named:
            words = one.lower.split() if one.code else [one.lower]
            while not one.code and not given[at].ends and len(words) < _MOST_WORDS:
                if at + 1 == len(given) or not _may_be_subcommand(given[at + 1]):
                    break
                at += 1
                words.append(given[at].lower)
            flags = frozenset(
                word.lstrip("-").partition("=")[0] for word in words if word[0] == "-"
            )
            words = [word.removeprefix("./") for word in words if word[0] != "-"]
            if words and words[0] and (len(words) > 1 or words[0] not in STOP_WORDS):
                certain = _spelt_as_name(words[0]) or about_tools or len(words) > 1
                found.append(_Name(tuple(words), flags, refused, certain, means))
        at += 1
    return found


def _spelt_as_name(word: str) -> bool:
    """As no ordinary word is: with a joint inside, a dot before it, a digit or a capital in it."""
    if not _NAME.match(word) or _NO_NAME.match(word):
        return False
    return any(joint in word.rstrip("/.") for joint in "-_/.@") or bool(_HUMP.search(word))


def _may_be_tool(token: Token) -> bool:
    return _may_be_subcommand(token) and stem_of(token.text) not in LIGHT


def _may_be_subcommand(token: Token) -> bool:
    return bool(_PLAIN.match(token.text)) and token.lower not in _NO_SUBCOMMAND
