"""A process that works opens nothing of the machine, whatever it is told."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.page.served import PATHS

if TYPE_CHECKING:
    from pathlib import Path

CODE = """
import os, socket, subprocess, sys, tempfile
from pathlib import Path
import lightloom as ll
from lightloom.page.confinement import confine, limit_memory

folder = Path(tempfile.mkdtemp())
(folder / "secret").write_text("secret")
limit_memory(2 << 30)
confine()
attempts = {
    "read": lambda: (folder / "secret").read_text(),
    "read a list of users": lambda: open("/etc/passwd"),
    "read by a link": lambda: open("/proc/self/cwd/secret"),
    "write": lambda: open(folder / "new", "w"),
    "write next to the package": lambda: open(Path(ll.__file__).parent / "new", "w"),
    "append": lambda: open(os.open(folder / "new", os.O_CREAT | os.O_WRONLY)),
    "remove": lambda: os.remove(folder / "secret"),
    "make a folder": lambda: os.mkdir(folder / "new"),
    "connect": lambda: socket.create_connection(("127.0.0.1", 9)),
    "look up": lambda: socket.getaddrinfo("localhost", 80),
    "run": lambda: subprocess.run(["true"]),
    "shell": lambda: os.system("true"),
    "fork": os.fork,
    "much memory": lambda: bytearray(3 << 30),
}
for name, attempt in attempts.items():
    try:
        attempt()
    except (PermissionError, MemoryError):
        continue
    sys.exit(f"{name} went through")
assert ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8)).total_s > 0
import lightloom.views.pictures.plan  # from where packages are
print("confined")
"""


def test_it_is_confined() -> None:
    ran = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, env=PATHS, check=False)
    assert (ran.returncode, ran.stdout) == (0, "confined\n"), ran.stderr


LATE = """
from lightloom.page.confinement import confine
confine()
import installed
try:
    import beside
except PermissionError:
    print("confined")
"""


def test_packages_are_read_wherever_they_are_installed(tmp_path: Path) -> None:
    """As `pip install --user` and `--target` put them; other folders on the path are not read."""
    for module, folder in (("installed", "late-1.0.dist-info"), ("beside", "data")):
        (tmp_path / module / folder).mkdir(parents=True)
        (tmp_path / module / f"{module}.py").write_text("")
    path = os.pathsep.join([*(str(tmp_path / module) for module in ("installed", "beside")), PATHS["PYTHONPATH"]])
    ran = subprocess.run(
        [sys.executable, "-c", LATE], capture_output=True, text=True, env={**PATHS, "PYTHONPATH": path}, check=False
    )
    assert (ran.returncode, ran.stdout) == (0, "confined\n"), ran.stderr
