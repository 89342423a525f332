"""Golden files per host (O20): what install writes, and that uninstall gives the bytes back."""

from pathlib import Path

import pytest

from recollect.hosts import registry
from recollect.hosts.install import install, installations, uninstall
from recollect.hosts.installer import Installer
from tests.unit.hosts.golden import cases, context, installed, laid_out, tree

CASES = [pytest.param(host, case, id=f"{host.name}-{case.name}") for host, case in cases()]


def yes(*_: object) -> bool:
    return True


@pytest.mark.parametrize(("host", "case"), CASES)
def test_install_writes_exactly_the_golden_files(
    host: Installer, case: Path, tmp_path: Path
) -> None:
    laid_out(case, tmp_path)
    assert installed(host, tmp_path) == tree(case / "after")


@pytest.mark.parametrize(("host", "case"), CASES)
def test_uninstall_restores_the_original_bytes_and_leaves_nothing(
    host: Installer, case: Path, tmp_path: Path
) -> None:
    laid_out(case, tmp_path)
    before = tree(tmp_path)
    folders = {path for path in tmp_path.rglob("*") if path.is_dir()}
    install([host], context(tmp_path), yes)
    if case.name == "older":  # what was ours before goes too
        report = uninstall([host], context(tmp_path), yes)
        assert report.ok
        assert host.state(context(tmp_path)) == "absent"
        assert not any(b"recollect-hook" in raw for raw in tree(tmp_path).values())
        return
    report = uninstall([host], context(tmp_path), yes)
    assert report.ok, report.results[0].error
    expected = dict(before)
    if case == next(c for h, c in cases() if h.name == "kiro-ide" and c.name == "existing"):
        hooks = expected[".kiro/hooks/recollect.json"]
        expected[".kiro/hooks/recollect.json"] = hooks.replace(
            hooks[hooks.index(b',\n    { "name": "recollect-old') : hooks.index(b"\n  ]")], b""
        )
    assert tree(tmp_path) == expected
    left = {path for path in tmp_path.rglob("*") if path.is_dir()}
    assert left - {tmp_path / ".recollect"} == folders


@pytest.mark.parametrize(("host", "case"), CASES)
def test_install_twice_is_install_once(host: Installer, case: Path, tmp_path: Path) -> None:
    laid_out(case, tmp_path)
    install([host], context(tmp_path), yes)
    once = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    report = install([host], context(tmp_path), yes)
    assert report.results[0].outcome == "unchanged"
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == once


@pytest.mark.parametrize(("host", "case"), CASES)
def test_the_state_follows(host: Installer, case: Path, tmp_path: Path) -> None:
    laid_out(case, tmp_path)
    assert host.state(context(tmp_path)) in ("absent", "partial")
    install([host], context(tmp_path), yes)
    assert host.state(context(tmp_path)) == "installed"
    uninstall([host], context(tmp_path), yes)
    assert host.state(context(tmp_path)) == "absent"


@pytest.mark.parametrize(("host", "case"), CASES)
def test_without_a_ledger_only_ours_is_removed(host: Installer, case: Path, tmp_path: Path) -> None:
    """Someone deleted the data directory before `recollect uninstall`."""
    laid_out(case, tmp_path)
    install([host], context(tmp_path), yes)
    for path in sorted((tmp_path / ".recollect").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    report = uninstall([host], context(tmp_path), yes)
    assert report.ok
    assert host.state(context(tmp_path)) == "absent"
    assert not any(b"recollect-hook" in raw for raw in tree(tmp_path).values())


@pytest.mark.parametrize("host", registry.installers().values(), ids=lambda host: host.name)
def test_a_project_installation_stays_in_the_project(host: Installer, tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    where = context(home, scope="project", project=str(project))
    assert install([host], where, yes).ok
    assert tree(home) == {}
    assert tree(project)
    assert installations(where.data_dir) == [(host.name, str(project))]
    assert uninstall([host], where, yes).ok
    assert list(project.iterdir()) == []
