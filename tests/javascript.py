"""The page's JavaScript by Biome and TypeScript: `python -m tests.javascript lint`, `types` or `format`.

npm installs both as package-lock.json says, again where that is newer than the installation. Where there is no npm, or
nothing is installed and npm's registry cannot be reached, that is said and nothing is checked; the status is 1 where
something is found.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = {
    "lint": ("biome", "ci", "--error-on-warnings"),
    "types": ("tsc", "--project", "jsconfig.json"),
    "format": ("biome", "check", "--write"),
}
INSTALL = (
    "ci",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--fetch-retries",
    "1",
    "--fetch-retry-mintimeout",
    "1000",
)
SECONDS = 300
# Messages of npm when a network, a proxy or the registry itself does not answer.
UNREACHED = re.compile(
    r"code (ENOTFOUND|EAI_AGAIN|E(CONN|NET|HOST)[A-Z]+|E?TIMEDOUT|ERR_SOCKET_TIMEOUT|E40[37]|E5\d\d)$", re.MULTILINE
)


def main(task: str, root: Path = ROOT) -> int:
    """The status of one of `COMMANDS`."""
    npm = shutil.which("npm")
    if npm is None:
        return _left_out("there is no npm")
    if not _is_installed(root):
        try:
            done = subprocess.run(
                (npm, *INSTALL), cwd=root, stderr=subprocess.PIPE, text=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return _left_out("npm's registry does not answer")
        if done.returncode:
            if UNREACHED.search(done.stderr):
                return _left_out("npm's registry cannot be reached")
            sys.stderr.write(done.stderr)
            return 1
        _stamp(root).touch()
    program, *arguments = COMMANDS[task]
    return min(
        subprocess.run((root / "node_modules" / ".bin" / program, *arguments), cwd=root, check=False).returncode, 1
    )


def _stamp(root: Path) -> Path:
    return root / "node_modules" / "installed"


def _is_installed(root: Path) -> bool:
    stamp = _stamp(root)
    return stamp.is_file() and stamp.stat().st_mtime >= (root / "package-lock.json").stat().st_mtime


def _left_out(why: str) -> int:
    sys.stdout.write(f"lint: the page's JavaScript is not checked: {why}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
