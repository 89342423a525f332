"""Judges by its name whether a value is likely to be a secret.

In: the name as written (`DB_PASSWORD`, `apiKey`, `spring.datasource.password`). Out: its family.
What can go wrong: names that contain such a word but hold something else (`token_type`).
"""

from functools import lru_cache

from recollect.privacy.patterns import pattern, words

PASSWORD, SECRET, HINT = "password", "secret", "hint"  # the last needs a random value

_WORDS = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+"
# What may follow the telling word without changing what the value is.
_TRAILING = words(
    "prod production dev development staging stage stg test testing live base value default"
    " main primary secondary old new current backup plain raw encoded b64 base64 env local"
    " sandbox var str string text data us eu"
)
# A name that ends so tells about the secret and does not hold it.
_ABOUT = words(
    "id ids name names path file files filename dir url uri type types field fields label"
    " header headers length len size count index idx hash hashes format prefix suffix policy"
    " strength min max expiry expires expiration ttl age timeout error errors message msg prompt"
    " hint help title description placeholder pattern regex re validator class factory provider"
    " manager service store storage cache handler callback function func fn method required"
    " enabled visible input form view page reset changed version vault region endpoint host port"
    " user username login email account alias mapping map list set keys tokens secrets arn ref"
    " reference resource kind status state mode scheme algorithm alg usage limit budget price"
    " cost position pos offset start end line column col"
)
_KEY_BEFORE = words(
    "api access secret private auth encryption encrypt decryption signing sign signature master"
    " account storage shared service app application client deploy ssh webhook consumer"
    " subscription license crypto cipher aes hmac jwt session security admin root bot project"
    " integration ingest write rsa gpg pgp server sdk maps user routing rest bearer x host"
    " function functions personal team org"
)
_NOT_KEY_BEFORE = words(
    "public pub cache primary foreign sort partition dict hash index group lookup cookie unique"
    " composite row object obj map dedup idempotency i18n translation locale search order"
    " shortcut hot arrow registry event metric redis lock parent child range config setting"
    " settings state storage local bucket s3 site sitekey prop field column json modifier"
    " natural surrogate"
)
# Marks of a place in a list or of one request, as cloud interfaces call them.
_NOT_TOKEN_BEFORE = words(
    "next change request continuation page starting backward forward cursor upload sync lock"
    " pagination idempotency update verification"
)
_TELLING = words("password passwd secret token key credential apikey auth pwd")
_PASSWORDS = ("password", "passwd", "passphrase", "passcode", "passwort", "pwd", "pswd")
# `SSHPASS`, `dbpass`; not `bypass`, `compass`, `subpass`.
_PASS_BEFORE = words(
    "db ssh user smtp my mysql pg root admin ftp mail imap store key keystore truststore ks become"
    " sudo redis http proxy bind ldap vnc wifi ansible requires rabbit mongo su sql login"
)
_SECRETS = (
    *("secret", "apikey", "token", "accesskey", "secretkey", "privatekey", "authkey", "jwt"),
    *("credential", "credentials", "creds", "signingkey", "encryptionkey", "masterkey"),
    *("accountkey", "sharedkey"),
)


@lru_cache(maxsize=4096)
def family(name: str) -> str | None:
    """`PASSWORD`, `SECRET`, `HINT` for the need of a random value, or None."""
    parts = [word.lower() for word in pattern(_WORDS).findall(name)]
    while len(parts) > 1 and (parts[-1] in _TRAILING or parts[-1].isdigit()):
        parts.pop()
    if not parts:
        return None
    last = parts[-1]
    before = parts[-2] if len(parts) > 1 else ""
    if last.endswith(_PASSWORDS) or last in ("pass", "pw", "psw"):
        return PASSWORD
    if last.endswith("pass") and last[:-4] in _PASS_BEFORE:
        return PASSWORD
    if last == "auth" and before in ("rediscli", "redis", "requirepass", "master"):
        return PASSWORD
    if last == "token" and before in _NOT_TOKEN_BEFORE:
        return None
    if last.endswith(_SECRETS) and "public" not in parts:
        return SECRET
    if last == "key" and before in _KEY_BEFORE:
        return SECRET
    if last == "key" and (before in _NOT_KEY_BEFORE or before == ""):
        return None
    if last in _ABOUT and not (last == "id" and before == "secret"):
        return None
    if last in ("key", "auth", "authorization", "dsn") or last.endswith("key"):
        return HINT
    return HINT if name.isupper() and _TELLING.intersection(parts) else None
