# ruff: noqa: E501  (patterns are read line by line)
"""Wordings that state a rule, a decision, a fact, or the end of one, and hardly ever anything else.

Data: each cue has examples that it must match and examples that it must not (a test runs them), and
`python -m tests.bench.statements` prints its hits and precision on labelled sentences. A cue
alone makes nothing: vetoes come before it, and `sentence_kind` must not speak against it.
"""

import re
from typing import Literal, NamedTuple

StatementKind = Literal["rule", "decision", "fact", "end"]


class Cue(NamedTuple):
    name: str
    kind: StatementKind
    pattern: re.Pattern[str]
    yes: tuple[str, ...]
    no: tuple[str, ...]


def _cue(
    name: str, kind: StatementKind, pattern: str, yes: tuple[str, ...], no: tuple[str, ...] = ()
) -> Cue:
    return Cue(name, kind, re.compile(pattern, re.IGNORECASE), yes, no)


_SO = (
    r"(?:(?:please|and|also|but|so|ok(?:ay)?|btw|remember|note|important|in general|oh)[\s,:.]+)*+"
)
_NAME = r"[\w@./+-]++"

CUES: tuple[Cue, ...] = (
    # --- the end of something: before rules, whose words it repeats ---
    _cue(
        "what was asked for is over", "end",
        r"\b(?:i|we) (?:once |earlier |previously |had )?(?:said|told you|asked(?: you)?|wanted|insisted)\b.{1,160}\b(?:forget|scrap|drop|ignore|skip|fine|over|gone|off|no longer|any ?more|instead|again|now)\b"
        r"|\b(?:the|that|my|our) (?:\w+ )?(?:rule|thing|convention|requirement|restriction|ban|lock|limit|policy|instruction|note|preference|freeze)\b.{0,100}\b(?:lifted|gone|over|off|void|dropped|history|let go|no longer|any ?more|any longer|doesn't apply|ended|forget|scrap\w*|ignore)\b"
        r"|\b(?:forget|scrap|drop|ignore|cancel|revoke|remove|lift|undo|disregard|relax|take back) (?:about )?(?:the|my|that|our|what i) (?:\w+ ){0,4}(?:rule|said|convention|instruction|requirement|restriction|preference|note|policy|ban)\b",
        ("I said every endpoint needs an annotation, forget that.", "The lock I put on theme.css, consider it lifted.", "Drop the rule about changelogs.",
         "the thing with asking me before touching /proto, you can let go of that"),
        ("Remove the limit in parse().", "I said the other file."),
    ),
    _cue(
        "no longer needed", "end",
        r"\b(?:you|we|i|there's|there is|it's|it is) (?:don't|do not|no longer|needn't|no|not)\b.{0,30}\b(?:need|have to|has to|necessary|require|care|mind|bother|ask|want)\b.{0,120}\b(?:any ?more|any longer)\b"
        r"|\byou (?:no longer (?:need|have) to|needn't) \w+|\bno (?:longer|more) (?:need|required|necessary)\b|\bno need (?:to|for)\b.{1,120}\b(?:any ?more|any longer)\b"
        r"|\byou can (?:stop|drop|skip|forget) (?:with |about )?(?:\w+ing|the|that|those)\b"
        r"|\b(?:muss|musst|müsst|müssen|brauchst|braucht|brauchen)\b.{1,80}\bnicht mehr\b|\bkannst? du\b.{1,80}\b(?:sein lassen|weglassen|dir sparen)\b"
        r"|\b(?:plus besoin de|tu n'as plus à|ya no hace falta|ya no tienes que|não precisa mais|non serve più|non devi più)\b|もう.{0,40}(?:必要ない|なくて(?:も)?いい)|不用再|不需要再|(?:^|[，。！；]|我们|请|以后)不再",
        ("You don't need to ask before committing any more.", "You no longer have to regenerate the client.", "You can stop with the release notes.", "Das musst du ab jetzt nicht mehr fragen.",
         "テストはもう書かなくていいです。", "不再使用pnpm了。"),
        ("You don't need to run it.", "服务不再响应。"),
    ),
    _cue(
        "allowed again", "end",
        r"\b(?:is|are|it's|'s) (?:fine|ok(?:ay)?|allowed|welcome|good) (?:again|now|these days|from now on)\b|\byou (?:can|may|are free to) (?:\w+ ){1,6}again\b|\b(?:can|may) (?:use|add|push|mock|do) \S+.{0,30} (?:after all|again)\b",
        ("Emojis are fine now.", "You may reformat files again.", "We can use lodash after all."),
        ("You can try it now.", "Is it fine?"),
    ),
    _cue(
        "no longer so", "end",
        r"\b(?:we|i|they|\w+s?)(?:'re| are| is| do| does|'ve| have)?(?:n't| not)? (?:no longer|stopped|got rid of|gave up on|given up on|done with)\b (?!work|start|see|find|get|sure)\w+|\b(?:isn't|aren't|don't|doesn't|not) (?:\w+ ){1,8}any ?more\b(?!.*\?)",
        ("We no longer squash merges.", "Jest is no longer used.", "the default branch isn't master any more"),
        ("It doesn't start.",),
    ),
    # --- a changed or made decision ---
    _cue(
        "changed my mind", "decision",
        r"\b(?:i|we)(?:'ve| have)? changed (?:my|our) minds?\b|\bchange of plans?\b|\bon reflection\b|\b(?:ich habe|hab) (?:es )?mir anders überlegt\b|\bj'ai changé d'avis\b|\b(?:he )?cambi(?:é|ado) de (?:idea|opinión)\b|\bmudei de ideia\b|\bho cambiato idea\b|気が変わ|改主意",
        ("I changed my mind: use yaml after all.", "J'ai changé d'avis, gardons npm."),
    ),
    _cue(
        "moved to", "decision",
        r"\b(?:we|i|they|we've|i've)(?: have| just| recently| finally| all)* (?:switched|moved|migrated|ported|gone|went|upgraded|converted) (?:\w+ ){0,4}?(?:from|to|over to|off|back to)\b (?!the (?:next|other|top|bottom)|bed\b)"
        r"|\b(?:took|takes|has taken) over\b|\b(?:replaced|swapped) \S+ (?:with|for|by) \S+|\b(?:has|have|was|were|got|is) (?:been )?(?:moved|migrated|switched|renamed|raised|lowered|bumped|ported) (?:over )?to\b"
        r"|\bsind (?:\w+ ){0,4}(?:umgestiegen|umgezogen|gewechselt)\b|\b(?:komplett )?auf \S+ umgestellt\b|\bon (?:est|a) pass[ée]s? (?:à|sur)\b|\bhemos (?:pasado|migrado|cambiado) a\b|\bnos mudamos a\b|\bmigr[aá]mos para\b|\b(?:siamo passati|abbiamo migrato) a\b|に(?:移行|切り替え|変更)し|(?:改用|迁移到|换成|切换到)了?",
        ("We switched to pnpm last week.", "Priya took over billing.", "Wir sind auf Logback umgestiegen.", "テストはVitestに移行しました。", "我们改用pnpm了。"),
        ("Move the file to src.", "I went to bed."),
    ),
    _cue(
        "decided", "decision",
        r"\b(?:we|i|team|product|client|customer|they)(?:'ve| have| had| all| just| both| finally)* (?:decided|agreed|settled|opted|chose|picked|voted|ended up with|landed on|committed to)\b(?! (?:to (?:look|run|check|try|wait)|up\b))"
        r"|\b(?:it is|it's|that's) decided\b|^(?:decision|decided)\s*:|\b(?:call has been made|final decision)\b|\bwir haben (?:uns )?(?:\w+ ){0,6}(?:entschieden|geeinigt|beschlossen)\b|\bon a (?:décidé|choisi|retenu)\b|\b(?:hemos decidido|decidimos|acordamos)\b|\babbiamo (?:deciso|scelto)\b|に決ま|ことに(?:し|決)|我们?决定",
        ("We settled on pnpm yesterday.", "The team voted for trunk based development.", "On a décidé de garder Postgres.", "認証はCookieで行くことに決まりました。"),
        ("I decided to look at the logs.", "You decided on Tuesday."),
    ),
    _cue(
        "going with", "decision",
        r"\b(?:we're|we are|i'm|we'll|we will|let's|i'd|we) (?:just )?(?:go(?:ing)?|stick(?:ing)?|stay(?:ing)?) (?:with|for)\b(?! (?:now|it|that|this|the flow|a (?:walk|break)))|^(?:(?:ok|okay|so|agreed|yes|fine),? )*+(?:[\w.]++ ){1,3}it is(?:[.,!]| then)|\bwe're (?:dropping|keeping|moving to|switching to|cutting|not (?:doing|going to|using|supporting))\b|\bwe(?:'ll| will| won't) (?:use|drop|keep|support|stay|stick|ship|store|take|write|do)\b",
        ("We're dropping Windows support.", "Let's stick with Jenkins.", "Postgres it is.", "We won't support Python 3.9."),
        ("Let's go.", "let's go on"),
    ),
    _cue(
        "option by its number", "decision",
        r"\b(?:so|then|use|take|go with|do|pick|choose|yes|ok),? (?:option|approach|variant) (?:\d|[a-d])\b|^(?:option|approach|variant) (?:\d|[a-d])\b",
        ("we run three nodes, so option 2", "Option 3 it is."),
        ("what does option 2 cost",),
    ),
    _cue(
        "it is now", "decision",
        r"\b(?:is|are|it's|go(?:es)?|lives?|runs?|sits?|belongs?) (?!(?:broken|green|red|failing|stuck|slow|down|gone|weird|done|working|fine|ok)\b)(?!it\b)(?:(?:on|in|at|to|with|under|the|a|by|all|just|called) )*[\w./@-]+(?: [\w./@-]+){0,2} (?:now|these days|as of \w+|since (?:monday|tuesday|wednesday|thursday|friday|last \w+|the \w+))\b(?<!\bfor now)(?<!\bright now)|\bnow (?:uses?|runs? on|lives? (?:in|on|at)|belongs? to|goes? to)\b|\b(?:limit|default|timeout|target|minimum|maximum|deadline|retention|port|version) (?:is now|changed to|went up to|goes up to|moved to|is \d)",
        ("the api lives on Fly now", "It's on staging-eu.harborline.dev now", "The limit is now 100.", "errors go to GlitchTip now"),
        ("What is it now?",),
    ),
    # --- rules ---
    _cue(
        "from now on", "rule",
        r"\b(?:from (?:now|here|today) on|from now\b|going forward|moving forward|as a rule|henceforth|ab (?:jetzt|sofort)|künftig|in zukunft|dorénavant|désormais|à partir de maintenant|a partir de ahora|de ahora en adelante|a partir de agora|daqui em diante|d'ora in poi|da ora in poi)\b|今後は|これからは|以后|从现在(?:起|开始)|今后",
        ("From now on ask me first.", "Ab jetzt bitte nur Englisch.", "Désormais, pas de commits directs.", "今後は英語でコミットしてください。", "以后提交信息都用英文。"),
    ),
    _cue(
        "always and never", "rule",
        rf"^{_SO}(?:always|never|(?:don't|do not) ever) (?!mind|saw|seen|had|got|been|again|worked|heard|happened|the\b|a\b|in\b)\w+\b(?<!s)"
        r"|(?:[,;:—-]|\b(?:and|but|please|we|you|(?:we|you|all|everything|everyone|\w+s) (?:must|should|have to)|(?:remember|sure|you|try|want) to)) (?:always|never) (?!mind|ever\b|seen|heard|saw|know|knew|thought|had\b|gets?\b|got|been|was\b|is\b|are\b|be (?:able|sure)|a\b|the same|found|works?|fails?|happens?|returns?|read\b)\w+"
        r"|\b(?:immer|niemals|grundsätzlich) (?:\S+ ){0,8}\w+(?:en|est|e|t)\b|\b(?:toujours|jamais)\b|\b(?:siempre|nunca|jamás)\b|\b(?:sempre|nunca|jamais)\b|\b(?:sempre|mai)\b|必ず|いつも|絶対に|常に|总是|始终|一律|必须|务必|都用",
        ("Always use uv.", "Never log the request body.", "we always pin images", "Bitte immer auf Deutsch antworten.", "N'utilise jamais any.", "Usa siempre pytest.", "必ずテストを書いてください。", "这个项目的提交信息都用英文写"),
        ("It never works on my machine.", "Never mind.", "The test always fails."),
    ),
    _cue(
        "every one must", "rule",
        rf"^{_SO}(?:(?:all|every|each|any|no|new|nothing|nobody|none|only)\b(?: [\w./'-]+){{0,6}}? (?:must|has to|have to|needs?|should|shall|goes?|gets?|are|is|comes?|may|can|stays?|lives?|belongs?|push(?:es)?|merges?)\b (?!broken|wrong|failing|red|empty|missing|duplicated|done|green|now\b|pass\b|be (?:green|fixed)))",
        ("Every new endpoint needs an integration test.", "All timestamps have to be stored in UTC.", "Nobody pushes to main directly."),
        ("All tests are failing.", "Every row is duplicated."),
    ),
    _cue(
        "forbidden or required", "rule",
        r"\b(?:is|are|'s) (?:strictly )?(?:forbidden|banned|mandatory|required|off limits|not allowed|not acceptable|discouraged|a no-go|verboten|pflicht|prohibido|interdit\w*|vietat\w+|proibid\w+)\b|禁止|しないでください|使わないで|不要(?:再)?|不许|别再|\b(?:\w+s|nothing|nobody|all|everything) must (?:never|not)\b",
        ("Wildcard imports are not allowed.", "Public functions must not panic.", "不要提交到main分支。", "anyは使わないでください。"),
        ("Required.",),
    ),
    _cue(
        "this, not that", "rule",
        rf"\b(?:use|prefer|write|take|call it|name it|put|want|wants|need)\b (?:\S+ ){{1,8}}?(?:instead of|rather than|over|,? (?:and )?not|statt|anstatt|en vez de|au lieu de|invece di|em vez de) {_NAME}|^{_NAME}(?: {_NAME}){{0,3}}, not (?!yet|sure|now|only){_NAME}(?: {_NAME}){{0,2}}[.!]?$",
        ("Use pnpm here, not npm.", "I want errors wrapped rather than swallowed.", "yarn, not npm"),
        ("Not yet.",),
    ),
    _cue(
        "stop doing", "rule",
        rf"^{_SO}(?:stop|quit|avoid|refrain from) \w+ing\b.{{4,}}|\bhör auf\b|\barrête de\b|\bdeja de\b|\bpare de\b|\bsmetti di\b|(?:する|書く|使う)のを?やめて|别再",
        ("Stop adding comments that repeat the code.", "Hör auf, Kommentare zu schreiben.", "Arrête de mettre des emojis."),
        ("Stop the server.",),
    ),
    _cue(
        "how we work", "rule",
        r"^(?:please |ok(?:ay)?,? |and )*use \S{1,60}(?: \w+){0,3} not \S|\b(?:in this (?:repo|repository|project|codebase|crate|package|monorepo)|in our (?:repo|codebase|project)s?|over here|with us|bei uns|chez nous|por aquí|aqui no time|da noi)\b.{3,}|\b(?:is|that's) (?:our|the team's) (?:convention|style|policy|rule|way)\b|\bour (?:convention|policy|style|rule)\b|このプロジェクトで|这个(?:项目|仓库)",
        ("In this repo indexes are built concurrently.", "Our convention is kebab-case for file names."),
        ("Style is a matter of taste.",),
    ),
    _cue(
        "my wish", "rule",
        r"\b(?:i|we)(?:'d)? (?:really |much |always |generally )?(?:prefer(?! not to\b)|rather (?:you|not|have|see)|(?:hate|dislike|can't stand) (?!this|that|it\b|how)|don't (?:want|need|like) (?!to know|to see the|it\b|this\b|that\b))|\bi (?:want|expect|insist|like) (?!to (?:see|look|understand|know|try|check)\b)(?:\w+ ){1,8}?(?:before|every time|each|always|never|first|instead)\b|\bich (?:will|möchte) (?:kein\w*|nie|immer)\b|\bje préfère\b|\bprefiero\b|\bprefiro\b|\bpreferisco\b",
        ("I'd rather not see the database mocked.", "I prefer early returns.", "I don't need the recap at the end."),
        ("I don't want it.", "I like it"),
    ),
    _cue(
        "whenever", "rule",
        rf"^{_SO}(?:(?:whenever|every time|each time|any time)(?! (?:someone|somebody|the \w+ \w+ we)\b)|before (?:you(?! (?:continue|start|go on)\b)|every|each|any)|after (?:every|each)|if you (?:add|change|touch|edit|rename|create|need)|when (?:you|we) (?:add|change|write|touch|edit|rename|need|commit|fix|refactor|ask|reference)|when i ask)\b(?! .*\b(?:crash|fail|break|jump|reload|complain)).{{10,}}",
        ("Whenever you change the schema, regenerate the client.", "If you add a setting, document it in docs/settings.md."),
        ("Whenever I click it the page crashes.",),
    ),
    # --- plain forms in other languages: what we do, no longer do, or only do ---
    _cue(
        "our habit, in German", "rule",
        r"\bwir (?:verwenden|nutzen|benutzen|loggen|schreiben|nehmen|bleiben|siezen|duzen|testen|bauen|haben uns)\b|\b(?:siezen|duzen|verwenden|nutzen|schreiben) wir\b|\bnicht mehr\b|\bnur noch\b|\bgehör(?:t|en) (?:in|nach|unter)\b|\bkein\w* \w+.{0,40}\b(?:ohne|mehr)\b|\bwichtig,? dass\b|\bkommentare\b.{0,40}\bauf\b|\bantworte\b.{0,40}\bauf\b",
        ("Wir loggen hier mit log4j2.", "Änderungen gehören in schema/*.yaml.", "Wir nutzen npm nicht mehr."),
        ("Schreib bitte den Test.",),
    ),
    _cue(
        "our habit, in French", "rule",
        r"\b(?:on|nous) (?:n')?(?:utilis\w+|écri\w+|gard\w+|rest\w+)\b|\bn[e']\s?\w+ plus\b|\bplus de \w+ dans\b|\bréponds(?:-moi)? en\b|\bpas de \w+ (?:dans|sans|en)\b|\bil faut (?:toujours|que)\b",
        ("On utilise pnpm ici.", "Réponds-moi en français.", "Pas de secrets dans le dépôt."),
        ("Ajoute un test.",),
    ),
    _cue(
        "our habit, in Spanish", "rule",
        r"\b(?:no )?(?:usamos|utilizamos|desplegamos|escribimos)\b|\bya no\b|\bnos quedamos con\b|\bresponde\w* en\b|\bno (?:hagas|uses|pongas|toques)\b|\b(?:corre|vive|está) (?:a las|en)\b.{1,60}\bno en\b",
        ("Ya no usamos Jest.", "Nos quedamos con Redis.", "No uses var."),
        ("Arregla el cálculo.",),
    ),
    _cue(
        "our habit, in Portuguese", "rule",
        r"\b(?:não )?(?:usamos|utilizamos|a gente usa)\b|\bnão \w+ mais\b|\btudo vai\b|\bfic(?:amos|ou) com\b|\bresponda em\b|\bnão (?:use|faça|mexa|coloque)\b",
        ("A gente usa pnpm.", "Texto fixo não passa mais no review."),
        ("Adiciona a tela.",),
    ),
    _cue(
        "our habit, in Italian", "rule",
        r"\b(?:non )?(?:usiamo|utilizziamo|scriviamo|facciamo)\b|\bnon \w+ più\b|\bniente \w+|\brispondi\w* in\b|\bnon (?:usare|toccare|mettere)\b|\busa ancora\b",
        ("Usiamo pnpm.", "Quindi lì niente ES modules.", "Non usare any."),
        ("Mi sistemi il datepicker",),
    ),
    _cue(
        "our habit, in Japanese or Chinese", "rule",
        r"ではなく|なしで|のみ(?:使|を)|だけ(?:を?使)|を使います|を使ってください|にしてください|只(?:用|能|允许)|我们(?:用|使用|不用)|不用|而不是",
        ("npmではなくpnpmを使ってください。", "我们用pnpm，而不是npm。"),
        ("テストを追加して。",),
    ),
    # --- facts ---
    _cue(
        "for your information", "fact",
        r"^(?:fyi|heads up|just so you know|for context|for background|keep in mind|note that|be aware|note|zur info|pour info|para tu información)\b[,: ]+.{8,}",
        ("FYI the CI machines have only 4 GB.", "Heads up, make test takes 25 minutes."),
    ),
    _cue(
        "who and where", "fact",
        r"\b(?:is|are) (?:deployed|hosted|owned|maintained|written|stored|kept|defined|built|generated|published|served|handled) (?:on|to|in|at|by|with|under|from)\b|\b(?:lives?|sits?|resides?) (?:in|on|under|at|next to)\b|\b(?:owns|maintains|is responsible for|looks after) (?:the )?\w+|\blistens on\b|\b(?:is|are) the one (?:to ask|who)\b",
        ("Kenji owns the terraform modules.", "Feature flags live in flags.yaml.", "The site is hosted on Fly."),
    ),
    _cue(
        "not this but that", "fact",
        rf"\b(?:is|are|comes?|sits?|lives?|goes?|runs?|means?|uses?|has|have)\b (?:\S+ ){{1,8}}?,? ?not (?:in |on |by |from |the |a |an |to |per |with )*(?!sure|yet|only|working|found){_NAME}(?: {_NAME}){{0,2}}[.!]?$|\b(?:isn't|aren't|is not|are not|doesn't|don't|not)\b.{{3,60}}[,.;:] (?:it's|its|it is|they (?:are|sit|live|go)|they're|but) \w+",
        ("The ids are UUIDs, not integers.", "Our CI is Buildkite, not GitHub Actions.", "the tests aren't in tests/, they sit next to the source"),
        ("It is not working.",),
    ),
)  # fmt: skip


def cue(sentence: str) -> Cue | None:
    """The first cue that a sentence has; the order of the table is the order of strength."""
    return next((one for one in CUES if one.pattern.search(sentence)), None)
