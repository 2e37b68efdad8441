"""What the page is told is what the command line prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import RunCli
    from tests.page.served import Served


@pytest.mark.parametrize("baselines", [False, True])
def test_a_plan_is_that_of_the_command_line(server: Served, cli: RunCli, baselines: bool) -> None:
    answer = server.post("plan", collective="all-reduce", size="4MiB", gpus=8, ports=2, baselines=baselines)
    assert answer.status_code == 200
    flag = "--baselines" if baselines else "--no-baselines"
    words = ["--collective", "all-reduce", "--size", "4MiB", "--gpus", 8, "--ports", 2, flag, "--format", "json"]
    assert answer.text == cli("plan", *words).out.rstrip("\n")


def test_the_form_has_the_options_of_the_command_line(server: Served) -> None:
    told = server.client.get("/api/options").json()
    plan = {option["name"]: option for option in told["verbs"]["plan"]["options"]}
    assert plan["collective"]["choices"] == [entry["name"] for entry in told["registries"]["collectives"]]
    assert not {"output", "plot", "schedule", "sequence", "format"} & set(plan)
    for preset in told["presets"]:
        assert preset["summary"]
        if preset["verb"] == "plan":
            assert server.post("plan", **preset["options"]).status_code == 200, preset
    assert json.dumps(told)
