"""Inference that was planned: a case worked out by hand, the policies' order, and the verifier."""

import json
import re
import shlex
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import lightloom as ll
from lightloom.inputs.workloads.model import model_workload
from lightloom.training.result import Training
from lightloom.views.tables.training import training_table
from tests.conftest import ROOT, RunCli

PAGE = (ROOT / "docs" / "how-to" / "plan-inference.md").read_text()
MICRO = Fraction(1, 10**6)
# Startup and a hop, the time of a byte at 800 Gbit/s, a change of circuits.
STEP_S, BYTE_S, CHANGE_S = MICRO, Fraction(1, 10**11), 10 * MICRO


def tiny() -> str:
    """The description that the page has and works out by hand."""
    command = re.search(r"^\$ (printf (?:.*\\\n)*.*) > tiny\.toml$", PAGE, re.MULTILINE)
    assert command is not None
    return "\n".join(shlex.split(command[1].replace("\\\n", " "))[2:]) + "\n"


@pytest.fixture(scope="module")
def training() -> Training:
    """The page's iteration."""
    return ll.train(ll.Workload.of(model_workload(tiny())))


def test_the_page_s_case_is_what_its_dimensions_say(training: Training) -> None:
    layers, h, v, f, vocabulary = 2, 1024, 512, 4096, 1000
    attention, network, logits = 2 * h * h + 2 * h * v, 2 * h * f, vocabulary * h

    def takes(flops: int, memory_bytes: int) -> Fraction:
        """Two ranks, each with half of it: 5e13 FLOP/s and 8e11 bytes/s a rank."""
        return max(Fraction(flops, 10**14), Fraction(memory_bytes, 16 * 10**11))

    prompt, requests, context, steps = 512, 4, 640, 7
    of_prompt = (
        takes(2 * attention * prompt + 4 * h * prompt * prompt // 2, 2 * attention + 4 * v * prompt),
        takes(2 * network * prompt, 2 * network),
        takes(2 * logits, 2 * logits),
    )
    of_step = (
        takes(2 * attention * requests + 4 * h * requests * context, 2 * attention + 4 * v * requests * context),
        takes(2 * network * requests, 2 * network),
        takes(2 * logits * requests, 2 * logits),
    )
    # Each of two ranks sends the other all that it has.
    sum_of_prompt, sum_of_step = (STEP_S + 2 * h * tokens * BYTE_S for tokens in (prompt, requests))
    first_s = layers * (of_prompt[0] + of_prompt[1] + 2 * sum_of_prompt) + of_prompt[2]
    caches_s = first_s - of_prompt[2] + CHANGE_S + STEP_S + layers * 2 * v * 2 * prompt // 2 * BYTE_S
    step_s = layers * (of_step[0] + of_step[1] + 2 * sum_of_step) + of_step[2]
    decoded_s = CHANGE_S - of_step[0] + steps * step_s
    assert decoded_s < caches_s
    ends = {event.node: event.end_s for event in training.events}
    assert ends["prefill-logits"] == pytest.approx(float(first_s), rel=1e-12)
    assert ends["caches-0"] == training.total_s == pytest.approx(float(caches_s), rel=1e-12)
    assert ends["step-6-logits"] == pytest.approx(float(decoded_s), rel=1e-12)
    found = training.inference
    assert found is not None
    assert (found.first_token_s["carry"], found.caches_s["carry"]) == (ends["prefill-logits"], ends["caches-0"])
    assert found.token_s["carry"] == pytest.approx(float(caches_s / steps))
    assert found.tokens_per_s["carry"] == pytest.approx(float((1 + requests * steps) / caches_s))
    assert found.prompts_per_s["carry"] == pytest.approx(float(1 / caches_s))
    assert found.answer_tokens == requests * steps
    # The page's own numbers, in microseconds.
    by_hand = PAGE[PAGE.index("### The same by hand") : PAGE.index("## When changing circuits pays")]
    shown = [*of_prompt, *of_step, sum_of_prompt, sum_of_step, first_s, caches_s, step_s, decoded_s, caches_s / steps]
    for time_s in shown:
        assert f"{float(time_s / MICRO):.3f}" in by_hand
    for count in (attention, network, logits, round((1 + requests * steps) / caches_s)):
        assert f"{count:,}".replace(",", " ") in by_hand


@pytest.mark.parametrize("requests", [1, 16, 512])
@pytest.mark.parametrize("ports", [1, 2])
def test_what_a_decode_step_communicates_is_two_sums_a_layer(requests: int, ports: int) -> None:
    text = tiny().replace("requests = 4", f"requests = {requests}").replace("steps = 7", "steps = 2")
    text = text[: text.index("[prefill]")] + text[text.index("[decode]") :]
    training = ll.train(ll.Workload.of(model_workload(text)), fabric=ll.Fabric(ports=ports))
    communicated_s = training.total_s - training.compute_s
    one_s = STEP_S + requests * 1024 * 2 * BYTE_S / ports
    assert communicated_s == pytest.approx(float(2 * 2 * 2 * one_s), rel=1e-9)
    assert training.inference is not None
    assert training.inference.token_s["carry"] == training.total_s / 2
    assert training.inference.first_token_s == training.inference.prompts_per_s == {}


@pytest.mark.parametrize("decode", ["tensor = 2", "tensor = 1\ninstances = 2", "pipeline = 2\nmicrobatches = 2"])
@pytest.mark.parametrize("delay", ["100ns", "10us", "1ms"])
def test_joint_planning_is_never_slower_and_the_ideal_never_faster_than_it(decode: str, delay: str) -> None:
    head, tail = tiny().split("[decode]")
    text = head + "[decode]" + tail.replace("tensor = 2", decode).replace("steps = 7", "steps = 2")
    for ports in (1, 2):
        fabric = ll.Fabric(ports=ports, reconfiguration_delay=delay)
        training = ll.train(ll.Workload.of(model_workload(text)), fabric=fabric)
        times = {name: time_s for name, time_s in training.policies.items() if time_s is not None}
        assert times["packet-switch"] <= times["carry"] * (1 + 1e-12)
        assert all(times["carry"] <= time_s * (1 + 1e-12) for name, time_s in times.items() if name != "packet-switch")
        assert training.lower_bound_s <= times["carry"] * (1 + 1e-12)
        assert all(check.passed for check in ll.verify(training))
        found = training.inference
        assert found is not None
        for name, time_s in times.items():
            first_s, caches_s = found.first_token_s[name], found.caches_s[name]
            assert first_s is not None
            assert caches_s is not None
            assert first_s < caches_s <= time_s


def test_every_policy_s_own_plan_has_the_times_that_are_stated_of_it(training: Training) -> None:
    stated = training.inference
    assert stated is not None
    for policy in ("alone", "pccl"):
        own = ll.train(ll.Workload.of(model_workload(tiny())), policy=policy)
        ends = {event.node: event.end_s for event in own.events}
        assert stated.first_token_s[policy] == pytest.approx(ends["prefill-logits"], rel=1e-12)
        assert stated.caches_s[policy] == pytest.approx(ends["caches-0"], rel=1e-12)


def _sooner(told: dict[str, Any]) -> None:
    told["first_token_s"]["carry"] *= 0.5


def _unsaid(told: dict[str, Any]) -> None:
    del told["caches_s"]


def _of_nobody(told: dict[str, Any]) -> None:
    del told["workload"]["inference"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_sooner, "first tokens: stated at 147.1 µs, and node `prefill-logits` ends at 294.2 µs"),
        (_unsaid, "caches: no time is stated for policy carry"),
        (_of_nobody, "first tokens: the plan states times, but the workload names no node for them"),
    ],
)
def test_the_judge_compares_what_is_stated_with_the_events(
    training: Training, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    told = json.loads(training.to_json())
    change(told)
    wrong = Training.unjudged(json.dumps(told))
    assert [(check.name, check.detail) for check in ll.verify(wrong) if not check.passed] == [("inference", said)]


WORKLOAD: dict[str, Any] = model_workload(tiny())


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        ({"first_token": "nowhere"}, "first_token", "`nowhere` is no node"),
        ({"first_token": None}, "first_token", "it goes with prompts"),
        ({"steps": 0}, "steps", "must both be 0, or both above 0"),
        ({"steps": 0, "requests": 0}, "caches", "it goes with prompts and decode steps"),
        ({"prompts": 1 << 54}, "prompts", "0 to 2^53"),
        (
            {"prompts": 0, "steps": 0, "requests": 0, "first_token": None, "caches": None},
            "prompts",
            "there must be prompts, or decode steps, or both",
        ),
        ({"answers": 1}, "answers", "unknown field `answers`"),
    ],
)
def test_counts_that_do_not_go_together_are_refused(change: dict[str, Any], field: str, said: str) -> None:
    counts = {**WORKLOAD["inference"], **change}
    told = {**WORKLOAD, "inference": {key: value for key, value in counts.items() if value is not None}}
    with pytest.raises(ll.InputError) as refused:
        ll.Workload.of(told)
    assert refused.value.field == f"workload.inference.{field}"
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_table_says_what_it_is_and_what_requests_wait_for(training: Training) -> None:
    words = [" ".join(line.split()) for line in training_table(training).splitlines()]
    assert words[0].startswith("tiny, prefill of 1 prompt and 7 decode steps of 4 requests on 4 ranks: 314.4 µs, ")
    place = words.index("requests, by policy time to first token caches sent time per token tokens/s prompts/s")
    assert words[place + 2] == "joint 294.2 µs 314.4 µs 44.91 µs 92,242 3,181"
    assert "fixed tori - - - - -" in words
    assert "as many requests end as begin if answers have 28 tokens after the first" in words


def test_the_verb_takes_a_description(cli: RunCli, in_tmp: Path, training: Training) -> None:
    (in_tmp / "tiny.toml").write_text(tiny())
    ran = cli("train", "tiny.toml", "--output", "iteration.json", "--format", "json")
    assert ran.status == 0, ran.err
    told = json.loads(ran.out)
    assert told["first_token_s"] == json.loads(training.to_json())["first_token_s"]
    assert Training.load("iteration.json").inference == training.inference
    assert cli("verify", "iteration.json").status == 0
