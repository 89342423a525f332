"""SQLite keeps the storage contract."""

from tests.contract.store import StoreContract


class TestSqliteStore(StoreContract):
    pass
