"""What a server says when it does not let us in, and what to do about it.

In: psycopg's errors. Out: ours. A server that is away or busy is StoreBusy, for it comes back by
itself; one that is there and cannot be our store, as it is set up, is WrongStore, for somebody has
to act. libpq gives no code for a connection that failed, so its words are read.
"""

import re

import psycopg

from recollect.core.errors import StoreBusy, StoreError, WrongStore

LATER = "New events wait in the spool until it is back."
PASSWORD = "Set PGPASSWORD, write ~/.pgpass, or `keyring set recollect PGPASSWORD`."
_RULES: tuple[tuple[str, str, str], ...] = (
    (
        r'database "(?P<it>[^"]*)" does not exist',
        "the server has no database {it!r}",
        "Make it (createdb {it}), or correct the name in `store`.",
    ),
    (
        r'role "(?P<it>[^"]*)" does not exist',
        "the server knows no login {it!r}",
        "Make it (CREATE ROLE {it} LOGIN) and admit it (docs/howto/scale.md), or correct `store`.",
    ),
    (r"no password supplied", "the server wants a password, and none is set", PASSWORD),
    (
        r'password authentication failed for user "(?P<it>[^"]*)"',
        "the server does not take the password of {it!r}",
        PASSWORD,
    ),
    (
        r'(?P<it>no pg_hba\.conf entry [^\n]*|\b\w++ authentication failed for user "[^"]*"'
        r'|role "[^"]*" is not permitted to log in|permission denied for database "[^"]*")',
        "the server does not let us in ({it})",
        "Ask whoever runs the server; the login stands in `store`.",
    ),
    (
        r"(?P<it>server does not support SSL[^\n]*|certificate verify failed|root certificate file"
        r"[^\n]*|server certificate[^\n]*|SSL error[^\n]*)",
        "the connection cannot be encrypted as wanted ({it})",
        "See sslmode and sslrootcert in the address `store`.",
    ),
)
_AWAY: tuple[tuple[str, str, str], ...] = (
    (
        r"(?:resolve host|translate host name) ['\"](?P<it>[^'\"]*)['\"]",
        "the host {it!r} of the PostgreSQL server is not known",
        "Correct it in `store`, or see to the network.",
    ),
    (
        r"connection to server (?P<it>at \S+(?: \([^()]*\))?, port \d+|on socket \"[^\"]*\")"
        r" failed: (?:Connection refused|No such file or directory)",
        "no PostgreSQL server listens {it}",
        "Start it, or correct host and port in `store`.",
    ),
    (
        r"(?:timeout expired|timed out)",
        "the PostgreSQL server does not answer in time",
        "See to the server and the network.",
    ),
)


def not_connected(error: psycopg.Error) -> StoreError:
    """Why a connection could not be made."""
    said = " ".join(str(error).split())
    for rules, kind in ((_RULES, WrongStore), (_AWAY, StoreBusy)):
        for pattern, message, hint in rules:
            if found := re.search(pattern, said):
                it = found.groupdict().get("it", "")
                return kind(message.format(it=it), hint=hint.format(it=it))
    return StoreBusy(f"the PostgreSQL server cannot be reached or is busy ({said})", hint=LATER)
