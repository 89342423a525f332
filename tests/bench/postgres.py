"""What retrieval costs on PostgreSQL beside SQLite: `python -m tests.bench.postgres`.

In: how many memories are in a project and in all. Out: CPU of client plus server at p50, in the
same run and by the same ranking; bytes a memory and an event, by table and index; recalls, reads,
searches and events a second; and the plans of the server's own search. Texts and vectors are
synthetic. The server's CPU is read from its processes. With `--sets` it asks instead whether both
backends rank the questions of the benchmark sets alike (see `agreement.py`).
"""

import argparse
import os
import pathlib
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import psycopg

from recollect.bench.latency import TextGenerator
from recollect.core import ids
from recollect.core import vector_bytes as layout
from recollect.core.settings import Settings
from recollect.core.values import Record, Vector
from recollect.daemon.recall import RecallParts
from recollect.daemon.runtime import Runtime
from recollect.embedding.embedder import MODEL
from recollect.ingest.messages import RecallQuestion
from recollect.store.postgres import PostgresStore
from recollect.store.sqlite import SqliteStore
from tests.bench import agreement
from tests.fakes.postgres import Server, running
from tests.make import NOON, arrival

PROJECT = "/actor/ada/project/p0/"
BATCH = 500


def made(
    writer: TextGenerator, namespace: str, count: int
) -> Iterator[tuple[list[Record], list[Vector]]]:
    for start in range(0, count, BATCH):
        size = min(BATCH, count - start)
        rows = writer.vectors(size)
        records = [
            Record(
                record_id=ids.new_id(ids.RECORD),
                namespace=namespace,
                kind="observation",
                title=writer.text(8)[:200],
                detail=writer.text(writer.length()),
                strategy="rules",
                author="tool",
                valid_from=NOON,
                session_id=f"s{(start + number) // 15}",
                position=(start + number) % 15,
            )
            for number in range(size)
        ]
        vectors = [
            Vector(namespace=namespace, source_kind="record", source_id=record.record_id,
                   model=MODEL, dim=384, vector=row.astype("<f4").tobytes())
            for record, row in zip(records, rows, strict=True)
        ]  # fmt: skip
        yield records, vectors


def server_cpu(server: Server) -> int:
    """Nanoseconds that the server and its backends have run."""
    total = 0
    parent = str(server.pid)
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            stat = pathlib.Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()
            if entry == parent or stat[1] == parent:
                total += int(pathlib.Path(f"/proc/{entry}/schedstat").read_text().split()[0])
        except (OSError, IndexError):
            continue
    return total


def retrieval(
    settings: Settings, store: Any, prompts: list[str], server: Callable[[], int]
) -> list[tuple[float, float]]:
    """Milliseconds of CPU for each prompt, of the client and of the server."""
    recall = RecallParts(Runtime(settings, store=store))
    assert recall.embedder is not None
    recall.embedder.load()
    recall.receipts.start()
    began = time.process_time()
    there = server()
    recall.index_cache.fill([PROJECT])
    print(
        f"  the index is filled: {time.process_time() - began:.1f} s of the client, "
        f"{(server() - there) / 1e9:.1f} s of the server",
        flush=True,
    )
    spent = []
    for number, prompt in enumerate(prompts):
        question = RecallQuestion("prompt", prompt, (PROJECT,), f"q{number}", None, 10_000)
        there, began = server(), time.process_time()
        recall.recall_now(question)
        recall.receipts.flush()
        spent.append((1000 * (time.process_time() - began), (server() - there) / 1e6))
    recall.close()
    return spent[len(spent) // 5 :]  # the first ones warm up


def rate(work: Callable[[int], object], seconds: float = 3.0) -> float:
    """How often a second four threads get something done; each call gets a number of its own."""
    done = [0] * 4
    stop = time.monotonic() + seconds

    def run(thread: int) -> None:
        while time.monotonic() < stop:
            work(done[thread] * 4 + thread)
            done[thread] += 1

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / seconds


def rates(store: Any, record_ids: list[str], prompts: list[str], writer: TextGenerator) -> None:
    """What the store answers by itself, without the daemon's index."""
    near = [layout.encode(row) for row in writer.vectors(64)]

    def read(number: int) -> None:
        at = number * 37 % (len(record_ids) - 10)
        store.records.get(PROJECT, record_ids[at : at + 10])

    def search(number: int) -> None:
        store.records.search([PROJECT], prompts[number % len(prompts)], 20)

    def nearest(number: int) -> None:
        store.vectors.nearest(PROJECT, MODEL, near[number % len(near)], 20)

    print(f"    reads of ten memories by id: {rate(read):,.0f} a second")
    print(f"    searches by words: {rate(search):,.0f} a second")
    if store.vectors.indexed:
        print(f"    searches by meaning: {rate(nearest):,.0f} a second", flush=True)


def events(server: Server, database: str, store: Any, writer: TextGenerator) -> None:
    """Bytes an event, and how many a second are taken one by one, each with its own commit. The
    disk of this server is not synced: it tells what they cost, not how fast a disk is."""

    def size() -> int:
        found = server.admin(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relname IN"
            " ('events', 'unextracted') AND relnamespace = 'recollect'::regnamespace",
            database,
        )
        return int(str(found[0][0]))

    text = [writer.text(writer.length()) for _ in range(200)]
    before, cpu, began = size(), server_cpu(server), time.process_time()
    seconds = 5.0
    taken = rate(
        lambda number: store.events.put(
            [arrival(text[number % 200], namespace=PROJECT, session_id=f"s{number // 400}")]
        ),
        seconds,
    )
    count = taken * seconds
    client = (time.process_time() - began) * 1000 / count
    behind = (server_cpu(server) - cpu) / 1e6 / count
    print(
        f"  events: {taken:,.0f} a second, {client:.2f} ms of the client, {behind:.2f} ms of "
        f"the server each; {(size() - before) / count:,.0f} bytes for "
        f"{sum(map(len, text)) / len(text):.0f} characters",
        flush=True,
    )


# The other projects are copies of the first, made inside the server, with ids of their own and
# vectors of their own in the index: it would keep equal ones as one.
COPIES = """
SET session_replication_role = replica;
INSERT INTO recollect.memory_records ({columns}, record_id, namespace, words)
SELECT {columns}, 'mr_' || upper(substr(md5(record_id || '{number}'), 1, 26)), '{namespace}',
       ts_delete(words, '/' || md5(namespace)) || recollect.place('{namespace}')
  FROM recollect.memory_records WHERE namespace = '{project}';
INSERT INTO recollect.embeddings (namespace, source_id, source_kind, part, model, dim, vector, near)
SELECT '{namespace}', 'mr_' || upper(substr(md5(source_id || '{number}'), 1, 26)), source_kind,
       part, model, dim, vector,
       ARRAY(SELECT random() - 0.5 + 0 * length(e.source_id)
               FROM generate_series(1, 384))::real[]::halfvec
  FROM recollect.embeddings AS e WHERE namespace = '{project}';
INSERT INTO recollect.namespaces (namespace) VALUES ('{namespace}');
"""


def fill_others(server: Server, database: str, copies: int) -> None:
    found = server.admin(
        "SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute"
        " WHERE attrelid = 'recollect.memory_records'::regclass AND attnum > 0"
        " AND attname NOT IN ('row_id', 'record_id', 'namespace', 'words')",
        database,
    )
    for number in range(1, copies + 1):
        server.admin(
            COPIES.format(
                columns=found[0][0],
                number=number,
                namespace=f"/actor/ada/project/p{number}/",
                project=PROJECT,
            ),
            database,
        )


def sizes(server: Server, database: str, memories: int) -> None:
    rows = server.admin(
        "SELECT relname::text, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class"
        " WHERE relnamespace = 'recollect'::regnamespace AND relkind = 'r'"
        " ORDER BY pg_total_relation_size(oid) DESC LIMIT 4",
        database,
    )
    for name, table, indexes in rows:
        print(
            f"  {name}: {int(str(table)) / memories:.0f} bytes a memory, "
            f"{int(str(indexes)) / memories:.0f} of indexes"
        )
    for index in ("embeddings_near", "records_by_words"):
        found = server.admin(f"SELECT pg_relation_size('recollect.{index}')", database)
        print(f"    of which {index}: {int(str(found[0][0])) / memories:.0f}")


def plans(server: Server, database: str, word: str) -> None:
    near = "'[" + ",".join(["0.05"] * 384) + "]'::halfvec"
    for title, query in (
        (
            "words",
            "SELECT record_id FROM recollect.memory_records"
            f" WHERE namespace = '{PROJECT}'"
            f" AND words @@ recollect.within('{PROJECT}', recollect.phrase('{word}'))",
        ),
        (
            "nearest",
            f"SELECT source_id FROM recollect.embeddings WHERE namespace = '{PROJECT}'"
            f" AND model = '{MODEL}' AND source_kind = 'record' ORDER BY near <=> {near} LIMIT 20",
        ),
        (
            "by id",
            f"SELECT title FROM recollect.memory_records WHERE namespace = '{PROJECT}'"
            " AND record_id = ANY(ARRAY['mr_a', 'mr_b'])",
        ),
    ):
        with psycopg.connect(server.url(database), autocommit=True) as connection:
            connection.execute("SET search_path = recollect, public")
            connection.execute("SET hnsw.iterative_scan = relaxed_order")
            told = connection.execute(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {query}")
            lines = [str(line) for (line,) in told]
        print(f"  plan of {title}:")
        for line in lines:
            print(f"    {line[:110]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--project", type=int, default=50_000)
    parser.add_argument("--all", type=int, default=200_000)
    parser.add_argument("--asked", type=int, default=100)
    parser.add_argument("--sets", nargs="+", help="compare the ranking on these sets instead")
    parser.add_argument("--data", help="where the sets lie; the shipped ones without")
    parser.add_argument("--vectors", help="a directory that keeps vectors between runs")
    chosen = parser.parse_args()
    if chosen.sets:
        agreement.run(chosen.sets, chosen.data, chosen.vectors)
        return
    writer = TextGenerator([])
    prompts = [writer.text((5, 10, 20, 40)[n % 4]) for n in range(chosen.asked)]
    copies = chosen.all // chosen.project - 1
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as scratch, running() as server:
        database = server.database()
        more: dict[str, Any] = {
            "cache_mb": 2048,
            "model_dir": os.environ.get("RECOLLECT_MODEL_DIR", ""),
        }
        file = Settings(home=f"{scratch}/file", actor="ada", reserve_mb=0, **more)
        there = Settings(
            home=f"{scratch}/there", actor="ada", store=server.url(database, "ada"), **more
        )
        sqlite, postgres = SqliteStore(file), PostgresStore(there)
        server.admin("DROP INDEX recollect.embeddings_near", database)
        known: list[str] = []
        for records, vectors in made(writer, PROJECT, chosen.project):
            known += [record.record_id for record in records]
            stamped = sqlite.records.put(records, vectors)
            postgres.records.put(stamped, vectors)
        for number in range(1, copies + 1):
            namespace = f"/actor/ada/project/p{number}/"
            for records, vectors in made(writer, namespace, chosen.project):
                sqlite.records.put(records, vectors)
        fill_others(server, database, copies)
        began = time.monotonic()
        server.admin(
            "SET maintenance_work_mem = '512MB'; CREATE INDEX embeddings_near"
            " ON recollect.embeddings USING hnsw (near halfvec_cosine_ops)",
            database,
        )
        server.admin("VACUUM ANALYZE", database)
        print(f"{chosen.project:,} memories in a project, {chosen.all:,} in all")
        print(f"  the HNSW index was built in {time.monotonic() - began:.0f} s")
        sizes(server, database, chosen.all)
        file_size = sqlite.upkeep.space().bytes / chosen.all
        print(f"  SQLite: {file_size:.0f} bytes a memory")
        figures = {}
        for name, settings, store, cpu in (
            ("SQLite", file, sqlite, lambda: 0),
            ("PostgreSQL", there, postgres, lambda: server_cpu(server)),
        ):
            parts = retrieval(settings, store, prompts, cpu)
            spent = [client + behind for client, behind in parts]
            figures[name] = statistics.median(spent)
            high = sorted(spent)[int(len(spent) * 0.95)]
            behind = statistics.median(behind for _, behind in parts)
            print(
                f"  {name}: CPU of a recall p50 {figures[name]:.1f} ms, p95 {high:.1f} ms, client "
                f"and server; of the server alone {behind:.1f} ms",
                flush=True,
            )
            rates(store, known, prompts, writer)
        print(f"  PostgreSQL takes {figures['PostgreSQL'] / figures['SQLite']:.2f} times SQLite's")
        plans(server, database, prompts[0].split()[0])
        events(server, database, postgres, writer)
        sqlite.close()
        postgres.close()


if __name__ == "__main__":
    main()
