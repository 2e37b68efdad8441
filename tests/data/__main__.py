"""Gets the files by others that tests read: `python -m tests.data`, which `make data` runs.

A line for every file that comes or cannot be had; the status is 1 where one that has an address cannot be had.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.data import FOLDER, TABLE, DataFile, data_files
from tests.data.download import DownloadError, download, is_there


def main(arguments: list[str] | None = None) -> int:
    """The status."""
    parser = argparse.ArgumentParser(prog="python -m tests.data", description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER, help=f"where they go (default: {FOLDER})")
    parser.add_argument("--table", type=Path, default=TABLE, help="the table of files")
    asked = parser.parse_args(arguments)
    files = data_files(asked.table)
    counts = {"there": 0, "got": 0, "without an address": 0, "failed": 0}
    for file in files:
        outcome = _outcome(file, asked.folder)
        counts[outcome] += 1
    counted = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
    sys.stdout.write(f"{len(files)} files of data in {asked.folder}: {counted}\n")
    return 1 if counts["failed"] else 0


def _outcome(file: DataFile, folder: Path) -> str:
    if is_there(file, folder):
        return "there"
    if file.url is None:
        sys.stdout.write(f"{file.name} has no address: it was made {file.made}\n")
        return "without an address"
    try:
        download(file, folder)
    except DownloadError as error:
        sys.stderr.write(f"error: {file.name}: {error}\n")
        return "failed"
    sys.stdout.write(f"got {file.name} ({file.bytes} B, {file.licence})\n")
    return "got"


if __name__ == "__main__":
    sys.exit(main())
