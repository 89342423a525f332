# ruff: noqa: E501  (patterns are read line by line)
"""The language of the rules, as data: what people and models say when it is worth keeping, and when
it is not. English first; the plainest forms of German, Spanish, Italian and French beside it.

Each pattern is matched against one sentence, unless its comment says otherwise.
"""

import re


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in alternatives), re.IGNORECASE)


# --- messages that are not the user's -------------------------------------------------------------

# The beginning of a message that a host wrote in the user's name.
NOT_SAID = _any(
    r"\[Request interrupted",
    r"This session is being continued from a previous conversation",
    r"No response requested",
    r"Base directory for this skill:",
    r"Caveat: The messages below",
    r"API Error:",
    r"Your task is to create a detailed summary",
    r"Operation stopped by hook",
)
# A prompt that only continues the turn before it.
GOES_ON = re.compile(
    r"(?:\[Request interrupted.*|(?:ok(?:ay)?,? |sorry,? |please )?(?:continue|go on|carry on|"
    r"keep going|proceed|weiter|continua|contin[uú]a)(?: please)?[.! ]*)$",
    re.IGNORECASE,
)
DECLINED = _any(r"rejected tool use", r"doesn't want to proceed")  # by the user
REFUSED_CALL = _any(
    DECLINED.pattern,
    r"Sibling tool call",
    r"String to replace not found",
    r"File has not been read yet",
    r"requested permissions",
)
# What the user said while refusing a call.
REFUSING_WORDS = re.compile(
    r"the user said:\s*+(?!The user wants to clarify)(\S.{0,2000}+)", re.IGNORECASE | re.DOTALL
)
# Headings of a plan under which it says what was decided, and what stays as it is.
PLAN_DECIDES = _any(
    r"\b(?:decisions?|decided|by design|design choices?|trade-?offs?|not chang\w+|unchanged|out of scope|non-?goals?|rejected|alternatives?|constraints?|assumptions?|approach)\b"
)
# A prompt that is mostly somebody else's text: a plan, a review, a log. Its own words come first.
DOCUMENT = _any(r"^\s*implement the following plan", r"^\s*#{1,3} ", r"\n#{1,3} \S")

# --- sentences that are not worth keeping ----------------------------------------------------------

CHATTER = _any(
    r"^(?:done|perfect|great|excellent|good|ok(?:ay)?|sure|right|exactly|yes|no|agreed|understood|"
    r"got it|noted|will do|thanks?|thank you|you'?re (?:welcome|right)|glad|happy to|any ?time|"
    r"hecho|fatto|fertig|erledigt|alles klar|fixed|fine|hi|hello|hey)[\s.!,:)]*$",
    r"^(?:now |next,? |first,? |ok(?:ay)?,? |good,? )?(?:let me|let's|i'll|i will|i'm going to|"
    r"i need to|i should|i can(?:'t)? |i could)\b",
    r"^(?:now (?:i |let|for)|i (?:see|understand|have|found) (?:the|now|it|a good)\b.{0,25}$)",
    r"^(?:here(?:'s| is| are)|below (?:is|are)|summary|overview|changes|what (?:i|was)|results?)\b"
    r"[^:.]{0,60}[:.]?$",
    r"^(?:would you like|want me|do you want|shall i|should i|let me know|feel free|could you|"
    r"can you|please (?:try|let|review|send)|tell me|soll ich|quieres|vuoi)\b",
    r"^(?:all|the|both|every|everything|unit|integration|existing|\d+)?[\w\s,/()+-]{0,40}\b(?:tests?|"
    r"checks?|lint(?:er|ing)?|build|suite|format(?:ting)?|ci|everything)\b[\w\s,/()-]{0,30}\b"
    r"(?:pass(?:es|ed|ing)?|clean|green|succe\w+|fine|work)\b[\w\s,()]{0,25}[.!]*$",
    r"^(?:tests?|checks?|lint|build)\b.{0,40}\b(?:pass|clean|green|grün)\b.{0,20}$",
    r"^(?:alle? tests?|tutti i test|todos los tests).{0,40}$",
    r"^(?:all|both) (?:\w+ )?(?:checks|tests|tasks)\b (?:now )?(?:pass(?:ed|ing)?|are green)\b(?!.*\b(?:added|fixed|"
    r"moved|removed|changed)\b)",
    r"^(?:all|both|every\w*) .{0,30}\bpass(?:es|ed)?[.!]*$",
    r"^(?:if it (?:still )?(?:fails|doesn'?t)|this (?:will|should) (?:help|let) (?:us|you)|when you run)\b",
    r"^(?:committed|pushed|merged|rebased|deployed|applied|released|draft pr|pr (?:is|created))\b"
    r".{0,60}$",
    r"^(?:the (?:fix|change|work|task|implementation|plan|build) (?:is|are|works?) (?:now )?"
    r"(?:complete|done|ready|in place|again|updated)).{0,30}$",
    r"^(?:working tree|nothing (?:else|to)|no (?:changes|response|diff|issues)).{0,60}$",
    r"^(?:if you|you can|you could|ready to|which (?:one|approach|option|style)|what(?:'s| is) your|"
    r"next time|next run|now try|run (?:it|the|that)\b|(?:merge|rebase|review) (?:is )?(?:complete|done)|"
    r"try (?:it|running|again|that)|once you|wait\b|to answer your|rebuild|"
    r"good (?:idea|point|question|observation|catch)|great (?:observation|question|point)|yes[,—-]|"
    r"no[,—-]|you'?re (?:right|absolutely))",
    r"^(?:all|full|fmt|format\w*|lint\w*|unit|build|tests?)\b[^.]{0,90}\b(?:pass(?:es|ed|ing)?|clean|green)"
    r"\b[^.]{0,20}[.!]*$|^all green\b",
    r"^(?:i(?:'ve| have)? )?(?:found|fixed|identified|see|located) (?:and fixed )?(?:the|this|that|it) ?"
    r"(?:root cause|issue|problem|bug|cause)?[.!:]*$",
    r"^(?:the )?(?:recent |following |key |main )?(?:changes|files?|fix(?:es)?|code|tests?|review|results?|"
    r"summary|behaviou?r|implementation|build|status|verdict|overall)\b[\w /&-]{0,40}"
    r"(?:changed|modified|added|updated|applied|complete|addressed|made|were|was|are|is|summary|pass)?[.:!]*$",
)
# What was done, in a sentence that begins with it: the best title there is.
DONE_FIRST = re.compile(
    r"^(?:i(?:'ve| have)? |we(?:'ve| have)? |also |now |successfully |completely |just )*(?:added|removed|fixed|changed|created|"
    r"updated|renamed|implemented|extracted|moved|replaced|refactored|increased|reduced|introduced|consolidated|"
    r"wrapped|simplified|improved|switched|made|wrote|rewrote|split|bumped|enabled|disabled|documented|converted|"
    r"integrated|restored|turned|built|set up|wired|dropped|deleted|migrated|ported|cached|rewired|corrected|"
    r"resolved|configured|upgraded|downgraded|pinned|generated|merged|cleaned up|hardened|limited|registered)\b",
    re.IGNORECASE,
)
# Who did it ("I have", "we"): not part of a title.
WHO_DID = re.compile(
    r"^(?:(?:(?:i|we)(?:'ve| have)?|also|now|just|successfully|completely|summary:|final summary:|code change:) )+",
    re.IGNORECASE,
)
# It depends on the sentence before it, or is hypothetical: it cannot stand alone as a title.
LEANS = re.compile(
    r"^(?:this|that|these|those|it|its|they|he|she|which|so|since|because|if|when|once|should|in case|"
    r"otherwise|instead|also,|then|again|same|there|the (?:comment|fix(?:es)? i|changes? i|above|"
    r"following|script looks)|your branch|safe here|main's|someone|now you|next time)\b",
    re.IGNORECASE,
)
# The polite part before what somebody wants done.
ORDER = re.compile(
    r"^(?>(?:(?:can|could|would|will) (?:you|we) (?>(?:please |also |just |maybe )*)|(?:please|let'?s|lets|now|also|then)[ ,]++"
    r"(?>(?:completely |also |just |now )*)|(?:i'?d like|i want|i need|we need|we want) (?:you |us )?to |we should )*)"
    r"(?=(?:add|remove|fix|change|implement|show|include|update|create|write|rename|move|replace|refactor|"
    r"extract|support|allow|enable|disable|drop|convert|split|introduce|increase|reduce|wire|port|"
    r"migrate|upgrade|document|track|store|log|print|build|set up|limit|handle|validate|cache|hide|display|"
    r"consolidate|integrate|delete|clean|simplify|speed|bump|pin|expose|return|send|wrap|generate|persist|walk|"
    r"make|strengthen|improve|ensure|rewrite|adjust|tighten|harden|revert|restore|switch|apply)\b)",
    re.IGNORECASE,
)
# A merge or a rebase: commits moved, no new work.
MERGING = re.compile(
    r"\b(?:merge|rebase|conflict(?:s|ed)?|origin/ma(?:in|ster)|cherry-pick)\b", re.IGNORECASE
)
MERGES = re.compile(r"\bgit (?:-C \S+ )?(?:merge|rebase|cherry-pick|pull)\b")
# An answer that hedges or guesses.
UNSURE = _any(
    r"\b(?:could be|might be|may be|maybe|perhaps|possibly|not sure|i(?:'m| am) not certain|"
    r"hard to (?:say|tell)|my first suspect|i suspect|i guess|probably|likely)\b",
)

# --- problems and causes ---------------------------------------------------------------------------

# A prompt that reports something wrong (matched against the whole prompt).
PROBLEM = _any(
    r"\b(?:fail(?:s|ed|ing|ure)?|broken?|broke|crash(?:es|ed|ing)?|hangs?|hanging|stuck|flaky|slow|"
    r"stale|leak(?:s|ing)?|(?:is|are|goes|went|something|what'?s) wrong|incorrect|bug|errors?|exception|panic|traceback|timeout|timed out|"
    r"not working|doesn'?t work|isn'?t working|no longer|anymore|complains?|refus(?:es|ed)|denied|"
    r"off by|missing|restarting|duplicates?|regression|deadlock|nan|oom|segfault|falls through)\b",
    r"\bwhy (?:is|are|does|do|did|was|isn'?t|doesn'?t)\b",
    r"\bstill (?:happens|fails|there|not|see|get)",
    r"\b(?:takes|took) \d+ ?(?:s|sec|seconds|min|minutes)\b",
    r"\b(?:I )?(?:don'?t|can'?t|cannot) (?:see|find|get|start|open|build|connect|run)\b",
    r"\b(?:weird|odd|strange)\b|\bthe issue\b|\bproblems?\b",
    r"\b\w+(?:Error|Exception)\s*:",
    r"\b(?:falla|fallo|fehler|kaputt|geht nicht|schlägt fehl|funktioniert nicht|no funciona|"
    r"non funziona|errore|perch[ée]|por qu[ée]|warum|erreur|ne marche pas|pourquoi)\b",
)
# A sentence that names a cause.
CAUSE = _any(
    r"\broot cause\b",
    r"\b(?:the )?(?:cause|reason|culprit|problem|issue|bug|flake|failure|error|crash|leak|hang) "
    r"(?:here |there )?(?:was|is|were|came|comes|lies|lay|turned out|stems?)\b",
    r"\b(?:turns|turned) out\b",
    r"\b(?:caused by|due to|because|came from|comes from|stems from|left behind by|as a result of)\b",
    r"\b(?:that|this|which) (?:explains|is why|was why|means)\b|\bthat'?s why\b",
    r"\bthe key (?:insight|point|thing|fix)\b",
    r"\bwas (?:missing|never|not|still|only|switched|set|using|checking|looking|called|built|moved)\b",
    r"\b(?:since|after|commit) `?[0-9a-f]{7,}`?\b",
    r"\b(?:happens|happened|fails|failed) (?:when|because|since)\b",
    r"\bn\+1\b|\boom[- ]?kill|\brace condition\b|\bdeadlock|\bdangl|\boff[- ]by[- ]one\b",
    r"\bla causa\b|\bil problema era\b|\bel problema era\b|\bdie ursache\b|\bder grund\b|"
    r"\blag (?:daran|an)\b|\bla cause\b|\bera (?:causado|dovuto)\b|\bil motivo\b",
)


# --- what a user states ----------------------------------------------------------------------------

# A correction of what the assistant did or understood.
CORRECTION = _any(
    r"^(?:no|nope|nein|hm+|wait|stop|sorry)?[\s,.!-]*(?:i meant|i said|i asked for|"
    r"not what i|that'?s (?:not (?:right|correct|what)|wrong)|you (?:misunderstood|misread|mixed|confused))",
    r"\b(?:you mixed (?:that|it|them) up|you (?:forgot|missed) (?:that|to))\b",
    r"\bactually,? (?:the|it|we|this|use|that) .{2,80}\b(?:must|should|needs?|has to|is not|isn'?t)\b",
    r"\bis not correct\b,? .{10,}",
)

# The parts of a correction: the "no", what must not be, and what to do instead.
SAYS_NO = re.compile(
    r"^(?:no|nope|nein|non|wrong|stop)(?=\s*[,.!:;—-])|^(?:please )?stop \w+ing\b", re.IGNORECASE
)


def contradicts(prompt: str) -> bool:
    """Whether a prompt begins by saying that the answer before it was wrong."""
    return bool(SAYS_NO.match(prompt) or CORRECTION.search(prompt[:200]))


_TAKES_BACK = re.compile(r"^(?:actually|correction)\b|\bi was wrong\b", re.IGNORECASE)


def corrects(sentence: str) -> bool:
    """Whether a sentence corrects what was said or done before."""
    return bool(_TAKES_BACK.search(sentence) or contradicts(sentence))


NEGATIVE = re.compile(
    r"^(?:please |and |also )*(?:don'?t|do not|never|no\b|not\b|avoid|stop)", re.IGNORECASE
)
POSITIVE = re.compile(
    r"^(?:please |instead,? |rather,? |just )*(?:always|only|use|put|go through|call|write|keep|take|let|"
    r"prefer|return|pass|move|read|instead|(?:it|they|that) (?:must|should|"
    r"belongs?|goes?))\b|^(?!it\b|this\b|that\b|i\b|you\b|we\b|they\b)\w+ \S.*\binstead[.!]?$",
    re.IGNORECASE,
)

# The alternative or the reason: with one of them a choice is specific enough.
CONTRAST = _any(
    r"\b(?:instead of|rather than|in favou?r of|as opposed to)\b",
    r"\bover (?!the (?:last|past|next)\b|time\b|\d)\S",
    r"(?:,| and| but) not (?!yet\b|only\b|sure\b|to\b|be\b|have\b|just\b)\S",
)
REASON = _any(
    r"\b(?:because|since|so that|otherwise|due to|thanks to)\b",
    r"\b(?:so|as) (?:it|we|they|the|that|our|its)\b|\btoo (?!\W|$)\w+",
)
# A sentence of its own that only says why the one before it holds.
REASON_FIRST = re.compile(
    r"^(?:because|since|so that|otherwise|or else|that way|this way|the reason (?:is|was|being)|reason:|why:|"
    r"(?:this|that|it)(?:'s| is| was) because|(?:this|that|it)(?:'ll| will| would)? (?:makes?|keeps?|avoids?|lets?|saves?)|weil|denn|sonst|porque|perch[ée]|parce que|sinon)\b",
    re.IGNORECASE,
)
# A rejected option, with the reason.
_THING = r"(?!(?:it|that|this|them|anything|worry|forget|know|think|see|want|need|mind|bother)\b)"
_TURNED_DOWN = r"(?:rejected|ruled out|decided against|dismissed|discarded|turned down|passed on|gave up on|voted against)"
_NO_WAY = (  # what is refused, tried or dropped every day, and is no way of doing things
    r"(?!(?:it|this|that|them|these|those|again|everything|to|\w+ing)\b)"
    r"(?!(?:(?:the|a|an|all|any|your|this|every|some) )?(?:\w+ )?(?:requests?|connections?|tokens?|inputs?|payloads?|messages?|"
    r"calls?|push|prs?|pull requests?|commits?|changes|invites?|offers?|values?|rows?|uploads?|logins?|error)\b)"
)
_WE_TURNED_DOWN = rf"\b(?:we|i|the team)(?:'ve| have| had)? (?:also |already |finally )?{_TURNED_DOWN} {_NO_WAY}\S.{{3,}}"
REJECTED = _any(
    r"\b(?:don'?t|do not|let'?s not|no need to) (?:add|introduce|use|build|create|implement|support|"
    r"bring in|deprecate)\b " + _THING + r".{3,80}(?:,|because|since|as |\bfor now\b|already)",
    r"\b(?:rather not|decided against|not worth (?:the|it)\b|too (?:complex|risky|heavy|expensive) "
    r"(?:for|to))\b",
    r"\b(?:option|approach) \d (?:doesn'?t|does not|won'?t|can'?t) work\b.{5,}",
    r"^no [\w -]{3,30} (?:for (?:this|that|the|now|us)|here)\b[^?]{8,}",
    r"\bwe (?:already )?tried (?!to\b|it\b|this\b|that\b).{2,60}\b(?:before|already|once|last year)\b.{5,}",
    _WE_TURNED_DOWN,
)
ANSWER_REJECTED = re.compile(_WE_TURNED_DOWN, re.IGNORECASE)
# The same, only when the sentence says why or names the other way.
REJECTED_IF_REASONED = _any(
    r"\b(?:is|are|was|were|has been) (?:also )?(?:ruled out|dismissed|discarded|decided against|off the table)\b(?! by\b)",
    r"\b(?:we'?re|we are|i'?m|i am) not (?:going|moving|proceeding) (?:with|for|to) "
    + _NO_WAY
    + r"\S+",
    r"\b(?:we'?ll|we will|we|i|i will|i'?ll) (?:did(?:n'?t| not)|won'?t|not) (?:go|choose|pick|take|adopt|use) (?:with |for )?"
    + _NO_WAY
    + r"\S+",
    r"\b(?:we|i)(?:'ve| have| had)? (?:considered|looked at|evaluated|weighed) (?!it\b|this\b|that\b).{2,60}\bbut (?:we |i )?"
    r"(?:dropped|discarded|rejected|dismissed|left|decided)\b",
    r"^not (?:going|moving) (?:with|for) " + _NO_WAY + r"\S+",
)
# An approach that was tried and given up: our own, or named; not "the build" or "your fix".
TRIED = re.compile(
    r"\b(?:we(?:'ve| have| had)?(?: already| also| once| first)? tried (?:out )?|i(?:'ve| have| had)?(?: already| also| once| first)? tried (?:out )?"
    r"(?!(?:the|an?|your|my|some)\b))(?!(?:to|it|this|that|them|again|both|everything|all|\w+ing|running)\b)(?!(?:the|your|a) (?:[\w-]+ )?"
    r"(?:build|version|fix|patch|command|branch|test|change|link|url|script)\b)\S.{1,80}?[,;—-]? ?\bbut \w+"
    r"(?!.*\b(?:still|again)\b)",
    re.IGNORECASE,
)
# A decision of an answer that names the alternative or the reason.
ANSWER_DECISION = _any(
    r"\b(?:i|we)(?:'ve| have)? (?:also |finally |therefore |thus )?(?:chose|chosen|adopted|picked(?! up\b)|opted|went with|gone with|"
    r"settled on|selected|decided (?:to|on|that|for|in favou?r of)) "
    r"(?!(?:it|this|that|them|these|those) (?:because|since|so)\b)\S.{3,}",
    r"^(?:chose|picked(?! up\b)|opted for|settled on|went with|decided (?:to|on|for)) (?!(?:it|this|that|them)\b)\S.{3,}",
    r"^(?:(?:i|we)(?:'ve| have)? )?(?:dropped|ditched|abandoned|replaced|retired) \S.{1,60}\bin favou?r of\b.{3,}",
    r"\bwe(?:'ll| will| shall) (?:use|keep|stay with|stick with|go with|stick to|adopt) (?!it\b|this\b|that\b|them\b)\S.{3,}",
    r"\bwe(?:'re| are) (?:going|staying|sticking) with (?!it\b|this\b|that\b)\S.{3,}",
    r"\b(?:the|our) decision (?:is|was) (?:to|that|for) \S.{3,}|\bit (?:was|has been) decided (?:to|that) \S.{3,}",
    r"^(?:the |our |my )?(?:final )?(?:decision|decided|chosen|choice|entscheidung|decisi[oó]n|decisione)\s*(?::|—|–| - ) ?\S.{3,}",
)
# What was used, with both the alternative and the reason.
ANSWER_USED = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:used|use|built|wrote|made|implemented) (?!it\b|this\b|that\b).{2,100}\b(?:instead of|rather than)\b"
    r".{2,100}\b(?:because|since|so that|otherwise)\b",
    re.IGNORECASE,
)
# So explicit that no reason is needed.
DECIDED_AGAINST = re.compile(r"\b(?:decided against|ruled out)\b", re.IGNORECASE)
DECIDED = re.compile(
    r"\bwe(?:'ve| have)? (?:also |finally )?decided\b|^(?:the |our )?(?:final )?decision\b",
    re.IGNORECASE,
)
# Reported of somebody else, or a decision only about the next step.
NO_DECISION = _any(
    r"\bi(?:'ve| have)? (?:decided|chose|opted) to (?:run|check|look|try|start|read|wait|stop|skip|rerun|re-run|re-read|ask|search|grep|open|"
    r"inspect|investigate|verify|continue|begin|test)\b",
    r"\b(?:if|whether|when|once|until|unless|before) (?:i|we|you)\b",
)
# --- fillers at the beginning of a sentence --------------------------------------------------------

FILLER = re.compile(
    r"^(?:(?:and|also|but|so|ok(?:ay)?|k|btw|by the way|please|hm+|wait|well|oh|ah|yes|yeah|yep|sure|"
    r"great|good|nice|cool|fine|thanks|thx|(?:no|nope|nein)(?=\s*[,.!:;-])|then|alright|por cierto|bitte|danke|gracias)[\s,.!:-]+)+",
    re.IGNORECASE,
)

# What leads up to a rule and is no part of it, unless it says when the rule holds.
LEADS_TO_RULE = re.compile(
    r"^(?:[^.!?]{1,400}?(?:[,;:—–-]|\b(?:and|but|so|also|oh))\s+)?(?:please\s+)?"
    r"(?:remember|make sure|be sure|don't forget|keep in mind)(?:\s+(?:to|that|you|we))*[,:]?\s+"
    r"(?=(?:always|never)\b)",
    re.IGNORECASE,
)
CONDITION = re.compile(
    r"(?:when|whenever|if|unless|before|after|while|until|for|in|on|every|each|with|from)\b",
    re.IGNORECASE,
)

# --- work ------------------------------------------------------------------------------------------

# Chores: a turn that did only this is not worth a memory.
CHORE = _any(
    r"^(?:lint|format|fmt|typo|whitespace|import order|rebase|push|commit|merge conflicts?|git status|"
    r"run (?:the )?(?:tests?|lint|build)|fix (?:the )?(?:lint|format\w*|imports?|typos?|gofmt))"
    r"\b.{0,40}$",
)
CHORE_ANSWER = _any(
    r"\b(?:unused (?:import|variable)|lint (?:passes|is clean)|reformatted|formatted \d+|gofmt|typo|"
    r"whitespace|alignment|trailing (?:space|newline)|import order|(?:duplicated?|stale|outdated) comment)\b",
)
# Commands that only look, tidy or move commits: no step of a procedure and no work.
LOOKING = re.compile(
    r"^(?:ls|cat|head|tail|grep|rg|find|wc|pwd|echo|which|cd|true|sleep|file|stat|tree|less|jq|sed -n|"
    r"git (?:-C \S+ )?(?:status|log|diff|show|branch|blame|rev-parse|fetch|stash list|remote|ls-files|merge-base)|"
    r"gh (?:pr (?:view|diff|list|checks)|run (?:view|list)|issue (?:view|list)|api)|ps|env|export|"
    r"curl|nc|du|df|type|date|mkdir|touch|test|\[)\b",
)
# Commands that check and change nothing.
CHECKING = re.compile(
    r"\b(?:pytest|tox|nox|jest|vitest|mocha|rspec|phpunit|mypy|tsc|pyright|ctest)\b|"
    r"^(?:\w+ (?:run )?)(?:tests?|check|typecheck|vet|lint)\b|^\w+ --(?:version|help)\b"
)
# Of these, those that run the program.
TESTING = re.compile(
    r"\b(?:pytest|tox|nox|jest|vitest|mocha|rspec|phpunit|ctest)\b|^(?:\w+ (?:run )?)(?:tests?|check)\b"
)
TIDYING = re.compile(
    r"\b(?:lint|fmt|format|prettier|eslint|ruff|black|isort|gofmt|rustfmt|clippy|golangci-lint|"
    r"rubocop|stylelint)\b"
)

# --- next steps and open questions -----------------------------------------------------------------

NEXT_HEADING = re.compile(
    r"^\W{0,4}(?:next steps?|next up|remaining(?: work| tasks?)?|todos?|still (?:to do|open)|follow-?ups?|"
    r"what'?s (?:left|next)|nächste schritte|pr[óo]ximos pasos)\W{0,4}$",
    re.IGNORECASE,
)
NEXT_INLINE = re.compile(
    r"^(?:(?:(?:the )?next(?: steps?| up| tasks?| thing)?|remaining(?: work| steps?| tasks?)?|to-?dos?|"
    r"still (?:to do|open|missing|left)|follow-?ups?|(?:what(?:'s| is) )?left(?: to do)?|what remains|not done yet|"
    r"nächster schritt|pr[óo]ximo paso|prossimo passo)\s*:\s*|"
    r"(?:(?:the )?next (?:steps?|tasks?|thing)|what (?:remains|is left)(?: to do)?) (?:now )?(?:is|are|would be|will be) (?:to )?)"
    r"(\S.+)",
    re.IGNORECASE,
)
OPEN_LABEL = re.compile(r"^(?:still )?open ?: ", re.IGNORECASE)
# What is not done, or does not work, as an answer says it.
STILL_OPEN = _any(
    r"\b(?:is|are|has|have|was|were|does|do)(?: not|n'?t)\b[^,;(]{0,60}\b(?:yet|so far)\b[^,;(]{0,10}$",
    r"\bstill (?:needs?|missing|fail(?:s|ing)?|to be|has to|have to|open|unclear|to do|broken|requires?)\b",
    r"\b(?:remains? (?:to|open|unfixed|unresolved)|remaining (?:work|issues?|problems?|failures?|gaps?)|left to do|left open)\b",
    r"\bpre-?existing (?:\w+ )?(?:issue|bug|failure|problem|error)|\bknown (?:issue|limitation|gap)s?\b",
    r"\b(?:deferred (?:to|until)|(?:in|as) a (?:separate|follow-?up|later) (?:pr|pull|change|commit|issue|ticket|branch|step|session)\b|future work|follow-?ups? (?:needed|is|are|work))\b",
    r"\b(?:not (?:covered|tested|implemented|handled|supported|addressed|fixed) (?:yet|by|here|so far)|unresolved)\b",
    r"\b(?:you(?:'ll| will)? (?:still )?need to|needs? to be (?:done|fixed|updated|added|tested|addressed|merged|pushed))\b",
    r"\b(?:needs?|has|have) to be \w{3,}\b[^,;(]{0,40}\bnext(?=[.,;:]|$)",
    OPEN_LABEL.pattern,
)
OPEN_QUESTION = re.compile(r"^(?:open )?questions?\s*+:\s*+(\S.*\?)", re.IGNORECASE)
OFFER = re.compile(
    r"^(?:would you like|want me|do you want|shall i|should i (?:also |go )|let me know|soll ich|"
    r"anything else|ready to|make sense|sound good)",
    re.IGNORECASE,
)

# A choice by its number.
OPTION = re.compile(r"\b(?:option|approach|variant)\s+(\d)\b", re.IGNORECASE)
# A prompt that is a statement or a question: alone it does not say what was done.
NO_ORDER = re.compile(
    r"\?$|^(?:i|i'm|i've|we|it|it's|this|that|there|thinking|looking|stop|so|why|what|how|oh|ah|hm+)\b",
    re.IGNORECASE,
)

# A statement that puts something in the place of something else, or ends it.
CHANGES = re.compile(
    r"\b(?:instead of|no longer|any ?more|any longer|switched|moved|migrated|replaced|swapped|renamed|dropped|dropping|"
    r"changed|went up|goes up|took (?:\w+ )?over|takes over|ported|uninstalled|new home|now|these days|since (?:monday|last|the)|from now|going forward|used to|"
    r"after all|lifted|goodbye|gone|umgestellt|umgestiegen|nicht mehr|ne \w+ plus|ya no|não \w+ mais|non \w+ più)\b|"
    r"もう|ではなく|なしです|不再|改用|换成",
    re.IGNORECASE,
)
# Of these, what says since when something holds, and not that something else is over.
SINCE_WHEN = re.compile(
    r"now|these days|since (?:monday|last|the)|from now|going forward", re.IGNORECASE
)
# A sentence that says that something changed.
CHANGED = re.compile(
    r"\b(?:actually|scratch that|correction|sorry|my bad|i was wrong|make (?:it|that)|instead|now|"
    r"nowadays|these days|today|as of|from (?:now|today) on|since|no longer|any ?more|used to|"
    r"goodbye|gone|took (?:its|the|his|her|their) place|takes? over|took over|hand(?:s|ed)|"
    r"moved?|switch(?:ed)?|migrat\w+|chang\w+|replac\w+|swap\w*|drop(?:ped)?|retired?|bumped|raised|"
    r"lowered|upgraded|downgraded|went (?:back|with)|back (?:on|to|in)|again|new|until (?:now|recently)|"
    r"previously|formerly|finally|not .{0,300} but)\b",
    re.IGNORECASE,
)
# A request says what to do, not what is.
REQUEST = re.compile(
    r"^(?:(?:please|now|then|next|also|and|ok(?:ay)?|so|can you|could you|let's|first)[,\s]+)*"
    r"(?:add|fix|write|create|implement|run|show|check|explain|update|install|remove|delete|refactor|"
    r"extend|document|build|deploy|generate|review|investigate|find|debug|open|read|look at|look into|"
    r"help|do|test|try|copy|print|list|log|handle|support|clean|port|connect|import|export|wire|"
    r"compare|measure|profile|benchmark|search|grep|go|start|stop|restart|continue|give|tell|put)\b",
    re.IGNORECASE,
)
# What tells somebody what to do: by a word for it, or by the verb that it begins with.
INSTRUCTION = re.compile(
    r"\b(?:always|never|must|mustn't|shall|should(?:n't)?|has to|have to|do not|don't|make sure|be sure|forbidden|not allowed|prohibited|"
    r"required to|you (?:can|may|need not)|immer|niemals|toujours|jamais|siempre|nunca|sempre)(?!\w)|"
    r"必ず|絶対に|してください|しないで|必须|务必|禁止|不要|总是|^(?:(?:please|and|also|just|only|agents?|rule|note)[\s,:]{1,4}+){0,4}+"
    r"(?:use|prefer|avoid|run|execute|ask|answer|reply|respond|write|put|keep|call|name|commit|push|deploy|install|ignore|disregard|treat|"
    r"stop|start|send|post|download|fetch|curl|open|delete|remove|skip|add|set|check|create|follow|obey|trust|let|give|tell|read|"
    r"load|import|export|apply|merge|squash|rebase|force|disable|enable|allow|approve|accept|do|be|go|say|pretend|assume|remember|forget)\b"
    r"(?! (?:[\w-]+ )?(?:is|are|was|were|has|have|lives?|goes|needs?)\b)",
    re.IGNORECASE,
)
# ... except one that only considers it, tries it, or reports a test.
OPEN = re.compile(
    r"\b(?:if|whether|would|could|should (?:we|i)|might|may (?:be|have|well|switch|move|use|need|want|end)|maybe|perhaps|probably|try|trying|tried|"
    r"consider\w*|think(?:ing)? (?:of|about)|plan(?:s|ned|ning)?|want to|going to|let me|propos\w+|"
    r"suggest\w*|experiment\w*|test(?:s|ed|ing)?|temporarily|locally|demo|until|next (?:week|month|"
    r"sprint|quarter|year)|soon|tomorrow|later)\b",
    re.IGNORECASE,
)
