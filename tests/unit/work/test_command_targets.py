"""Packages that commands add and services that they operate, where that is certain."""

import pytest

from recollect.work.command_targets import packages, services


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pip install requests", ["requests"]),
        (".venv/bin/pip install -U 'httpx[http2]>=0.27' rich==13.7", ["httpx", "rich"]),
        ("python3 -m pip install -r requirements.txt", []),
        ("pip install -e . --index-url https://pypi.example/simple pydantic", ["pydantic"]),
        ("uv add fastapi --group web", ["fastapi"]),
        ("uv pip install ./wheels/mine.whl", []),
        ("npm install", []),
        ("npm i -D @types/node@20 vitest", ["@types/node", "vitest"]),
        ("pnpm add --filter web react@^18.2.0", ["react"]),
        ("yarn add left-pad", ["left-pad"]),
        ("go get github.com/creack/pty@v1.1.21", ["github.com/creack/pty"]),
        ("go get ./...", []),
        ("cargo add serde --features derive", ["serde"]),
        ("composer require monolog/monolog", ["monolog/monolog"]),
        ("pip list", []),
        ("npm run install-all", []),
        ("pip uninstall requests", []),
    ],
)
def test_packages_that_a_command_adds(command: str, expected: list[str]) -> None:
    assert list(packages(command)) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("docker compose up -d db redis", ["db", "redis"]),
        ("docker-compose -f dev.yml restart api", ["api"]),
        ("docker compose exec -T db psql -U app", ["db"]),
        ("docker compose logs --tail 50 worker", []),  # an option may take the next word
        ("docker compose up", []),
        ("docker exec web ls", []),  # a container, which may be anything
        ("systemctl --user restart recollect.service", ["recollect"]),
        ("systemctl daemon-reload", []),
        ("kubectl rollout restart deployment/billing-api -n prod", ["billing-api"]),
        ("kubectl get pods", []),
    ],
)
def test_services_that_a_command_operates(command: str, expected: list[str]) -> None:
    assert list(services(command)) == expected
