"""Gets ns-3 and SimGrid where that can be done, and compiles the drivers: `python -m tests.peers.build`.

ns-3 comes from PyPI, pinned in requirements-peers.lock, into .venv/peers. SimGrid is Debian's libsimgrid-dev, which is
installed where this runs as root. A missing one is named on standard error, and its tests are skipped.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LOCK = ROOT / "requirements-peers.lock"
FOLDER = ROOT / ".venv" / "peers"
INSTALL_SECONDS = 100
COMPILE_SECONDS = 100


class PeerAbsentError(Exception):
    """A peer is not here and cannot be had; the message says why and what to do."""


def ns3_version() -> str:
    """The version of the wheel that is pinned."""
    found = re.search(r"^ns3==(\S+)", LOCK.read_text(), re.MULTILINE)
    assert found, f"{LOCK} pins no ns3"
    return found[1]


@cache
def ns3_driver() -> Path:
    """The compiled ns-3 driver, made when it is not there. Raises `PeerAbsentError`."""
    wheel = _ns3_folder() / "ns3"
    if not wheel.is_dir():
        raise PeerAbsentError("ns-3 is not installed; run: python -m tests.peers.build")
    libraries = wheel / "lib64"
    found = [_library(libraries, part) for part in ("point-to-point", "network", "core")]
    options = ["-std=c++20", "-isystem", str(wheel / "include")]
    return _compiled("ns3_driver.cc", options, [f"-L{libraries}", *found, f"-Wl,-rpath,{libraries}"])


@cache
def simgrid_driver() -> Path:
    """The compiled SimGrid driver, made when it is not there. Raises `PeerAbsentError`."""
    if not _has_simgrid():
        raise PeerAbsentError("SimGrid is not installed; as root, run: apt-get install libsimgrid-dev")
    return _compiled("simgrid_driver.cc", ["-std=c++17"], ["-lsimgrid"])


def install_ns3() -> None:
    """Unpack the pinned wheel. Raises `PeerAbsentError` when pip cannot get it."""
    target = _ns3_folder()
    if target.is_dir():
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as temporary:
        unpacked = Path(temporary) / "wheel"
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"]
        pinned = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--requirement", str(LOCK)]
        _install("ns-3", [*pip, "--target", str(unpacked), *pinned])
        unpacked.rename(target)


def install_simgrid() -> None:
    """Install Debian's package, as root. Raises `PeerAbsentError` when that cannot be done."""
    if _has_simgrid():
        return
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        raise PeerAbsentError(
            "SimGrid is not installed, and this is not root on Debian; libsimgrid-dev is what it takes"
        )
    get = ["apt-get", "-qq", "-o", "Acquire::Retries=1"]
    _install("SimGrid", [*get, "update"])
    _install("SimGrid", [*get, "install", "--yes", "--no-install-recommends", "libsimgrid-dev"])


def main() -> int:
    """Get and compile both. A peer that cannot be had is no failure; a driver that does not compile is one."""
    for name, install, driver in (
        ("ns-3", install_ns3, ns3_driver),
        ("SimGrid", install_simgrid, simgrid_driver),
    ):
        try:
            install()
            driver()
        except PeerAbsentError as absent:
            shout = f"*** NOT COMPARED WITH {name.upper()}: {absent}"
            sys.stderr.write(f"{'*' * 100}\n{shout}\n{'*' * 100}\n")
    return 0


def _ns3_folder() -> Path:
    return FOLDER / f"ns3-{ns3_version()}"


def _library(folder: Path, part: str) -> str:
    """The linker's option for a library whose name has ns-3's version in it."""
    found = sorted(folder.glob(f"libns3.*-{part}.so"))
    if len(found) != 1:
        raise PeerAbsentError(f"the ns-3 wheel has {len(found)} libraries for `{part}`; one is expected")
    return f"-l{found[0].stem.removeprefix('lib')}"


def _has_simgrid() -> bool:
    probe = "#if !__has_include(<simgrid/s4u.hpp>)\n#error absent\n#endif\n"
    command = [_compiler(), "-std=c++17", "-E", "-x", "c++", "-"]
    return subprocess.run(command, input=probe, text=True, capture_output=True, check=False).returncode == 0


def _compiler() -> str:
    wanted = os.environ.get("CXX", "g++")
    if shutil.which(wanted) is None:
        raise PeerAbsentError(f"there is no C++ compiler `{wanted}`")
    return wanted


def _compiled(source: str, options: list[str], libraries: list[str]) -> Path:
    """The binary of a driver, named after all that went into it, so that a stale one is never run."""
    command = [_compiler(), "-O2", "-Wall", "-Wextra", "-Werror", *options, str(HERE / source)]
    made_from = repr((command, libraries)).encode() + (HERE / source).read_bytes()
    stem = source.removesuffix(".cc")
    binary = FOLDER / f"{stem}-{hashlib.sha256(made_from).hexdigest()[:16]}"
    if binary.is_file():
        return binary
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as temporary:
        made = Path(temporary) / stem
        subprocess.run([*command, "-o", str(made), *libraries], check=True, timeout=COMPILE_SECONDS)
        for stale in FOLDER.glob(f"{stem}-*"):
            stale.unlink()
        made.rename(binary)
    return binary


def _install(peer: str, command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired as late:
        raise PeerAbsentError(f"{peer} was not installed within {INSTALL_SECONDS} s") from late
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().rpartition("\n")[2]
        raise PeerAbsentError(f"{peer} cannot be installed: {last}")


if __name__ == "__main__":
    sys.exit(main())
