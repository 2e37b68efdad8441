"""Plans for every single fault: made, resumed, looked up and judged."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import lightloom
from lightloom import Fabric, Fallbacks, InputError
from lightloom.cli import main
from lightloom.faults.kinds import Wanted
from tests.planning.test_fault_costs import EVERY, GPUS, PORTS

if TYPE_CHECKING:
    from pathlib import Path

KINDS = ",".join(EVERY)
FABRIC = Fabric(gpus=GPUS, ports=PORTS)


@pytest.fixture(scope="module")
def made() -> Fallbacks:
    """Plans for every fault of five GPUs."""
    return lightloom.fallbacks("all-reduce", "256KiB", KINDS, fabric=FABRIC)


def test_kinds_are_all_faults_of_the_meaning() -> None:
    """Written from the option's meaning in `test_fault_costs`."""
    for kind, every in EVERY.items():
        assert Wanted.of(kind).faults(GPUS, PORTS) == every


@pytest.mark.large
def test_a_plan_that_is_looked_up_is_that_of_planning(made: Fallbacks) -> None:
    """To the last bit, for every fault, however it is spelled; none for two faults at once."""
    for fault in [fault for every in EVERY.values() for fault in every]:
        own = lightloom.plan("all-reduce", "256KiB", fabric=Fabric(gpus=GPUS, ports=PORTS, failed=fault))
        assert made.plan(fault).to_json() == own.to_json()
    assert made.plan("link:3-1").to_json() == made.plan(["link:1-3"]).to_json()
    with pytest.raises(InputError, match=r"failed.*alone"):
        made.plan("port:0.0,port:1.0")
    with pytest.raises(InputError, match=r"failed.*link:0>1.*no plan"):
        made.plan("link:0>1")
    for wrong in ("port:9.0", "fibre:1"):
        with pytest.raises(InputError, match=f"failed.*{wrong}"):
            made.plan(wrong)


@pytest.mark.large
def test_the_judge_passes_what_was_made(made: Fallbacks) -> None:
    """Also after it was written and read."""
    again = Fallbacks.from_json(made.to_json())
    assert again.to_json() == made.to_json()
    checks = again.verify()
    assert all(check.passed for check in checks), [check for check in checks if not check.passed]
    assert {"failed", "own-fault", "one-problem", "every-fault"} <= {check.name for check in checks}


def wronged(made: Fallbacks, name: str) -> dict[str, Any]:
    """The document with a fault of its own that the check of this name is to find."""
    told: dict[str, Any] = json.loads(made.to_json())
    if name == "own-fault":
        told["plans"]["port:0.0"], told["plans"]["port:1.0"] = told["plans"]["port:1.0"], told["plans"]["port:0.0"]
    elif name == "one-problem":
        other = lightloom.plan("all-reduce", "256KiB", fabric=Fabric(gpus=GPUS, ports=PORTS, failed="gpu:0", startup=1))
        told["plans"]["gpu:0"] = json.loads(other.to_json())
    elif name == "every-fault":
        del told["plans"]["link:0-1"]
    else:
        told["plans"]["port:2.1"]["fabric"]["failed"] = ["port:2.1", "receiver:2.0", "receiver:2.1"]
    return told


@pytest.mark.large
@pytest.mark.parametrize("name", ["own-fault", "one-problem", "every-fault", "failed"])
def test_the_judge_finds_what_is_wrong(made: Fallbacks, name: str, tmp_path: Path) -> None:
    """On the command line with exit status 1."""
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps(wronged(made, name)))
    failing = {check.name for check in Fallbacks.load(file).verify() if not check.passed}
    assert name in failing or (name == "failed" and "readable" in failing), failing
    assert main(["verify", str(file)]) == 1


@pytest.mark.large
def test_what_was_interrupted_goes_on(made: Fallbacks, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans that are there are taken, those of another problem are not."""
    plans = dict(list(made.parts.plans.items())[:10])
    part = Fallbacks(made.parts._replace(plans=plans, unserved={}, complete=False))
    asked: list[Any] = []
    plan = lightloom.plan

    def counted(*told: Any, fabric: Fabric, **more: Any) -> lightloom.Plan:
        asked.append(fabric.failed)
        return plan(*told, fabric=fabric, **more)

    monkeypatch.setattr("lightloom.faults.fallbacks.plan", counted)
    again = lightloom.fallbacks("all-reduce", "256KiB", KINDS, fabric=FABRIC, known=part)
    assert again.to_json() == made.to_json()
    assert len(asked) == 1 + len(made.faults) - len(plans)
    asked.clear()
    lightloom.fallbacks("all-reduce", "256KiB", "any-port", fabric=FABRIC, known=part, planner="harvest")
    assert len(asked) == 1 + len(EVERY["any-port"])


def test_the_command_writes_resumes_and_looks_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`plan`, `verify` and `fallbacks`; a fault without a plan says why."""
    file, one = str(tmp_path / "all.json"), str(tmp_path / "one.json")
    planned = ["plan", "--collective", "all-gather", "--size", "64KiB", "--gpus", "4", "--failed", "any-port,any-link"]
    assert main([*planned, "--output", file]) == 0
    assert "6 plans for single faults" in capsys.readouterr().out
    whole = Fallbacks.load(file)
    Fallbacks(whole.parts._replace(plans={}, complete=False)).save(file)
    assert main([*planned, "--output", file]) == 0
    assert Fallbacks.load(file).to_json() == whole.to_json()
    assert main(["verify", file]) == 0
    assert main(["fallbacks", file, "--failed", "link:2-0", "--output", one]) == 0
    assert main(["verify", one]) == 0
    capsys.readouterr()
    assert main(["fallbacks", file]) == 0
    assert "any-link" in capsys.readouterr().out
    assert main(["fallbacks", file, "--failed", "port:1.0"]) == 2
    assert "no plan serves port:1.0" in capsys.readouterr().err
    assert main([*planned, "--plot", "a.png"]) == 2
    assert main(["fallbacks", file, "--output", one]) == 2


def test_kinds_of_faults_without_a_plan_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a line, with nothing written, where no fault has a plan: electrical islands take none."""
    output = tmp_path / "all.json"
    asked = ["plan", "--collective", "all-gather", "--size", "64KiB", "--gpus", "4", "--electrical", "2:1Tbps"]
    assert main([*asked, "--failed", "any-link", "--output", str(output)]) == 2
    told = capsys.readouterr()
    assert told.err.startswith("error: failed: ")
    assert (told.out, told.err.count("\n"), output.exists()) == ("", 1, False)


def test_kinds_of_faults_without_a_plan_say_how_many_and_of_which_the_reason_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Three of four GPUs are no power of two: the reason is that of a fault, which leaves fewer GPUs."""
    asked = ["plan", "--collective", "all-reduce", "--size", "1MiB", "--gpus", "4", "--algorithm", "halving-doubling"]
    assert main([*asked, "--failed", "any-gpu"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: failed: none of the 4 faults has a plan; the first, gpu:0: with 3 GPUs left ")
    assert "halving-doubling" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("key", ["kinds", "given", "gpus", "ports", "settings", "complete", "healthy", "plans"])
def test_other_content_is_refused(made: Fallbacks, key: str) -> None:
    """One line that names the key."""
    told = json.loads(made.to_json())
    for value in (None, 7.5, [3], {"a": 1}):
        with pytest.raises(InputError, match=key):
            Fallbacks.from_json(json.dumps({**told, key: value}))
    del told[key]
    with pytest.raises(InputError, match=key):
        Fallbacks.from_json(json.dumps(told))
