"""The agents of this machine: which are connected, when each last sent an event, and a test.

In: their names. Out: one line for each. The test sends a marker through an agent's hook.
"""

from recollect.core.errors import RecollectError
from recollect.core.values import Moment, Name, Value, copied, encode
from recollect.hosts import registry
from recollect.hosts.context import of_this_machine
from recollect.hosts.install import installer, is_bystander
from recollect.hosts.proof import Daemon, prove
from recollect.service import write
from recollect.service.runtime import ServiceRuntime


class AgentLine(Value, frozen=True, kw_only=True):
    """`state` is installed, absent, partial or an error message; `found`: it is on this machine."""

    name: str
    title: str
    state: str
    connected: bool
    found: bool
    last_heard: Moment | None


class AgentProof(Value, frozen=True, kw_only=True):
    ok: bool
    message: str
    hint: str


def agents(runtime: ServiceRuntime) -> tuple[AgentLine, ...]:
    """Agents that are on this machine, connected, or sent an event; connected ones first."""
    here = of_this_machine(runtime.settings)
    heard = runtime.store.sessions.last_heard()
    lines = []
    for host in registry.installers().values():
        try:
            state: str = host.state(here)
        except RecollectError as error:
            state = str(error)
        found = host.detect(here.home, here.env) is not None
        connected = state == "installed" and not is_bystander(host, here)
        if found or connected or host.name in heard:
            last = heard.get(host.name)
            more = {"state": state, "connected": connected, "found": found, "last_heard": last}
            lines.append(copied(AgentLine, host, **more))
    return tuple(sorted(lines, key=lambda one: (not one.connected, one.title)))


def prove_agent(runtime: ServiceRuntime, host: Name) -> AgentProof:
    """Send a marker through the agent's hook and look for it in the store. BadInput for an unknown
    agent."""
    agent, here = installer(host), of_this_machine(runtime.settings)

    def events(place: str) -> list[str]:
        page = runtime.store.events.page(runtime.namespaces.of(place), limit=5)
        return [encode(one.event.body).decode() for one in page.items]

    def remember(place: str, text: str) -> object:
        return write.add_note(runtime, write.NewNote(project=place, text=text))

    return copied(AgentProof, prove(here, agent, Daemon(events, remember)))
