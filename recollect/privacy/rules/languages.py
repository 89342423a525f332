"""How people tell a password in languages other than English.

In: nothing. Out: `TONGUES`. Nouns and links are in lower case; a link stands between the noun (and
a few words that tell which one is meant) and the value.
What can go wrong: a link that also leads to something else. The value must look like a secret, so
"das Passwort ist abgelaufen" is safe, and "das Passwort ist Sommer2024" is not.
"""

from recollect.privacy.rules.definition import Language

TONGUES: tuple[Language, ...] = (
    Language(  # words that other languages took from English, with their own verbs
        "password, passphrase, passwd",
        "è, e', sarà, era, es, será, é, est, sera, ist, lautet, wäre, wordt, to, на, を, は, in, a",
        (
            "la password è {A5}4{A5}x",
            "cambia la password in {A5}4{A5}x",
            "password del wifi = {A5}4{A5}x",
        ),
        ("la password è scaduta", "la password è in 1Password", "password: str = field2()"),
        signed=False,
    ),
    Language(
        "token, api key, pwd, pw, pass",
        "è, e', sarà, era, es, será, é, est, sera, ist, lautet, wäre, wordt, на, を, は",
        ("el token de acceso es {A5}4{A7}x", "il token di accesso è {A5}4{A7}x"),
        ("il token è un JWT con RS256", "for token in Inform6Lexer.tokens:"),
        signed=False,
    ),
    Language(  # German
        "passwort, kennwort, zugangscode, geheimer schlüssel, geheime schlüssel"
        ", geheimen schlüssel, api-schlüssel, api schlüssel, zugangsschlüssel, zugangstoken",
        "ist, lautet, war, wäre, wird, auf, heißt, heisst, sei, ist jetzt, ist nun, wäre dann, zu",
        (
            "das Passwort lautet {A5}4{A5}x",
            "der API-Schlüssel ist {A5}4{A13}x",
            "DB-Passwort: {A5}4{A5}x",
        ),
        ("Das Passwort ist abgelaufen", "Passwort zurücksetzen für Bob42x"),
        ending="(?:es|s|e)?",
        joined=True,
    ),
    Language(  # French
        "mot de passe, mots de passe, mdp, clé api, cle api, clé d'api, clé secrète, cle secrete"
        ", code d'accès, jeton d'accès, jeton d’accès, jeton",
        "est, c'est, c’est, sera, était, en, à, devient, serait, est maintenant, vaut",
        ("le mot de passe est {A5}4{A5}x", "Mot de passe : {A5}4{A5}x", "mdp = {A5}4{A5}x"),
        ("le mot de passe est haché avec argon2id", "mot de passe oublié ?"),
    ),
    Language(  # Spanish
        "contraseña, contrasena, contraseñas, clave de acceso, clave api, clave de api"
        ", clave secreta, palabra clave, clave",
        "es, será, era, a, por, como, sería, es ahora, fue, sigue",
        ("la contraseña es {A5}4{A5}x", "cambia la contraseña a {A5}4{A5}x", "clave: {A5}4{A5}x"),
        ("la clave es simple: menos código", "la contraseña es incorrecta"),
    ),
    Language(  # Italian
        "parola d'ordine, parola d’ordine, parola chiave, chiave api, chiave segreta"
        ", chiave di accesso, codice di accesso",
        "è, e', sarà, era, in, a, sarebbe, ora è, diventa",
        ("la parola d'ordine è {A5}4{A5}x", "la chiave API è {A5}4{A13}x"),
        ("la parola chiave è async", "la chiave primaria è (id1, id2)"),
    ),
    Language(  # Portuguese
        "senha, palavra-passe, palavra passe, chave da api, chave api, chave de api, chave secreta"
        ", chave de acesso",
        "é, será, era, para, como, seria, agora é, foi",
        ("a senha é {A5}4{A5}x", "mude a senha para {A5}4{A5}x", "palavra-passe: {A5}4{A5}x"),
        ("a senha é obrigatória desde v2.0", "o autor desenha bem"),
    ),
    Language(  # Dutch
        "wachtwoord, ww, toegangscode, api-sleutel, api sleutel, geheime sleutel, toegangstoken",
        "is, wordt, was, luidt, naar, op, in, zou, is nu",
        ("het wachtwoord is {A5}4{A5}x", "de API-sleutel is {A5}4{A13}x"),
        ("het wachtwoord is verlopen", "reset het wachtwoord van bob42x"),
        ending="(?:en)?",
        joined=True,
    ),
    Language(  # Polish
        "hasł, haseł, haslo, klucz api, klucza api, tajny klucz, tajnego klucza, klucz dostępu"
        ", token dostępu",
        "to, to będzie, na, było, jest, brzmi, będzie",
        ("hasło to {A5}4{A5}x", "zmień hasło na {A5}4{A5}x", "hasło: {A5}4{A5}x"),
        ("hasło wygasło", "hasło jest w 1Password"),
        ending="[a-ząęó]{0,3}",
    ),
    Language(  # Russian and Ukrainian
        "парол, пассворд, пасс, ключ api, ключ апи, api-ключ, api ключ, секретный ключ"
        ", секретного ключа, ключ доступа, токен доступа, токен, секретний ключ",
        "это, будет, был, такой, на, теперь, стал, є, це, буде, был раньше, такий",
        ("пароль: {A5}4{A5}x", "поменяй пароль на {A5}4{A5}x", "логин bob, пароль {A5}4{A5}x"),
        ("пароль истёк", "токен это JWT с RS256", "пароль лежит в 1Password"),
        ending="[а-яіїє]{0,3}",
    ),
    Language(  # Turkish; the verb comes last
        "şifre, sifre, parola, api anahtar, gizli anahtar, erişim belirte",
        "dün, ise, artık, şimdi, olarak, şu",
        ("şifre: {A5}4{A5}x", "yeni şifre {A5}4{A5}x olacak", "wifi şifresi = {A5}4{A5}x"),
        ("şifre yanlış", "şifre 1Password içinde"),
        ending=r"\w{0,7}",
        before=True,
    ),
    Language(  # Arabic
        "كلمة المرور, كلمه المرور, كلمة السر, كلمه السر, كلمة مرور, كلمة سر, الرقم السري, رقم سري"
        ", الباسورد, باسورد, باسوورد, المفتاح السري, مفتاح api, رمز الوصول, رمز الدخول",
        "هي, هو, كانت, كان, إلى, الى, ستكون, أصبحت",
        ("كلمة المرور هي {A5}4{A5}x", "كلمة السر: {A5}4{A5}x"),
        ("كلمة المرور خاطئة", "كلمة المرور في 1Password"),
        ending="",
        joined=True,
    ),
    Language(  # Chinese
        "密码, 密碼, 口令, 密钥, 密鑰, 令牌, 暗号, 暗號",
        "是, 为, 為, 改成, 改为, 改為, 设为, 設為, 设成, 设置为, 设置成"
        ", 设置成了, 改成了, 改为了, 設定為, 就是, 换成, 叫, 用, 还是",
        ("密码是{A5}4{A5}x", "新密码为{A5}4{A5}x。", "数据库密码设为“{A5}4{A5}x”"),
        ("密码错误", "密码在1Password里", "密码用argon2id哈希"),
        ending="",
        spaced=False,
    ),
    Language(  # Japanese
        "パスワード, パスフレーズ, 暗証番号, 秘密鍵, 合言葉, apiキー, アクセスキー, トークン",
        "は, を, が, には",
        ("パスワードは{A5}4{A5}xです", "パスワードを{A5}4{A5}xに変更して"),
        ("パスワードが違います", "トークンはRS256のJWTです"),
        ending="",
        spaced=False,
    ),
    Language(  # Korean
        "비밀번호, 비번, 암호, 패스워드, 비밀 키, 비밀키, api 키, api키, 액세스 토큰, 토큰",
        "는, 은, 를, 을, 가, 이, 는요",
        ("비밀번호는 {A5}4{A5}x입니다", "비밀번호를 {A5}4{A5}x로 바꿔줘"),
        ("비밀번호가 틀렸습니다", "토큰은 RS256 JWT입니다"),
        ending="",
        spaced=False,
    ),
)
