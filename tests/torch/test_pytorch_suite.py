"""PyTorch's own tests of process groups: the backend passes those that Gloo passes, but for those that are known."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.torch.launch import ROOT

pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch")

SECONDS = 1500


@pytest.mark.large
def test_what_gloo_passes_passes() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.torch.pytorch_suite"],
        check=False,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=SECONDS,
    )
    assert "lightloom passed" in ended.stdout
    assert ended.returncode == 0, ended.stdout
