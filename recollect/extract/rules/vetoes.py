# ruff: noqa: E501  (patterns are read line by line)
"""What keeps a sentence from being a standing belief, as data: vetoes with their examples.

In: a sentence of the user, the one after it, or a whole prompt. Out: which veto applies. Vetoes come
before everything that could make a belief: words of somebody else, what was taken back or said in
jest, questions and what-ifs, and what binds a wish to this once, this session or this branch.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from recollect.extract.rules.prose import without_own_command

LONGEST = 600  # nobody states anything at such length, and patterns must not meet it
Effect = Literal[
    "nothing", "unsure", "passing", "turn", "session", "branch", "everywhere", "takes back"
]


class Veto(NamedTuple):
    """`yes`: examples that it must match; `no`: examples that it must not."""

    name: str
    effect: Effect
    pattern: re.Pattern[str]
    yes: tuple[str, ...]
    no: tuple[str, ...]


def _veto(
    name: str, effect: Effect, pattern: str, yes: tuple[str, ...], no: tuple[str, ...] = ()
) -> Veto:
    return Veto(name, effect, re.compile(pattern, re.IGNORECASE), yes, no)


_SAYS = (
    r"(?:says|said|wrote(?! (?:it|the|this)\b)|reads?:|states|suggest(?:s|ed)|recommend(?:s|ed)?|claim(?:s|ed)|swears?|insist(?:s|ed)|"
    r"thinks|believes|argues|complain(?:s|ed)|commented|told me|asked(?: me| us| for| if| whether| why)|wants me to|votes?|warns)"
)
_NOW_NOUN = (
    r"(?:one|time|file|commit|pr|pull request|run|script|test|change|endpoint|page|task|ticket|reproduction|"
    r"demo|screenshot|function|step|patch|spike|fix|migration|query|call|method|class|line|answer|question|case)"
)

VETOES: tuple[Veto, ...] = (
    _veto(
        "reported speech",
        "nothing",
        rf"(?<!\bi )(?<!\bwe )(?<!\byou )(?<!\bi also )(?<!\bi once )(?<!\bi just )\b(?!i\b|we\b|you\b|to\b|also\b|not\b|once\b|legal\b|security\b|compliance\b|"
        rf"management\b|product\b|that\b|which\b|don't\b)[\w.#/-]+ (?:also |just |still |always )?{_SAYS}\b(?! (?:good|so|no\b))"
        r"|\b(?:docs|they|people|guidelines) say\b|\baccording to\b|\b(?:stack ?overflow|reddit|hacker ?news|chatgpt|copilot|blog post)\b"
        r"|\b(?:sagt|schreibt|steht (?:im|in|auf)|steht:|laut der|meint)\b|\b(?:im|in der|in dem|auf der) .{2,60}\bsteht\b|\b(?:d'après|selon)\b|\b(?:según|dice que)\b|\b(?:segundo o|diz que)\b|\b(?:secondo (?:il|la)|dice che)\b"
        r"|によると|と言って|と書いて|说过?[:：]|写道",
        (
            "The README says never to run it as root.",
            "A customer wrote that we should always answer within a day.",
            "Top SO answer says to never use float for money.",
            "My colleague Tom swears that we should ban inheritance.",
            "In der Doku steht im ersten Absatz, dass man immer X nutzt.",
        ),
        ("I said we always use tabs.", "We say no to new dependencies."),
    ),
    _veto(
        "introduces a quotation",
        "nothing",
        r"\b(?:says?|said|wrote|reads|writes|readme|wiki|comments?|logs?|output|errors?|prompts?|messages?|tickets?|fixtures?|"
        r"sentences?|answer|warning|article|docs?|documentation|gem|these|this|following|übersetze?|translate|traduis|traduce)\b[^:：]{0,80}[:：]\s*(?:[\"'`“«„‘]|$)",
        ("review comment on my PR:", "Here is the system prompt of our bot: 'Always answer'", "the log says:"),
        ("Two rules: no mocks, no sleeps.", "Important: tests first."),
    ),
    _veto(
        "text to be written",
        "nothing",
        r"^(?:please |can you |could you |now |then )*(?:write|draft|translate|translat\w+|generate|create|make up|invent|give me|add) (?:\w+ ){0,6}"
        r"(?:template|text|page|sentence|section|doc|docs|email|mail|reply|message|slide|prompt|lint rule|eslint rule|rules? (?:like|that|which|in eslint)|fixtures?|examples?)\b",
        ("write a CONTRIBUTING template with rules like always squash", "add a lint rule that forbids var"),
        ("Write tests first.", "Write commit messages in English."),
    ),
    _veto(
        "what the agent did",
        "nothing",
        r"^(?:hm+ |no,? |again,? |and )*you (?:just |again |still )?(?:keep \w+ing|(?:used|wrote|put|did|made|broke|forgot|got|ran|took|left|(?!need)\w+ed))\b(?:[^,;—:]|:\w|::)*$",
        ("You used std::shared_ptr for the nodes again.", "you keep writing customer_id."),
        ("You used moment, but we only use date-fns here.", "You need to bump the version whenever a table changes."),
    ),
    _veto(
        "laughter",
        "nothing",
        r"\b(?:haha\w*|hehe\w*|lol|lmao|rofl|jk|just kidding|kidding|joking|mdr|jaja\w*|kkk+)\b|(?:^|\s)/s(?:$|\s)|笑|哈哈",
        ("always blame the intern haha", "Kidding.", "lol no"),
        ("Use the logger.",),
    ),
    _veto(
        "sarcasm",
        "nothing",
        r"^(?:oh,? )?(?:great|sure|yeah|right|wow|lovely|brilliant|fantastic|awesome|wonderful)\b[,.! ]+(?:yeah|sure|great|because|let'?s just|of course|right)\b|\b(?:brilliant|great|genius) idea\b|\bbuys? (?:the )?(?:cake|beer|coffee|lunch)\b",
        ("Sure, because storing passwords in plain text is our policy now", "oh great, yeah, let's just catch every exception"),
        ("Sure, use tabs.", "Great, we always use UTC."),
    ),
    _veto(
        "takes back",
        "takes back",
        r"(?:^|[,.;:…—–-]\s*+)(?:(?:hm++|oh|well|sorry|ok(?:ay)?|but|eh|uh|nah),? ){0,3}+(?:no,? wait|wait,? no\b|(?<=hm,) wait\b|(?<=hm) wait\b|(?<=hm, )wait\b|wait,? that\b|actually,? (?:no|never ?mind|scratch|forget|ignore)\b|never ?mind\b(?! (?:the|about))|"
        r"scra(?:tch|p) (?:that|it)\b|strike that\b|ignore that\b|forget (?:that|it|about it|i said (?:that|anything))\b|on second thou?ghts?,? (?:no|leave|keep|forget)|i take (?:that|it) back|"
        r"quatsch\b|vergiss (?:es|das)\b|laisse tomber|olvídalo|olvida eso|esquece\b|lascia stare|やっぱり|算了)",
        ("Never mind.", "actually no, ignore that", "hm, wait, that costs us minutes", "No wait, that's the other cluster"),
        ("Never mind the prefix convention, it is gone.", "Wait for my okay before you push."),
    ),
    _veto(
        "not ours",
        "takes back",
        r"\b(?:that'?s them,? not us|not us\b|i (?:don'?t|do not) agree|i disagree|nobody(?:'s| is) planning|thinking out loud|(?:just|pure|only) curio\w+|(?:i'?ll|let me) sleep on it|"
        r"not decided yet|wrong (?:tab|window|chat)|oh well|was rejected|pura curiosidad|maybe not\b|we'?re not changing anything|(?:is|are) wrong about)",
        ("That's them, not us.", "I'll sleep on it.", "I don't agree with him."),
        ("Use pnpm, not npm.",),
    ),
    _veto(
        "asks to be told",
        "nothing",
        r"^(?:(?:anyway|so|just|please|can you|could you|but|ok(?:ay)?),? )*(?:tell|show|explain|describe|list|summari[sz]e|remind)(?: to)? (?:me|us)\b",
        ("Just tell me where sessions are kept at the moment.", "please show me the routes"),
        ("Tell users when their session expires.",),
    ),
    _veto(
        "somebody else's work",
        "nothing",
        r"\b(?:my|his|her|their) (?:\w+ )?(?:brother|sister|friend|buddy|wife|husband|cousin|roommate|dad|mom|neighbou?r|ex)(?:'s)?\b"
        r"|\b(?:old|previous|former|last|other|another) (?:job|company|employer|team|gig|client|workplace)\b|前の会社|前職|以前的公司|上一家公司",
        ("My brother's team deploys every Friday.", "At my old job we never wrote tests.", "The other team uses Bazel."),
        ("My team deploys every Friday.",),
    ),
    _veto(
        "what if",
        "nothing",
        r"^(?:(?:so|and|but|ok(?:ay)?|hm+|well|man),? )*(?:what if|suppose|supposing|imagine|imagina|say (?:we|you|i|that)|assum(?:e|ing) (?:we|you|i|that|for)|hypothetically|"
        r"if (?:we|i|you|they|it) (?:were|had|ever|\w+ed|used to|went|got|chose)\b|i wish|man i wish|stell dir vor|was wäre wenn|angenommen|et si|imaginons|e se\b|y si\b|もし|如果|假如)"
        r"|\bi wish (?:we|i|it|you)\b|\bi wonder\b|\bwondering (?:if|whether)\b|\bwere to\b.{1,80}\bwould\b",
        ("If we were to move to Kafka, how much would change", "say we had a rule that handlers are idempotent", "man I wish we were on Rust"),
        ("If you add a setting, document it.", "Say goodbye to Redux, we use Zustand."),
    ),
    _veto(
        "describes behaviour",
        "unsure",
        r"\b(?:always|never|only ever|sometimes|randomly|still) (?!is\b|needs|has\b|goes|gets|lives|belongs|stays|comes|uses|runs|was\b|this\b|as\b|us\b)[a-z]{2,}(?<!s)s\b|\bprefers the\b",
        ("The model always predicts class 0 after epoch 3.", "this function never returns nil"),
        ("We always use tabs.", "Never commit secrets to the repo.", "CI always runs on main."),
    ),
    _veto(
        "perhaps",
        "unsure",
        r"\b(?:maybe|perhaps|might|probably|possibly|thinking (?:of|about)|considering|not sure|some ?day|eventually|at some point|ideally|would|could|i think|i guess|i suppose|apparently|(?:they|competitors?) (?:never|always|only)|hang on|hold on|"
        r"vielleicht|könnte\w*|wäre|peut-être|quizás|tal vez|talvez|forse|magari)\b|かもしれ|也许|可能",
        ("maybe we should use SQLite", "We could move this to a worker."),
        ("Use SQLite.",),
    ),
    _veto(
        "going on now",
        "passing",
        r"\b(?:i'm|it's|they're|we're|he's|she's|is|are) (?:still |currently |just )?(?!going|using|dropping|moving|switching|keeping|sticking|staying|getting|cutting|nothing|anything|something|everything|missing|existing|existing|being)\w+ing\b|\bis (?:down|melting|waiting|stuck)\b|\bstill torn\b|\b(?:that|this) (?!(?:is|are|was|were|has|have|had|do|does|can|may|will|should|must|we|you|they|i|it)\b|was\b|repo\b|repository\b|monorepo\b|team\b|app\b|package\b|project\b|codebase\b|crate\b|rule\b|convention\b|column\b|table\b|folder\b|branch\b|session\b|goes\b|holds\b|no\b|lives\b|means\b|way\b|week\b|year\b|month\b|sprint\b|service\b|flag\b|field\b|endpoint\b|limit\b|one\b|(?:the|our|all|every|each)\b|\w+s (?:are|were|have)\b)\w+",
        ("never run that script again", "Push straight to main, CI is down.", "Use two workers, my laptop is melting."),
        ("In this repo we squash.", "We're moving to Fly.", "Never amend commits that are pushed.", "We agreed that invoices are kept."),
    ),
    _veto(
        "this once",
        "turn",
        r"\b(?:this|diese[smnr]?|cette|esta|questa|desta) (?:once|mal|fois|vez|volta)\b|\bdiesmal\b|\bthis time\b|\bjust (?:this )?once\b|"
        rf"\b(?:for|in|with|just for|on) (?:just )?this (?:one |single |reproduction |test )?{_NOW_NOUN}\b|\bthis one (?:with|in|as)\b|"
        r"\b(?:real |really )?quick(?:ly)?\b(?! q)|\bfor (?:the|a|today'?s|tomorrow'?s) (?:demo|moment|screenshot|time being|second|presentation|meeting)\b|\btemporar(?:y|ily)\b|\bfor now\b|\bas a (?:workaround|quick fix)\b|"
        r"\bthrow (?:it|that|this) away\b|\bi'?ll (?:remove|revert|delete|undo|squash|change|fix) (?:(?:it|this|that|them)\b|(?=after|later|tomorrow|afterwards))|\bin (?:\d+|a few|five|ten) (?:minutes?|mins?|hours?)\b(?= (?:so|and|i|we)\b)|\bi need (?:it|this|that|them) (?:for|in)\b|\bseparate ticket\b|\buntil i(?:'ve| have)?\b|\byet[.!]?$|\bright now\b(?!,? we)|今回|这次|这一次",
        ("skip the tests this time", "bump it to 60s, I'll revert after", "I need to demo in 10 minutes so skip the tests", "Don't touch the migrations in this PR.", "hardcode it for the demo at 3pm", "mach den Diff diesmal ohne Formatierung"),
        ("In this repo we squash.", "We use this client for every call."),
    ),
    _veto(
        "this session",
        "session",
        r"\bthis session\b|\b(?:rest of|for) (?:the |this )?(?:session|today|day|evening|conversation|chat)\b|\buntil we(?:'re| are) (?:done|finished|through)\b|\b(?:fried|tired|busy) today\b|^today\b|\bonly today\b|"
        r"\bsolange wir hier\b|\b(?:heute nur|nur heute|für heute)\b|\bpour aujourd'hui\b|\bpor hoy\b|\bpor hoje\b|\bper oggi\b|今日は|今天",
        ("for the rest of this session don't download anything", "Answer briefly until we're done."),
        ("From today on we tag releases.",),
    ),
    _veto(
        "this branch",
        "branch",
        r"\bthis branch\b|\b(?:on|for|in) (?:the )?branch [\w.-]+/[\w./-]+|\b(?:while|as long as) (?:we|i)(?:'re|'m| are| am) on \S+|\b(?:on|for|in) (?:the )?(?:feature|feat|fix|bugfix|hotfix|spike|release|chore|exp|wip)/[\w./-]+",
        ("For this branch I don't care about tests.", "For spike/duckdb no tests.", "On branch feature/x we use the old API."),
        ("Branches are named after tickets.",),
    ),
    _veto(
        "everywhere",
        "everywhere",
        r"\b(?:in|across|for|on|with) (?:all|every|any|whatever|whichever|each)(?: of)?(?: my| the| our)? (?:projects?|repos?(?:itor(?:y|ies))?|codebases?)\b|\b(?:no matter|regardless of|whatever|whichever|irrespective of)(?: in)?(?: which| what| the)? (?:project|repo)\w*\b|"
        r"\ball (?:of )?my (?:projects?|repos?\w*)\b|\bnot just here\b|\bin general,? everywhere\b|\balways with me\b|\banything i do\b|\bwherever i\b|^everywhere\b|\beverywhere i\b|\bscripts i write anywhere\b|\bin every (?:project|repo)\b|"
        r"\bin (?:allen|jedem) (?:meinen )?(?:projekten?|repos?)\b|\begal (?:in )?welche[ms]? (?:projekt|repo)\b|\bpeu importe le (?:projet|dépôt)\b|\bdans tous mes projets\b|\ben todos (?:mis|los) proyectos\b|\bem todos (?:os )?meus projetos\b|\bin tutti i (?:miei )?progetti\b|どのプロジェクト|所有项目",
        ("In all my projects, no telemetry.", "Use uv no matter which repo.", "Peu importe le projet, réponds en français."),
        ("Type hints everywhere please.", "All projects in the solution build."),
    ),
)  # fmt: skip

# A quotation of more than two words is somebody's text, not a statement; a name in quotes stays.
_QUOTED = re.compile(
    r"\"[^\"\n]{1,600}\"|“[^”\n]{1,600}”|„[^“”\n]{1,600}[“”]|«[^»\n]{1,600}»|「[^」\n]{1,400}」|"
    r"(?<![\w])'[^'\n]{8,400}'(?!\w)|(?<!\w)‘[^’\n]{8,400}’(?!\w)|`[^`\n]{1,400}`"
)
QUOTATION = '"…"'
# A line that introduces something pasted below it; not one that introduces rules.
_INTRODUCES = re.compile(
    r"^(?!.*\b(?:rules?|conventions?|guidelines?|please|remember|always|from now)\b).*:[ \t]*$",
    re.I,
)
_EMPTY_LINES = re.compile(r"\n[ \t]*\n\s*")
_LONG = 12  # words: a paragraph of so many, below a line that introduces it, is somebody's text
# A line that a program printed: after a prompt sign or a time, with a place in code, a level, a mark.
_PRINTED = re.compile(
    r"\A[ \t]*+(?:[❯$%] +\S|\d{4}-\d\d-\d\d[T ]\d|\[\d\d:|[\w./-]+\.\w{1,5}:\d+[: ]|[✓✗✔✖×] |--- (?:FAIL|PASS)\b|"
    r"(?:remote|fatal|error|warning|panic): |Traceback \(|commit [0-9a-f]{7,40}\b|\S[^\n]{0,200}\.\.\.$)",
    re.IGNORECASE,
)
_LAUGHING = re.compile("[😂🤣😆😜😝😉🙃]")
# What the user said at another time.
EARLIER = re.compile(
    r"\bremember (?:when|how|that) i\b|\b(?:i|we) (?:once |earlier |previously |originally )?(?:said|told you|asked (?:you|for)|wanted|insisted|used to)\b|\bearlier i\b",
    re.IGNORECASE,
)
# What the user said to somebody else.
TO_OTHERS = re.compile(
    r"\b(?:i|we) (?:just |once |already )?(?:told|asked|reminded|warned|said to) (?!you\b)\w",
    re.IGNORECASE,
)
# A sentence that begins so may take back the one before it.
HESITATES = re.compile(
    r"^(?:\(?(?:hm+|hang on|hold on|wait|sorry|no\b|nope|actually|eh|oh|well|but then|although|though|moment|anyway|seriously|kidding)\b)",
    re.IGNORECASE,
)
_RULED = re.compile(r"[-=*_~]{3,80}+")
_REPORTED = next(one for one in VETOES if one.name == "reported speech")
LAUGHS = next(one for one in VETOES if one.name == "laughter").pattern
BLAMES = next(one for one in VETOES if one.name == "what the agent did").pattern
# "What new models have to beat is the forest": its subject begins with the word of a question, and
# the order of its words is that of a statement.
_CLAUSE_AS_SUBJECT = (
    r"(?!(?:what|where|how|who|which|why) "
    r"(?:(?:we|you|i|they|he|she|it|everyone|everybody|nobody|our|my|this|these|those)\b[^?,;]{1,80}"
    r"|(?:(?!\b(?:do|does|did|is|are|was|were|can|could)\b)[^?,;]){1,60}\b(?:have to|has to|need to|needs to|must|should|may|will)\b[^?,;]{1,60})"
    r"\b(?:is|are|was|were|stays|goes) [^?]{2,300}$)"
)
QUESTION = re.compile(
    r"\?[\s\"')]*$|^(?:(?:so|and|but|ok(?:ay)?|hm+|also|or|btw),? )*"
    + _CLAUSE_AS_SUBJECT
    + r"(?:what|why|how|where|which|who|whose|when(?! (?:you|we|i|in|a|the|there|fixing|writing)\b)|is|are|was|were|does|"
    r"do(?! (?:not|it|that|this|the)\b)|did|has|have (?:you|we|i)|can|could|would|should|shall|wasn't|isn't|aren't|don't we|am i)\b(?! (?:you|we) (?:please |always |never |not |all )*(?:always|never|not|keep|stop)\b)",
    re.IGNORECASE,
)


# "..., can you set the proxy?"
ASKS_AT_ITS_END = re.compile(
    r"(?<=\w), (?:so |and |then )?(?=(?:can|could|would|will) you\b)", re.IGNORECASE
)


def own_words(text: str) -> str:
    """A prompt without the texts of others: quotations, what a program printed, and what follows a
    line that introduces something pasted, or a ruled line. Laughter that is a sign becomes a word."""
    text = _LAUGHING.sub(" haha ", without_own_command(text))
    kept: list[str] = []
    pasted = False  # the rest of the paragraph, or of the prompt
    paragraphs = [one.splitlines() for one in _EMPTY_LINES.split(text)]
    if len(paragraphs) > 2 and all(map(_is_heading, paragraphs[:2])):
        return QUOTATION  # a document with its headings: a review, an issue
    for lines in paragraphs:
        if pasted and lines and (_is_heading(lines) or _is_text(lines)):
            break
        pasted = False
        if any(map(_PRINTED.match, lines)):
            kept.append(QUOTATION)
            continue
        for line in lines:
            if _RULED.fullmatch(line.strip()) and kept:
                kept.append(QUOTATION)
                return _QUOTED.sub(_unquoted, "\n".join(kept))  # below it stands a document
            if pasted:
                continue
            pasted = bool(_INTRODUCES.match(line[:300]))
            kept.append(f"{line} {QUOTATION}" if pasted else line)
        kept.append("")
    return _QUOTED.sub(_unquoted, "\n".join(kept))


def _is_heading(lines: Sequence[str]) -> bool:
    """One short line that is no sentence."""
    line = lines[0].rstrip() if len(lines) == 1 else ""
    return 0 < len(line.split()) < _LONG and line[-1].isalnum() and line[0].isupper()


def _is_text(lines: Sequence[str]) -> bool:
    """A paragraph of somebody who writes more carefully than people do in a prompt."""
    return lines[0][:1].isupper() and len(" ".join(lines).split()) >= _LONG


def _unquoted(found: re.Match[str]) -> str:
    most = 5 if found[0][0] == "`" else 2
    return found[0] if len(found[0].split()) <= most else QUOTATION


def effects(sentence: str) -> dict[Effect, str]:
    """The effects of the vetoes that apply to a sentence, each with the words that cause it."""
    if len(sentence) > LONGEST:
        return {"nothing": ""}
    found: dict[Effect, str] = {}
    for one in VETOES:
        if one.effect not in found and (match := one.pattern.search(sentence)):
            found[one.effect] = match[0]
    return found


def is_no_statement(sentence: str) -> bool:
    """Whether a veto but that of reported speech says that a sentence states nothing for certain:
    what somebody else decided ("the publisher insists on 60 fps") may bind the project."""
    if len(sentence) > LONGEST or QUOTATION in sentence:
        return True
    weighty = (one for one in VETOES if one.effect in ("nothing", "unsure", "turn", "takes back"))
    return any(one.pattern.search(sentence) for one in weighty if one is not _REPORTED)


# What a sentence is instead of a statement of the user's, by the veto that says so.
_UNMEANT = {
    "reported speech": "reported speech",
    "introduces a quotation": "a quotation",
    "text to be written": "a text to be written",
    "what the agent did": "about what the agent did",
    "laughter": "a joke",
    "sarcasm": "a joke",
    "asks to be told": "a question",
    "somebody else's work": "about somebody else",
    "what if": "a what-if",
    "not ours": "not the user's own view",
}


def unmeant(sentence: str) -> str:
    """What a sentence is if it is no statement of the user's; empty if no veto says so."""
    if len(sentence) > LONGEST:
        return "a pasted text"
    return next(
        (_UNMEANT[one.name] for one in VETOES
         if one.name in _UNMEANT and one.pattern.search(sentence)),
        "",
    )  # fmt: skip
