"""How people tell a password in languages other than English.

In: nothing. Out: `TONGUES`. Nouns and links are in lower case; a link stands between the noun (and
a few words that tell which one is meant) and the value.
What can go wrong: a link that also leads to something else. The value must look like a secret, so
"das Passwort ist abgelaufen" is safe, and "das Passwort ist Sommer2024" is not.
"""

from recollect.privacy.rules.model import Tongue

TONGUES: tuple[Tongue, ...] = (
    Tongue(  # words that other languages took from English, with their own verbs
        "password, token, passphrase, api key",
        "è, e', sarà, era, es, será, é, est, sera, ist, lautet, wäre, is, wordt, to, на, を, は, in, a",
        ("la password è {A12}", "el token de acceso es {A14}", "il token di accesso è {A14}"),
        ("la password è scaduta", "il token è un JWT con RS256", "la password è in 1Password"),
        signed=False,
    ),
    Tongue(  # German
        "passwort, kennwort, passphrase, zugangscode, geheimer schlüssel, geheime schlüssel"
        ", geheimen schlüssel, api-schlüssel, api schlüssel, zugangsschlüssel, zugangstoken",
        "ist, lautet, war, wäre, wird, auf, heißt, heisst, sei, ist jetzt, ist nun, wäre dann, zu",
        ("das Passwort lautet {A12}", "der API-Schlüssel ist {A20}", "DB-Passwort: {A12}"),
        ("Das Passwort ist abgelaufen", "Passwort zurücksetzen für Bob42x"),
        ending="(?:es|s|e)?",
        joined=True,
    ),
    Tongue(  # French
        "mot de passe, mots de passe, mdp, clé api, cle api, clé d'api, clé secrète, cle secrete"
        ", code d'accès, jeton d'accès, jeton d’accès, jeton",
        "est, c'est, c’est, sera, était, en, à, devient, serait, est maintenant, vaut",
        ("le mot de passe est {A12}", "Mot de passe : {A12}", "mdp = {A12}"),
        ("le mot de passe est haché avec argon2id", "mot de passe oublié ?"),
    ),
    Tongue(  # Spanish
        "contraseña, contrasena, contraseñas, clave de acceso, clave api, clave de api"
        ", clave secreta, palabra clave, clave",
        "es, será, era, a, por, como, sería, es ahora, fue",
        ("la contraseña es {A12}", "cambia la contraseña a {A12}", "clave: {A12}"),
        ("la clave es simple: menos código", "la contraseña es incorrecta"),
    ),
    Tongue(  # Italian
        "parola d'ordine, parola d’ordine, parola chiave, chiave api, chiave segreta"
        ", chiave di accesso, codice di accesso",
        "è, e', sarà, era, in, a, sarebbe, ora è, diventa",
        ("la parola d'ordine è {A12}", "la chiave API è {A20}"),
        ("la parola chiave è async", "la chiave primaria è (id1, id2)"),
    ),
    Tongue(  # Portuguese
        "senha, palavra-passe, palavra passe, chave da api, chave api, chave de api, chave secreta"
        ", chave de acesso",
        "é, será, era, para, como, seria, agora é, foi",
        ("a senha é {A12}", "mude a senha para {A12}", "palavra-passe: {A12}"),
        ("a senha é obrigatória desde v2.0", "o autor desenha bem"),
    ),
    Tongue(  # Dutch
        "wachtwoord, ww, toegangscode, api-sleutel, api sleutel, geheime sleutel, toegangstoken",
        "is, wordt, was, luidt, naar, op, in, zou, is nu",
        ("het wachtwoord is {A12}", "de API-sleutel is {A20}"),
        ("het wachtwoord is verlopen", "reset het wachtwoord van bob42x"),
        ending="(?:en)?",
        joined=True,
    ),
    Tongue(  # Polish
        "hasł, haseł, haslo, klucz api, klucza api, tajny klucz, tajnego klucza, klucz dostępu"
        ", token dostępu",
        "to, to będzie, na, było, jest, brzmi, będzie",
        ("hasło to {A12}", "zmień hasło na {A12}", "hasło: {A12}"),
        ("hasło wygasło", "hasło jest w 1Password"),
        ending="[a-ząęó]{0,3}",
    ),
    Tongue(  # Russian and Ukrainian
        "парол, пассворд, ключ api, ключ апи, api-ключ, api ключ, секретный ключ, секретного ключа"
        ", ключ доступа, токен доступа, токен, секретний ключ",
        "это, будет, был, такой, на, теперь, стал, є, це, буде, был раньше, такий",
        ("пароль: {A12}", "поменяй пароль на {A12}", "логин bob, пароль {A12}"),
        ("пароль истёк", "токен это JWT с RS256", "пароль лежит в 1Password"),
        ending="[а-яіїє]{0,3}",
    ),
    Tongue(  # Turkish; the verb comes last
        "şifre, sifre, parola, api anahtar, gizli anahtar, erişim belirte",
        "dün, ise, artık, şimdi, olarak, şu",
        ("şifre: {A12}", "yeni şifre {A12} olacak", "wifi şifresi = {A12}"),
        ("şifre yanlış", "şifre 1Password içinde"),
        ending=r"\w{0,7}",
        before=True,
    ),
    Tongue(  # Arabic
        "كلمة المرور, كلمه المرور, كلمة السر, كلمه السر, كلمة مرور, كلمة سر, الرقم السري, رقم سري"
        ", الباسورد, باسورد, باسوورد, المفتاح السري, مفتاح api, رمز الوصول, رمز الدخول",
        "هي, هو, كانت, كان, إلى, الى, ستكون, أصبحت",
        ("كلمة المرور هي {A12}", "كلمة السر: {A12}"),
        ("كلمة المرور خاطئة", "كلمة المرور في 1Password"),
        ending="",
        joined=True,
    ),
    Tongue(  # Chinese
        "密码, 密碼, 口令, 密钥, 密鑰, 令牌, 暗号, 暗號",
        "是, 为, 為, 改成, 改为, 改為, 设为, 設為, 设成, 设置为, 設定為, 就是, 换成, 叫, 用, 还是",
        ("密码是{A12}", "新密码为{A12}。", "数据库密码设为“{A12}”"),
        ("密码错误", "密码在1Password里", "密码用argon2id哈希"),
        ending="",
        spaced=False,
    ),
    Tongue(  # Japanese
        "パスワード, パスフレーズ, 暗証番号, 秘密鍵, 合言葉, apiキー, アクセスキー, トークン",
        "は, を, が, には",
        ("パスワードは{A12}です", "パスワードを{A12}に変更して"),
        ("パスワードが違います", "トークンはRS256のJWTです"),
        ending="",
        spaced=False,
    ),
    Tongue(  # Korean
        "비밀번호, 비번, 암호, 패스워드, 비밀 키, 비밀키, api 키, api키, 액세스 토큰, 토큰",
        "는, 은, 를, 을, 가, 이, 는요",
        ("비밀번호는 {A12}입니다", "비밀번호를 {A12}로 바꿔줘"),
        ("비밀번호가 틀렸습니다", "토큰은 RS256 JWT입니다"),
        ending="",
        spaced=False,
    ),
)
