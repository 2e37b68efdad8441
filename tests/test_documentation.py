"""README, docs and examples: every command runs and prints the output shown there."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from docs.generators.commands import failed_doctests, with_output

from tests.conftest import MSCCL, ROOT

pytestmark = pytest.mark.slow

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
# These two write data; tests elsewhere check their output.
WRITERS = {"moe_matrix.py", "single_hop_times.py"}
EXAMPLES = sorted(file for file in (ROOT / "examples").glob("*.py") if file.name not in WRITERS)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


@pytest.mark.large
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    text = page.read_text()
    assert with_output(text, tmp_path) == text, f"run: python -m docs.generators.commands {page.relative_to(ROOT)}"


@pytest.mark.large
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_sessions_hold(page: Path) -> None:
    assert failed_doctests(page.read_text(), page.name) == ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(page.read_text()):
        assert (page.parent / link).exists(), link


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_run(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(example), run_name="__main__")
    assert "Plan(" in capsys.readouterr().out


@pytest.mark.large
def test_the_demo_runs_and_says_when_data_are_missing(tmp_path: Path) -> None:
    """In a copy, so that its output folder is not the checkout's, and the neighbouring data are there or not."""
    project = tmp_path / "project"
    (project / "examples" / "sweeps").mkdir(parents=True)
    for name in ("demo.sh", "moe_matrix.py", "sweeps/which-planner.toml"):
        copy = project / "examples" / name
        copy.write_bytes((ROOT / "examples" / name).read_bytes())
        copy.chmod(0o755)
    missing = _demo(project)
    assert "is not there (make data)" in missing
    assert sorted(file.name for file in (project / "out").iterdir()) == [
        "all-reduce-trace.json.gz",
        "all-reduce.json",
        "all-reduce.png",
        "doubling.json",
        "moe.csv",
        "moe.json",
        "moe.png",
        "sweeps",
    ]
    if not (MSCCL / "ring_allreduce_8gpus.xml").is_file():
        pytest.skip(f"no msccl/ring_allreduce_8gpus.xml in {MSCCL.parent}: make data")
    (project / "data").symlink_to(MSCCL.parent)
    complete = _demo(project)
    assert "allreduce_ring_1channelsperring" in complete
    assert (project / "out" / "msccl.json").is_file()


def _demo(project: Path) -> str:
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    ran = subprocess.run(
        [project / "examples" / "demo.sh"],
        env={"PATH": path, "HOME": str(project)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    verified = re.findall(r"^(\S+) \(plan\): all \d+ checks passed$", ran.stdout, re.MULTILINE)
    assert verified == sorted(f"out/{file.name}" for file in (project / "out").glob("*.json"))
    return ran.stdout
