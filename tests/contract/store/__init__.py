"""The storage contract: a backend inherits it and gives the fixtures `store` and `clock`."""

from tests.contract.store.aging import AgingContract
from tests.contract.store.bulk import BulkContract
from tests.contract.store.events import BufferContract, EventsContract
from tests.contract.store.finding import SearchContract, VectorsContract
from tests.contract.store.forgotten_work import ForgottenWorkContract
from tests.contract.store.graph import GraphContract
from tests.contract.store.life import (
    LifeContract,
    ProjectsContract,
    RunsContract,
    SessionsContract,
    TransactionContract,
)
from tests.contract.store.memories import RecordsContract
from tests.contract.store.turn_works import TurnWorksContract
from tests.contract.store.usage import UsageContract


class StoreContract(
    EventsContract,
    BufferContract,
    RecordsContract,
    SearchContract,
    VectorsContract,
    GraphContract,
    SessionsContract,
    TurnWorksContract,
    ForgottenWorkContract,
    ProjectsContract,
    TransactionContract,
    RunsContract,
    UsageContract,
    LifeContract,
    BulkContract,
    AgingContract,
):
    """All of it, for a backend to inherit in three lines."""
