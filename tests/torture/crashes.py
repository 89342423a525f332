"""The crash tests of the store as cases: kill -9, power cuts, errors at every call, bit flips, and
a PostgreSQL server that is killed under two daemons."""

import random
from dataclasses import replace
from pathlib import Path

from tests.crash import faults, flips, kill, postgres, power
from tests.crash.oracle import Findings
from tests.fakes.postgres import running
from tests.fakes.vfs import Trouble
from tests.torture.case import Attack, Case, Report

_SECONDS_PER_TRY = 20.0


def _reported(tries: int, findings: Findings) -> Report:
    report = Report(tries)
    for what in findings.lost:
        report.failed("lost", what)
    for what in findings.doubled:
        report.failed("doubled", what)
    for what in findings.corrupt:
        report.failed("wrong", what)
    return report


def _kills(chance: random.Random, tries: int, scratch: Path) -> Report:
    done = kill.run(tries, chance.randrange(1 << 32))
    return _reported(done.cycles, done.findings)


def _cuts(workload: power.Workload) -> Attack:
    def attack(chance: random.Random, tries: int, scratch: Path) -> Report:
        steps = power.record(workload, str(scratch / "home"))
        done = power.cut(steps, tries, chance, str(scratch))
        return _reported(done.cuts, done.findings)

    return attack


def _faults(kind: Trouble, fresh: bool) -> Attack:
    """Every call fails once; the number of tries is the number of calls."""

    def attack(chance: random.Random, tries: int, scratch: Path) -> Report:
        done = faults.run(replace(kind), str(scratch), fresh=fresh)
        return _reported(done.runs, done.findings)

    return attack


def _flips(chance: random.Random, tries: int, scratch: Path) -> Report:
    report = Report(tries)
    try:
        flips.run(tries, chance, str(scratch))
    except AssertionError as error:
        report.failed("wrong", str(error))
    return report


def _server_killed(chance: random.Random, tries: int, scratch: Path) -> Report:
    """Two daemons at 200 events a second each; their server dies and comes back once a try."""
    with running(durable=True) as server:
        done = postgres.run(
            scratch,
            server,
            rate=200.0,
            seconds=_SECONDS_PER_TRY * tries,
            restarts=tries,
            seed=chance.randrange(1 << 32),
        )
    return _reported(done.sent, done.findings)


CASES = [
    Case("kill -9 of a process with four writers", _kills, 60),
    *(
        Case(f"power cut, store, {workload.__name__}", _cuts(workload), 200)
        for workload in power.WORKLOADS
    ),
    Case("bit flips", _flips, 100),
    *(
        Case(f"{name}, {'new' if fresh else 'old'} store", _faults(kind, fresh), 1)
        for name, kind in faults.KINDS.items()
        for fresh in (False, True)
    ),
    Case("PostgreSQL killed under two daemons", _server_killed, 1),
]
