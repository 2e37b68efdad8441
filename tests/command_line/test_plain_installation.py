"""A plain installation: everything works except the features of extras, which it names."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lightloom.base.extras import EXTRAS, missing
from lightloom.cli.registry import VERBS
from tests.command_line.test_command_line import EXAMPLE
from tests.conftest import ROOT, RunCli

# The modules of the packages that extras bring, and optional packages.
BESIDE = ("dask", "google.protobuf", "h11", "pandas", "polars", "pydantic", "scipy")
ABSENT = {*(set(EXTRAS) - {"protobuf"}), *BESIDE}
HOOK = f"""
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if any(name == one or name.startswith(one + ".") for one in {sorted(ABSENT)}):
            raise ModuleNotFoundError(f"No module named '{{name}}'", name=name)

sys.meta_path.insert(0, Absent())
"""
RUN_ALL = """
import contextlib, io, json, sys
from lightloom.cli import main
answers = []
for line in json.loads(sys.argv[1]):
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()):
        status = main(line.split())
    answers.append((line, status, said.getvalue()))
print(json.dumps(answers))
"""
# The verbs, formats and options that an extra is for, as the examples of the help of verbs have them.
NEEDS_EXTRA = re.compile(
    r"^sweep \S+\.toml|^compare --benchmark |--to chakra|--overlap asynchronous|^(serve|robust)(?! --help)"
)


@pytest.fixture
def plain(in_tmp: Path) -> dict[str, str]:
    """The environment of processes, in an empty folder, that find no packages of extras."""
    (in_tmp / "hook").mkdir()
    (in_tmp / "hook" / "sitecustomize.py").write_text(HOOK)
    (in_tmp / "examples").symlink_to(ROOT / "examples")
    paths = [str(in_tmp / "hook"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_examples_work_or_name_their_extra(cli: RunCli, plain: dict[str, str], verb: str) -> None:
    examples = EXAMPLE.findall(cli(verb, "--help").out)
    ran = subprocess.run(
        [sys.executable, "-c", RUN_ALL, json.dumps(["--help", f"{verb} --help", *examples])],
        env=plain,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    not_written: set[str] = set()
    for line, status, said in json.loads(ran.stdout.splitlines()[-1]):
        missing = not_written & set(line.split())
        if missing:
            assert (status, said) == (2, f"error: plan: no such file: `{missing.pop()}`\n"), line
        elif NEEDS_EXTRA.search(line):
            not_written.update(re.findall(r"--output (\S+)", line))
            assert status == 2, line
            assert re.fullmatch(r"error: .* needs the package `\w+`: pip install 'lightloom\[\w+\]'\n", said), said
        else:
            assert status == 0, (line, said)


@pytest.mark.slow
@pytest.mark.parametrize("package", ["scipy", "pyarrow", "google.protobuf"])
def test_the_hook_hides_packages(plain: dict[str, str], package: str) -> None:
    ran = subprocess.run([sys.executable, "-c", f"import {package}"], env=plain, capture_output=True, check=False)
    assert ran.returncode == 1


def test_extras_bring_what_is_said_to_be_missing() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    whole = extras.pop("all")
    # PyTorch's libraries for GPUs are 5 GB.
    assert whole == [f"lightloom[{','.join(sorted(set(extras) - {'torch'}))}]"]
    page = (ROOT / "docs" / "how-to" / "install.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == sorted(extras)
    for package, extra in EXTRAS.items():
        assert any(re.match(rf"{package}\b", requirement) for requirement in extras[extra]), package
        assert str(missing("field", "it", package)).endswith(f"pip install 'lightloom[{extra}]'")
