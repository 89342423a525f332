"""Words of sentences that tell a password which is a plain word or a number, by language.

In: nothing. Out: tables, all in lower case. `TELLING` are the links after which a bare word is a
value; `ABOUT` are words and endings (`-lich`) that describe a password instead ("ist ungültig").
What can go wrong: a describing word that is missing here is taken for a password.
"""

from recollect.privacy.patterns import words

# Links that lead to a value only after a verb that says that it was changed.
CHANGED_TO = "to|auf|in|a|à|en|para|naar|op|na|на|por|إلى"
CHANGES = (
    "set|chang|reset|switch|rotat|updat|put|änder|aender|setz|stell|geänd|mets|mis |cambi|pon"
    "|impost|mud|troc|verander|zet|zmie|ustaw|помен|смен|измен|постав|установ|غير"
)
# By the first noun of its language in `languages.py`.
TELLING: dict[str, str] = {
    "password": "is|was|will be|should be|happens to be|is just|is now|is still|has been set to"
    "|was set to|was changed to|changed to|remains|ist|lautet|est|c'est|c’est|es|sigue siendo"
    "|è sempre|è|e'|è ancora|é|olarak|это",
    "passwort": "ist|lautet|heißt|heisst|war|wäre|bleibt|ist jetzt|ist immer noch|ist noch",
    "mot de passe": "est|c'est|c’est|sera|était|reste|est toujours|c'est toujours|est encore",
    "contraseña": "es|era|será|sigue siendo|es ahora|es todavía",
    "parola d'ordine": "è|e'|era|sarà|è sempre|è ancora|resta",
    "senha": "é|era|será|continua sendo|ainda é|agora é|é ainda",
    "wachtwoord": "is|was|luidt|wordt|is nog steeds|is nog|is nu|blijft",
    "hasł": "to|brzmi|to nadal|to teraz",
    "парол": "это|такой|будет|теперь|всё ещё|все ещё|прежний",
    "şifre": "hâlâ|hala|olarak|artık|şu|sorarsa|sorulursa|isterse|istenirse",
    "كلمة المرور": "هي|هو|كانت|لا تزال",
}
ABOUT: dict[str, str] = {
    "passwort": (
        "allen alt anders bekannt da dasselbe defekt derselbe dir dort egal einmalig erforderlich"
        " extern falsch fertig futsch geheim gleich gratis gut hier hinterlegt identisch ihm ihr"
        " intern jedem kaputt keines keins klartext korrekt kurz lang leer mindestens mir mist neu"
        " nichts niemandem notwendig nötig okay pflicht privat provisorisch richtig schlecht"
        " schrott schwach sicher sichtbar stark tot umsonst uns unsicher uralt veraltet vorgegeben"
        " weg wichtig zufällig öffentlich -bar -ell -haft -iert -ig -isch -lich -los -ung"
    ),
    "mot de passe": (
        "ancien aucun bon cassé chiffre connu correct court faible faux fort hache identique"
        " inconnu incorrect invalide juste long mauvais mort même nouveau nul néant obsolète"
        " pareil perdu public requis rien secret valide vide vivant vrai -able -aire -al -el -ent"
        " -eux -ible -ique -lic -oire -uste -é -ée -és"
    ),
    "contraseña": (
        "buena correcta corta diferente débil falsa fuerte igual incorrecta insegura inválida"
        " larga mala nada ninguna nueva secreta segura simple vacía vieja válida única -able -ada"
        " -ado -al -ante -ente -ible -ida -ido -lica -lico -oria -orio -ria -rio -tica -ísima"
    ),
    "parola d'ordine": (
        "breve corretta debole diversa errata forte giusta lunga nessuna niente nuova"
        " obbligatoria sbagliata scaduta segreta sicura uguale unica valida vecchia vuota -abile"
        " -ale -aria -ata -ato -ente -ibile -ica -ita -ito -lica -nea -oria -orio -uta -uto"
    ),
    "senha": (
        "certa correta curta diferente errada forte fraca igual incorreta inválida longa nada"
        " nenhuma nova secreta segura simples vazia velha válida única -ada -ado -al -ente -ida"
        " -ido -lica -nea -ária -ável -ível -ória -ório"
    ),
    "wachtwoord": (
        "anders bekend dood fout geen geheim geldig gelijk goed hetzelfde hier juist kapot kort"
        " kwijt lang leeg niets nieuw nodig onbekend ongeldig onjuist onveilig openbaar optioneel"
        " oud sterk stuk veilig vereist verplicht weg zoek zwak -baar -eerd -ig -isch -lijk"
    ),
    "hasł": (
        "brak błędne coś jedno nie podstawa problem puste tajne ważne wszystko żadne -ne -te -we"
        " -łe"
    ),
    "парол": (
        "важно верный главное другой не неверный нет никакого новый основа плохо проблема пустой"
        " секрет старый строка тот хорошо этот -ать -ая -ем -ен -ий -ить -на -но -ое -ой -ся -ые"
        " -ый -ют"
    ),
    "şifre": (
        "aynı açık bozuk boş doğru eski gerekli geçerli geçersiz gizli güçlü herkeste hiçbiri"
        " kayıp kısa uzun yanlış yeni yok zayıf -di -dir -dur -dı -li -lı -siz -sız -unlu -yor"
        " -ünlü"
    ),
    "كلمة المرور": ("جديدة خاطئة سرية صحيحة ضعيفة غير فارغة قديمة قوية مطلوبة موجودة نفسها -ية"),
}
# German and Dutch participles.
PARTICIPLE = r"(?:ge|ver|be|ab|zer|er|ent|un|on|vor|zurück)[a-zäöüß]+(?:t|d|en)\Z"

# A number after one of these is a code that somebody types.
PINS = words("pin pincode pins otp passcode geheimzahl combination")
PIN_NAMES = (
    *("пин-код", "пинкод", "пин", "pin-код", "код доступа", "код подтверждения"),
    *("الرقم السري", "رمز الدخول", "رمز التحقق", "pin码", "pin碼", "验证码", "暗証番号"),
    *("認証コード", "핀번호", "인증번호", "código de acceso", "código de verificación"),
    *("código de acesso", "kod dostępu", "türcode"),
)
CODES = (  # the words before "code"
    *("pin", "access", "one time", "one-time", "verification", "security", "door", "alarm", "gate"),
    *("entry", "unlock", "lock", "login", "2fa", "mfa", "otp", "sms", "backup", "recovery", "safe"),
    *("confirmation", "garage"),
)
PHRASES = {"code": " code", "log": "log in", "sign": "sign in"}
LOGINS = words(
    "credentials creds login logins zugangsdaten logindaten anmeldedaten identifiants credenciales"
    " credenziali credenciais inloggegevens logowania bilgileri"
)
LOGIN_NAMES = (
    *("учётные данные", "учетные данные", "логин", "بيانات الدخول", "账号", "账户", "凭据"),
    *("ログイン情報", "로그인 정보", "계정"),
)
ENTERS = words(
    "login signin connect authenticate authenticates unlock unlocks decrypts prompted melde"
    " anmelden einloggen connecte connectez entra accedi inicia acessa inloggen zaloguj"
    " connecte-toi connectez-vous"
)
LATIN_NAMES = (*PIN_NAMES[-5:], "giriş")
ENTER_NAMES = (
    *("giriş", "войди", "зайди", "войти", "سجل الدخول", "登录", "登入", "ログイン", "로그인"),
)
NAMES = (*PIN_NAMES, *LOGIN_NAMES, *ENTER_NAMES)

# "If it asks for the password, type X."
ASKS = (
    *("ask", "prompt", "want", "request", "fragt", "verlangt", "demande", "pide", "pregunta"),
    *("solicita", "chiede", "richiede", "pedir", "pede", "vraagt", "zapyta", "pyta", "poprosi"),
    *("спрос", "запрос", "попрос", "sorar", "isters", "طلب", "سأل"),
)
TYPES = (
    "type|enter|use|give it|put in|try|gib|gebe|tippe|nimm|verwende|tape|tapez|saisis|entre|mets"
    "|utilise|escribe|pon|usa|introduce|teclea|scrivi|digita|inserisci|metti|digite|escreve|coloca"
    "|põe|typ je|typ|vul|gebruik|voer|wpisz|podaj|użyj|введи|введите|используй|набери|اكتب|أدخل"
    "|ادخل|استخدم"
)
# "Use X as the password."
USES = words(
    "use using take try set pick choose used nimm nutze verwende benutze utilise utilisez"
    " prends mets usa utiliza use usar pon utilizza metti usem gebruik neem użyj ustaw weź"
    " используй возьми поставь استخدم ضع"
)
# What follows the noun there, when it is no part of a longer name ("password hash").
AFTER_NOUN = (
    r"[.,;!?)]|\s*(?:\Z|\n)|\s(?:for|on|in|at|and|für|pour|para|per|voor|dla|для|للـ|lol)\b"
)

# After a value in a script without spaces: the copula, a verb, the end.
JOINED_END = (
    r"(?= ?(?:[。、，！；」』）]|[.,!;)](?:\s|\Z)|\s*(?:\Z|\n)|です|でした|だ(?!が)|のまま|に変更"
    r"|に設定|にし|を使|でログイン|と入力|を入力|也就行|就行|就可以|吧|哦|登录|야|이야|임|이에요|예요|입니다|이다"
    r"|로 (?:바|변|설|해)|으로 (?:바|변|설|해)|[를을] (?:쓰|사용|입력)|라고| 입력))"
)
# What may stand between the noun and the value there.
JOINED_LINK = (
    r"(?:には|はまだ|は|を|を聞かれたら|を求められたら|改成|改为|设为|设成"
    r"|设置为|换成|就输入|就输|，就输入|，就输|，输入|，就填|是|为|還是|还是|就是|用|는|은"
    r"|로|으로|를 물어보면|을 물어보면|를 물으면| 아직|는 아직|:|：|＝|=)"
)

# "user bob and password X", "con root y la contraseña X": what stands before the noun.
WITH_USER = (
    r"(?:\b(?:user|username|login|account|benutzer|utilisateur|identifiant|usuario|utente|usuário"
    r"|gebruiker|użytkownika?|логин|пользователь|kullanıcı adı)[ :]{1,2}"
    r"|\b(?:with|mit|con|com|avec|met) )"
    r"(?!and |or |the |with |your |my |a |an )[\w.@-]{2,40},?"
    r"(?: (?:and|with|und|et|y|e|en|i|и|ve|mit|avec|con))?"
    r"(?: (?:the|das|dem|le|la|il|o|het|a))? \Z"
)
