"""PostgreSQL keeps the storage contract, logged in as a role that row-level security narrows."""

from tests.contract.store import StoreContract


class TestPostgresStore(StoreContract):
    pass
