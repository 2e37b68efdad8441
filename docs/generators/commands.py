"""Runs the commands in Markdown files: `console` blocks hold commands and what they print, `pycon` blocks are doctests.

`python -m docs.generators.commands README.md` writes what the commands print now into the file.
"""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

CONSOLE = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
PYCON = re.compile(r"(?<=^```pycon\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
# Lines of progress that long work prints now and then on a busy machine.
PROGRESS = re.compile(r".+, \d+ s")
EXAMPLES = Path(__file__).parents[2] / "examples"
COLOURS = {"FORCE_COLOR", "NO_COLOR", "COLUMNS"}
COMMAND = re.compile(r"^\$ (?:.*\\\n)*.*\n", re.MULTILINE)


def with_output(text: str, folder: Path) -> str:
    """The text with the output of every command of its console blocks as it is now.

    Commands run in `folder`, which gets a link to the examples where a block names them.
    """
    if any("examples/" in block for block in CONSOLE.findall(text)) and not (folder / "examples").exists():
        (folder / "examples").symlink_to(EXAMPLES)

    def printed(block: re.Match[str]) -> str:
        return "".join(command + _run(command, folder) for command in COMMAND.findall(block.group()))

    return CONSOLE.sub(printed, text)


def failed_doctests(text: str, name: str) -> str:
    """The report on all Python sessions of the text, which share their names; empty when they hold."""
    session = "\n".join(PYCON.findall(text))
    test = doctest.DocTestParser().get_doctest(session, {}, name, name, 0)
    report: list[str] = []
    doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=report.append)
    return "".join(report)


def _run(command: str, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command.removeprefix("$ ")],  # noqa: S607
        cwd=folder,
        env={**{name: value for name, value in os.environ.items() if name not in COLOURS}, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    said = [line for line in ran.stderr.splitlines() if not PROGRESS.fullmatch(line)]
    if ran.returncode or said:
        raise RuntimeError(f"{command}exit status {ran.returncode}\n{ran.stderr}")
    return ran.stdout.rstrip("\n") + "\n" if ran.stdout else ""


if __name__ == "__main__":
    import tempfile

    for argument in sys.argv[1:]:
        file = Path(argument)
        with tempfile.TemporaryDirectory() as scratch:
            file.write_text(with_output(file.read_text(), Path(scratch)))
