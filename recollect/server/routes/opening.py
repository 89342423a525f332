"""`/api/open`: an address that lets one browser in, once."""

from recollect.core.values import Value
from recollect.server.endpoints import Endpoint, Nothing
from recollect.server.guard import OPEN
from recollect.server.runtime import ServerRuntime
from recollect.server.tokens import CODE_S


class Address(Value, frozen=True, kw_only=True):
    url: str
    seconds: int


def invite(runtime: ServerRuntime, parameters: Nothing) -> Address:
    code = runtime.tokens.new_code()
    return Address(url=f"http://127.0.0.1:{runtime.port}{OPEN}?code={code}", seconds=CODE_S)


ENDPOINTS = (
    Endpoint(
        "POST", "/api/open", "An address that opens the dashboard once, soon.", invite, Address
    ),
)
