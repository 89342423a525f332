"""The key of an encrypted store: where it comes from, and the keys that this process holds.

In: the setting `encryption_key` (`keychain`, `file:PATH` or `passphrase`), and the first 16 bytes
of an encrypted file. Out: a `StoreKey`. StoreLocked when there is no key, WrongKey when it is
another.

An encrypted database, and each backup of it, begins with its header: `RCE1`, six random bytes, and
six bytes by which a key is recognised. So a file says by itself that it is encrypted and by which
key, and a wrong key can be told from damage. A passphrase becomes a key by scrypt.
"""

import hashlib
import logging
import os
from dataclasses import dataclass

from recollect.core import keychain, oslayer, safe_files, sealing
from recollect.core.errors import BadInput, CannotWrite, StoreLocked, WrongKey

HEADER_BYTES = 16
MAGIC = b"RCE1"
DATABASE = "recollect.db"
PUBLIC_KEY = "spool.key"  # in the data directory: hooks seal with it what they spool
FILE = "file:"
SECRET_BYTES = 32
# 128 MiB and about half a second; what a thief would have to spend on each guess.
SCRYPT = {"n": 1 << 17, "r": 8, "p": 1, "maxmem": 1 << 28, "dklen": SECRET_BYTES}
_CHECKED_BYTES = 10  # of the header; the rest recognises the key
UNLOCK = "recollect up, in a terminal, asks for the passphrase."

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class StoreKey:
    header: bytes
    secret: bytes

    def __repr__(self) -> str:
        return f"StoreKey({self.header.hex()})"  # never the secret, whoever logs it

    def derived(self, purpose: bytes) -> bytes:
        return hashlib.blake2b(
            self.header, key=self.secret, digest_size=32, person=purpose
        ).digest()

    @property
    def database(self) -> bytes:
        return self.derived(b"database")

    @property
    def sealing(self) -> bytes:
        """The private key of what hooks spool, and of exports."""
        return self.derived(b"sealing")


_known: dict[bytes, StoreKey] = {}
_sources: list[str] = []
_fresh: list[StoreKey] = []  # made for a store that does not exist yet


# --- which key opens a file ---------------------------------------------------------------------


def header_of(path: str) -> bytes | None:
    """The header of an encrypted database; None when it is not encrypted, or not there."""
    try:
        start = safe_files.read_start(path, HEADER_BYTES)
    except OSError:
        return None
    return start if len(start) == HEADER_BYTES and start.startswith(MAGIC) else None


def key_of(path: str) -> StoreKey | None:
    """The key of a database; None when it is not encrypted."""
    header = header_of(path)
    return find(header, path) if header is not None else None


def is_there(path: str) -> bool:
    """Whether there is a database: an empty file is none yet."""
    try:
        return os.path.getsize(path) > 0
    except OSError:
        return False


def is_known(header: bytes) -> bool:
    return header in _known


def is_fresh() -> bool:
    """Whether the key of a new store was made."""
    return bool(_fresh)


def use(source: str) -> None:
    """Look for keys there too."""
    if source and source not in _sources:
        _sources.append(source)


def remember(key: StoreKey) -> None:
    _known[key.header] = key


def find(header: bytes, what: str) -> StoreKey:
    """The key for a header. `what` is to be opened with it."""
    if header in _known:
        return _known[header]
    tried = ""
    for source in _sources:
        secret = _secret(source, header)
        if secret is not None and _check(header[:_CHECKED_BYTES], secret) == header:
            remember(StoreKey(header, secret))
            return _known[header]
        tried = source if secret is not None else tried
    if tried:
        raise WrongKey(f"the key from {tried} does not open {what}: it was encrypted with another")
    raise StoreLocked(f"{what} is encrypted, and its key is not there", hint=_how(header))


def from_passphrase(header: bytes, passphrase: str) -> StoreKey:
    """The key for a header; WrongKey when the passphrase is another."""
    secret = _stretched(passphrase, header[:_CHECKED_BYTES])
    if _check(header[:_CHECKED_BYTES], secret) != header:
        raise WrongKey("this is not the passphrase of this store")
    remember(StoreKey(header, secret))
    return _known[header]


# --- a key for a new store ----------------------------------------------------------------------


def make(source: str, passphrase: str = "") -> StoreKey:
    """A key for a database that is about to be made, kept where the source says."""
    salt = MAGIC + os.urandom(_CHECKED_BYTES - len(MAGIC))
    if source == "passphrase":
        held = [*_fresh, *_known.values()]
        if not passphrase and held:
            return held[0]  # a copy of a store has its key
        if not passphrase:
            raise StoreLocked("a passphrase for the new store has to be chosen", hint=UNLOCK)
        secret = _stretched(passphrase, salt)
    elif source == "keychain":
        secret = os.urandom(SECRET_BYTES)
        _keep_in_keychain(_check(salt, secret), secret)
    else:
        secret = _read_file(source) or _new_file(source)
    key = StoreKey(_check(salt, secret), secret)
    remember(key)
    return key


def _keep_in_keychain(header: bytes, secret: bytes) -> None:
    try:
        import keyring

        keyring.set_password(keychain.SERVICE, entry(header), secret.hex())
        kept = keyring.get_password(keychain.SERVICE, entry(header))
    except ImportError as error:
        raise StoreLocked(
            "the keychain needs keyring", hint="pip install 'recollect[keychain]'"
        ) from error
    except Exception as error:
        raise StoreLocked(
            f"the keychain does not keep a key: {type(error).__name__}",
            hint="Unlock it, or choose another --key.",
        ) from error
    if kept != secret.hex():
        raise StoreLocked(
            "the keychain does not give back what it was given", hint="Choose another --key."
        )


def _new_file(source: str) -> bytes:
    path, secret = _path(source), os.urandom(SECRET_BYTES)
    try:
        oslayer.replace_file(path, secret.hex().encode() + b"\n")
    except OSError as error:
        raise CannotWrite(f"the key file {path} cannot be written: {error.strerror}") from error
    return secret


# --- giving keys to the daemon ------------------------------------------------------------------


def handed_over() -> bytes:
    """The keys that this process holds, for the standard input of a process of the daemon's
    program: not in its arguments or environment, which others can read."""
    lines = [f"known {key.header.hex()} {key.secret.hex()}" for key in _known.values()]
    lines += [f"fresh {key.header.hex()} {key.secret.hex()}" for key in _fresh]
    return "\n".join(lines).encode()


def take_over(data: bytes) -> None:
    """In that process. A line that is none is left out."""
    for line in data.decode(errors="replace").splitlines():
        try:
            kind, header, secret = line.split()
            key = StoreKey(bytes.fromhex(header), bytes.fromhex(secret))
        except ValueError:
            continue
        if _check(key.header[:_CHECKED_BYTES], key.secret) == key.header:
            remember(key)
            if kind == "fresh":
                _fresh.append(key)


def prepare_new(passphrase: str) -> None:
    """Make the key of a store that the daemon is about to make."""
    _fresh.append(make("passphrase", passphrase))


# --- sealing ------------------------------------------------------------------------------------


def write_public_key(directory: str, key: StoreKey | None) -> None:
    """What hooks and exports seal with; without a key, none."""
    path = os.path.join(directory, PUBLIC_KEY)
    if key is None:
        if os.path.exists(path):
            os.unlink(path)
        return
    wanted = key.header + sealing.public_key(key.sealing)
    if read_public_key(directory) != (key.header, wanted[HEADER_BYTES:]):
        oslayer.replace_file(path, wanted)


def read_public_key(directory: str) -> tuple[bytes, bytes] | None:
    """The header of the key, and the public key."""
    try:
        raw = safe_files.read_start(os.path.join(directory, PUBLIC_KEY), HEADER_BYTES + 33)
    except OSError:
        return None
    return (raw[:HEADER_BYTES], raw[HEADER_BYTES:]) if len(raw) == HEADER_BYTES + 32 else None


# --- pieces -------------------------------------------------------------------------------------


def wrong_source(text: str) -> str:
    """What is wrong with a value of the setting; nothing when it is right."""
    if text in ("", "keychain", "passphrase"):
        return ""
    if not text.startswith(FILE):
        return "it is neither keychain nor passphrase nor file:PATH"
    return "" if os.path.isabs(_path(text)) else "the path of the key file must begin with /"


def refuse_inside(source: str, directory: str) -> None:
    """A key that lies beside what it locks protects nothing."""
    inside = os.path.realpath(directory) + os.sep
    if source.startswith(FILE) and os.path.realpath(_path(source)).startswith(inside):
        raise BadInput(
            f"the key file {_path(source)} would lie in the data directory, beside what it opens",
            field="key",
            hint="Choose a place on another disk, or one that is not backed up with it.",
        )


def others_can_read(source: str) -> bool:
    """Whether a key file is open to other users."""
    try:
        return source.startswith(FILE) and bool(os.stat(_path(source)).st_mode & 0o077)
    except OSError:
        return False


def entry(header: bytes) -> str:
    """The name of a key in the keychain."""
    return f"encryption-key-{header[len(MAGIC) : _CHECKED_BYTES].hex()}"


def _check(salt: bytes, secret: bytes) -> bytes:
    mark = hashlib.blake2b(
        salt, key=secret, digest_size=HEADER_BYTES - _CHECKED_BYTES, person=b"header"
    )
    return salt + mark.digest()


def _stretched(passphrase: str, salt: bytes) -> bytes:
    return hashlib.scrypt(passphrase.encode(), salt=salt, **SCRYPT)


def _secret(source: str, header: bytes) -> bytes | None:
    """What a source has for a header; None when it has nothing."""
    if source == "keychain":
        try:
            return bytes.fromhex(keychain.read(entry(header))) or None
        except ValueError:
            log.warning("the keychain holds no key under %s", entry(header))
            return None
    return _read_file(source) if source.startswith(FILE) else None


def _read_file(source: str) -> bytes | None:
    path = _path(source)
    try:
        raw = safe_files.read_whole(path, 1000)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreLocked(
            f"the key file {path} cannot be read: {error.strerror}", hint=f"ls -l {path}"
        ) from error
    try:
        secret = bytes.fromhex(raw.decode("ascii").strip())
    except ValueError:
        secret = b""
    if len(secret) != SECRET_BYTES:
        raise WrongKey(f"{path} is not a key file: it must hold 64 hexadecimal digits")
    return secret


def _path(source: str) -> str:
    return os.path.expanduser(source.removeprefix(FILE))


def _how(header: bytes) -> str:
    told = []
    for source in _sources:
        if source == "passphrase":
            told.append(UNLOCK)
        elif source == "keychain":
            told.append(f"Unlock the keychain; the entry is {entry(header)} of {keychain.SERVICE}.")
        else:
            told.append(f"Put the key file back: {_path(source)}.")
    return " ".join(told) or (
        "recollect settings set encryption_key keychain, or file:PATH, or passphrase: whichever "
        "was chosen when it was encrypted."
    )
