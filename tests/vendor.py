"""Fetches the dashboard's few libraries from npm and rewrites their imports to plain paths.

In: the pinned packages below. Out: recollect/server/static/vendor, with their licences. Run it by
hand when a version changes (`python -m tests.vendor`, needs npm); nothing of it runs at install.
"""

import hashlib
import pathlib
import subprocess
import tarfile
import tempfile

VENDOR = pathlib.Path(__file__).parent.parent / "recollect" / "server" / "static" / "vendor"

# package and version: {file in the package: file here}
PACKAGES = {
    "preact@11.2.0": {"dist/preact.mjs": "preact.js", "hooks/dist/hooks.mjs": "preact-hooks.js"},
    "htm@3.1.1": {"dist/htm.mjs": "htm.js"},
    "@preact/signals-core@1.14.5": {"dist/signals-core.mjs": "signals-core.js"},
    "@preact/signals@2.11.4": {"dist/signals.mjs": "signals.js"},
    "uplot@1.6.32": {"dist/uPlot.esm.js": "uplot.js", "dist/uPlot.min.css": "uplot.css"},
}
# What a browser without a bundler cannot resolve, and where it lies here.
NAMES = {
    "preact/hooks": "preact-hooks.js",
    "preact": "preact.js",
    "@preact/signals-core": "signals-core.js",
}


def main() -> None:
    VENDOR.mkdir(parents=True, exist_ok=True)
    lines = [
        "# Vendored libraries",
        "",
        "Unchanged but for the paths of their imports; made by `python -m tests.vendor`.",
        "",
        "| package | file | sha256 of the package |",
        "|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for package, files in PACKAGES.items():
            packed = subprocess.run(
                ["npm", "pack", "--silent", package],
                cwd=folder,
                check=True,
                capture_output=True,
                text=True,
            )
            archive = pathlib.Path(folder) / packed.stdout.split()[-1]
            digest = hashlib.sha256(archive.read_bytes()).hexdigest()
            with tarfile.open(archive) as held:
                for inside, here in files.items():
                    _write(held, f"package/{inside}", VENDOR / here)
                    lines.append(f"| {package} | {here} | `{digest[:16]}` |")
                licence = next(
                    name for name in held.getnames() if name.lower().startswith("package/licen")
                )
                name = package.rpartition("@")[0].replace("/", "-").lstrip("@")
                _write(held, licence, VENDOR / f"LICENSE-{name}.txt")
    (VENDOR / "README.md").write_text("\n".join(lines) + "\n")


def _write(archive: tarfile.TarFile, inside: str, path: pathlib.Path) -> None:
    member = archive.extractfile(inside)
    assert member is not None
    text = member.read().decode()
    for name, here in NAMES.items():
        for quote in "\"'":
            text = text.replace(f"from{quote}{name}{quote}", f"from{quote}./{here}{quote}")
            text = text.replace(f"from {quote}{name}{quote}", f"from {quote}./{here}{quote}")
            text = text.replace(f"import{quote}{name}{quote}", f"import{quote}./{here}{quote}")
    kept = [line for line in text.splitlines() if not line.startswith("//# sourceMappingURL")]
    path.write_text("\n".join(kept) + "\n")


if __name__ == "__main__":
    main()
