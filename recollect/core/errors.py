"""Every way in which Recollect can fail, in one place.

    RecollectError
    ├── BadInput                 the caller's fault; says which field and what to do
    │   ├── BadSetting
    │   ├── BadCursor
    │   └── TooLarge
    ├── NotFound
    ├── Conflict                 what is asked for contradicts what is stored
    │   ├── RecordExists
    │   ├── EventConflict
    │   ├── ConfigChanged        a host's file is no longer what the plan was made for
    │   └── CannotUndo
    ├── StoreError               the storage cannot do it now
    │   ├── NotADatabase
    │   ├── WrongStore           a server that is there and cannot be the store as it is set up
    │   ├── NewerDatabase
    │   ├── MigrationDrift
    │   ├── DamagedRow
    │   ├── DamagedDatabase
    │   ├── LessThanStored       rows that were there are missing, though the file looks well
    │   ├── StoreLocked          an encrypted file, and no key for it
    │   ├── WrongKey             an encrypted file, and the key of another
    │   ├── ReadOnlyStore
    │   ├── DiskFull
    │   ├── StoreBusy
    │   ├── StoreFailed          a failed write or sync: fatal, never retried
    │   └── StoreClosed
    ├── CannotWrite              a host's file cannot be read or written
    ├── ModelUnavailable         no weights, or they do not verify
    ├── ProviderError            a language model gave no answer
    │   ├── ProviderTimeout      killed at its deadline
    │   ├── ProviderDown         not there, crashed, or the connection broke
    │   ├── ProviderRefused      no key, unknown model, too much asked
    │   └── BudgetSpent          the day's limit is reached
    ├── PluginFailed             a plugin raised, took too long, or its process ended
    └── ExtractionFailed         no usable answer; the events stay in line

The docstring of a class is its default message; `hint` is the command or act that repairs it.
"""


class RecollectError(Exception):
    """Something went wrong in Recollect."""

    hint = ""

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        super().__init__(message or (self.__doc__ or "").strip())
        if hint:
            self.hint = hint


class BadInput(RecollectError):
    """The input is not valid."""

    def __init__(self, message: str = "", *, field: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field


class BadSetting(BadInput):
    """A setting has a value that it cannot take."""

    hint = "recollect settings list"


class BadCursor(BadInput):
    """The cursor is not one that a listing gave out."""

    hint = "Start again without a cursor."


class TooLarge(BadInput):
    """The input is larger than what is accepted."""


class NotFound(RecollectError):
    """There is no such thing."""


class Conflict(RecollectError):
    """This contradicts what is already stored."""


class RecordExists(Conflict):
    """A memory with this id exists already."""


class EventConflict(Conflict):
    """The same event id arrived with other content. The first one is kept."""


class ConfigChanged(Conflict):
    """The file changed since the plan was made, or holds something that is not ours."""

    hint = "Try again; nothing was changed."


class CannotUndo(Conflict):
    """This cannot be undone any more."""


class StoreError(RecollectError):
    """The store cannot do this now."""


class NotADatabase(StoreError):
    """The file is not a Recollect database."""

    hint = "Move it away, or point RECOLLECT_HOME at another directory."


class WrongStore(StoreError):
    """The server cannot be the store as it is set up."""

    hint = "docs/howto/scale.md says how it is set up."


class NewerDatabase(StoreError):
    """The database was written by a newer version of Recollect."""

    hint = "Upgrade Recollect; the database was not touched."


class MigrationDrift(StoreError):
    """The database's migrations are not the ones that this version knows."""

    hint = "Install the version that wrote it, or restore a backup. Nothing was changed."


class DamagedRow(StoreError):
    """A stored row no longer matches its hash."""

    hint = "recollect doctor"


class DamagedDatabase(StoreError):
    """The database file is damaged."""

    hint = (
        "recollect backup restore puts the newest backup in place; recollect up --accept-loss "
        "goes on without what cannot be read, and keeps the files aside."
    )


class LessThanStored(StoreError):
    """The database holds less than was stored in it."""

    hint = (
        "recollect backup restore puts the newest backup in place; recollect up --accept-loss "
        "goes on with what is left, and keeps the files aside. Until then hooks keep their events."
    )


class StoreLocked(StoreError):
    """The store is encrypted, and its key is not there."""

    hint = "recollect up, in a terminal"


class WrongKey(StoreError):
    """The key is not the one that the store was encrypted with."""

    hint = (
        "Check the passphrase, the key file or the keychain that encryption_key names; nothing was "
        "changed."
    )


class ReadOnlyStore(StoreError):
    """The data directory cannot be written to."""

    hint = "Check the owner and the mode of the directory (0700, yours)."


class DiskFull(StoreError):
    """There is no room left to write. What was acknowledged is safe; new events wait."""

    hint = "Free some space; writing resumes by itself."


class StoreBusy(StoreError):
    """Another process holds the database."""

    hint = "recollect status"


class StoreFailed(StoreError):
    """A write could not be made durable, so the store stopped. What was acknowledged is safe."""

    hint = "Check the disk, then start again: recollect up"


class StoreClosed(StoreError):
    """The store is closed."""


class CannotWrite(RecollectError):
    """A file of the agent's configuration cannot be written. Nothing was changed."""

    hint = "Check the owner and the mode of the file and its directory."


class ModelUnavailable(RecollectError):
    """The embedding model is not there or does not verify. Search goes on by words alone."""

    hint = "recollect model fetch"


class ProviderError(RecollectError):
    """The language model gave no answer."""

    hint = "recollect doctor"
    spent = True  # the model may have worked, so the meter counts the worst case

    def __init__(self, message: str = "", *, hint: str = "", spent: bool | None = None) -> None:
        super().__init__(message, hint=hint)
        if spent is not None:
            self.spent = spent


class ProviderTimeout(ProviderError):
    """The language model did not answer in time."""


class ProviderDown(ProviderError):
    """The language model cannot be reached, or it crashed."""


class ProviderRefused(ProviderError):
    """The language model refused the request."""

    spent = False


class BudgetSpent(ProviderError):
    """The day's budget for language models is spent. Extraction goes on by rules."""

    hint = "recollect settings list"
    spent = False


class PluginFailed(RecollectError):
    """A plugin gave no answer."""

    hint = "recollect plugins list"


class ExtractionFailed(RecollectError):
    """Extraction got no usable answer. The events stay in line."""

    hint = "recollect queue list"
