"""Files of strangers at import and restore: the daemon answers and stays small, the store stays."""

import pathlib
import random

from tests.crash.oracle import chosen_seed
from tests.torture import imports


def test_no_file_freezes_an_import_or_makes_the_daemon_large(tmp_path: pathlib.Path) -> None:
    seed = chosen_seed()
    report = imports.hostile_imports(random.Random(seed), 5, tmp_path)
    assert not report.failures, f"seed {seed}: {report.failures[:5]}"


def test_only_a_database_as_we_make_it_takes_the_place_of_the_store(
    tmp_path: pathlib.Path,
) -> None:
    seed = chosen_seed()
    report = imports.hostile_backups(random.Random(seed), len(imports.BACKUPS), tmp_path)
    assert not report.failures, f"seed {seed}: {report.failures[:5]}"
