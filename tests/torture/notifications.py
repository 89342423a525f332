"""PostgreSQL notifications that no daemon of ours sends: from another login, and of any shape."""

import queue
import random
from pathlib import Path

import psycopg

from recollect.core.clock import SystemClock
from recollect.core.settings import Settings
from recollect.store.interface import Change
from recollect.store.postgres import PostgresStore
from tests.fakes.postgres import running
from tests.torture.case import Case, Report

NAMESPACE = "/actor/ada/"
PIECES = ("", "records", "all", "events", "graph", NAMESPACE, "/actor/bob/", ",", "x" * 500, "\t")
HEARD_S = 60


def _payload(chance: random.Random) -> str:
    """Anything, but for a change that the form allows: that one would rightly be heard."""
    parts = [chance.choice(PIECES) for _ in range(chance.randrange(6))]
    parts[1:2] = [chance.choice(("", "no kind of change"))]
    return "\n".join(parts)[:7000]


def forged(chance: random.Random, tries: int, scratch: Path) -> Report:
    report = Report()
    heard: queue.Queue[Change] = queue.Queue()
    with running() as server:
        database = server.template
        server.admin("CREATE ROLE mallory LOGIN")
        server.admin("SELECT recollect.admit('mallory', 'bob')", database)
        settings = Settings(home=str(scratch), actor="ada", store=server.url(database))
        store = PostgresStore(settings, SystemClock(), locked=False)
        store.changes.subscribe(heard.put)
        assert store.changes.listening.wait(HEARD_S)
        channel = str(server.admin("SELECT recollect.channel('ada')", database)[0][0])
        with psycopg.connect(server.url(database, "mallory"), autocommit=True) as mallory:
            mallory.execute("SET search_path = recollect, public")
            mallory.execute("SELECT set_config('recollect.actor', 'bob', false)")
            for _ in range(tries):
                report.tries += 1
                mallory.execute("SELECT recollect.tell('records', %s, ARRAY['x'])", [NAMESPACE])
                if mallory.execute("SELECT recollect.channel('ada')").fetchone() != (None,):
                    report.failed("leaked", "another login can name the channel")
                mallory.execute("SELECT pg_notify(%s, %s)", [channel, _payload(chance)])
            mallory.execute(
                "SELECT pg_notify(%s, %s)", [channel, f"other\nrecords\n{NAMESPACE}\nmr_1"]
            )
        try:
            found = heard.get(timeout=HEARD_S)
            if found != Change("records", NAMESPACE, ("mr_1",)):
                report.failed("wrong", f"{found} was believed")
        except queue.Empty:
            report.failed("frozen", "nothing is heard any more")
        store.close()
    return report


CASES = [Case("PostgreSQL notifications of another login", forged, 200)]
