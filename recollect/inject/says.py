"""What a prompt names: a topic, some chore, or nothing to look for.

In: a prompt. Out: "topic", "chore" or "nothing". "Yes, go on" would match whatever holds these
words, and no memory of it helps; "run the tests" is helped by what holds for every test run, not by
the turns in which tests were run.
"""

from typing import Literal

from recollect.core.text_words import STOP_WORDS
from recollect.retrieve.query import parse

Says = Literal["topic", "chore", "nothing"]

MOST = 24  # words: what is longer has something to say
_DIGITS = 2  # "option 2" names nothing, "error 404" does

# Words that carry a conversation on, and words for whatever it is about just now. The last lines
# are the commonest ones of some other languages (of Chinese and Japanese, pairs of characters).
_TALK_TEXT = """
above actually add adding adjust afternoon again agree agreed ah ahead all already amazing
another answer anything apply aren ask asked asking awesome bad begin believe below best better
big bigger bit both break breaks brilliant broke broken bug bugs build bye cancel cannot care
carry certain change changed changes changing check cheers choice choose clarify clean cleaner
cleanup code complete completed confirm continue cool correct couldn course crash crashes create
current delete describe didn difference different differently display do does doesn don double
drop each easier easy edit either elaborate else error errors evening every everything exactly
excellent exit explain fail failed failing fails failure far fast faster file files finally find
fine finish finished first fix fixed fixes fixing following former fourth function generate get
gets getting give good goodbye got great guess haha halt handle happen happened happening
happens hard hate hello help helps hey hi hm hmm hold huh idea ideas ignore implement improve
indeed instead isn issue issues k keep know last later latest latter leave left let lets lgtm
like likes line lines list lol long longer look looking looks love lovely made make makes matter
maybe mean means meant mind modify morning move nah need needs neither never next nice nicer
none nope nothing odd off oh ok okay once open opened opinion option options other pardon part
pass passes passing pause perfect perhaps pick plan please polish possible prefer previous print
probably problem problems proceed properly put question questions quick quickly quit quite read
ready really reason recall recommend recommendation redo refactor remaining remember remembered
remind remove rename repair replace reset rest restore resume retry revert rework rewrite right
same second see seem seems sense set short shorter show side similar simple simpler simplify
skip slow slower slowly small smaller solve something soon sorry sort sound sounds start status
step steps still stop strange stuff suggest suggestion suggestions summarise summarize sure swap
switch task tasks tell test thank thanks thing things think third thought thoughts thx tidy
tried try trying turn tweak twice ty typo typos understand understood undo update updates use
using verify wait want wants wasn way ways weird whatever won wonderful work worked working
works worry worse wow write wrong ya yeah yep yet yup
weiter ja nein danke bitte gut genau nochmal noch mal mach machen das es los stimmt passt hallo
oui non merci continuer vas encore bien voila bonjour
si gracias sigue continua continuar vale bueno hola otra vez hazlo
sim nao obrigado obrigada continue isso
grazie prego avanti ancora ciao va bene
继续 好的 谢谢 可以 是的 はい 続け ける けて お願 願い いし しま ます
"""
# Chores of every project: what is known of them in general may help.
_CHORES_TEXT = """
branch build builds built bump changelog ci cleanup comment comments commit commits
committed compile coverage debug dependencies dependency deploy deployed deployment deploys
description diff doc docs document documentation execute feedback format formatted
formatting install lint linter linting log logging logs main master merge merged message
patch pipeline pr prs publish pull push pushed ran readme rebase release releases rerun
review reviewed reviews run running runs ship stage staged stash suite test tested testing
tests title todo trace type typecheck types version
"""
_CHORES = frozenset(_CHORES_TEXT.split())
_IDLE = STOP_WORDS | frozenset(_TALK_TEXT.split()) - _CHORES


def says(text: str) -> Says:
    """What a prompt names."""
    query = parse(text[:1000])
    if len(query.words) > MOST or query.identifiers or query.phrases or len(text) > 1000:
        return "topic"
    own = [word for word in query.words if word not in _IDLE and not _small(word)]
    if not own:
        return "nothing"
    if all(word in _CHORES for word in own):
        return "chore"
    return "topic"


def _small(word: str) -> bool:
    return len(word) == 1 or (word.isdigit() and len(word) <= _DIGITS)
