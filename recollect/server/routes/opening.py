"""`/api/open`: an address that lets one browser in, once."""

from recollect.core.values import Value
from recollect.server.endpoints import Endpoint, Nothing
from recollect.server.guard import OPEN
from recollect.server.services import Services
from recollect.server.tokens import CODE_S


class Address(Value, frozen=True, kw_only=True):
    url: str
    seconds: int


def invite(services: Services, parameters: Nothing) -> Address:
    code = services.tokens.new_code()
    return Address(url=f"http://127.0.0.1:{services.port}{OPEN}?code={code}", seconds=CODE_S)


ENDPOINTS = (
    Endpoint(
        "POST", "/api/open", "An address that opens the dashboard once, soon.", invite, Address
    ),
)
