"""The example notebooks run, and their assertions on their results hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import nbformat
import pytest
from nbclient import NotebookClient
from traitlets.config import Config

from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ROOT / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
# A kernel that no other user of this machine hears.
SOCKETS = Config({"KernelManager": {"transport": "ipc"}})
WIDGET = "application/vnd.jupyter.widget-view+json"


def _cells(path: Path) -> list[nbformat.NotebookNode]:
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    return [cell for cell in book.cells if cell.cell_type == "code"]


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) > 2


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_a_widget(path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=120, config=SOCKETS).execute()
    shown = [one.get("data", {}) for cell in book.cells for one in cell.get("outputs", ())]
    widgets = [data[WIDGET]["model_id"] for data in shown if WIDGET in data]
    assert len(widgets) > 0
    # A result has its HTML in addition to the widget; a widget itself has no HTML.
    assert all("text/plain" in data for data in shown if WIDGET in data)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_asserts_what_it_says_and_has_no_old_output(path: Path) -> None:
    cells = _cells(path)
    assert sum("assert " in cell.source for cell in cells) > 1
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)
