"""Plans of many random problems, exported and run: `python -m tests.formats --plans 1000 --seed 1`; docs/robustness.md.

Every plan is written as MSCCL XML, for RCCL, and as MSCCL++ execution plans on one host and on several, and run by the
interpreters of these tests; the XML is read back, judged, and held to the plan's steps.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.formats.msccl_xml import write as msccl_xml
from lightloom.formats.mscclpp import write as mscclpp
from lightloom.formats.output import MAIN
from lightloom.formats.rccl import write as rccl
from tests.formats import msccl_interpreter, mscclpp_interpreter, rccl_runtime
from tests.formats.steps import earliest, planned, read
from tests.recompute.problems import question

MOST_GPUS, SEEDS = 16, 2


def faults(plan: ll.Plan) -> list[str]:
    """What is wrong with a plan's exports. Raises `InputError` where a format cannot hold it."""
    found = []
    text = msccl_xml.export(plan).files[MAIN].decode()
    for_rccl = next(iter(rccl.export([plan]).files.values())).decode()
    documents = [json.loads(mscclpp.export(plan, None, hosts).files[MAIN]) for hosts in (None, 1, 3)]
    for seed in range(SEEDS):
        try:
            rccl_runtime.load(for_rccl)
            for program in (text, for_rccl):
                machine = msccl_interpreter.Machine(program, seed)
                machine.run()
                machine.check()
            for document in documents:
                mscclpp_interpreter.Machine(document, seed).run()
        except (AssertionError, rccl_runtime.RefusedError) as error:
            found.append(f"it does not run: {error}")
    schedule = ll.Schedule.from_msccl(text)
    found += [f"{check.name}: {check.detail}" for check in ll.verify(schedule) if not check.passed]
    if read(schedule) != earliest(planned(plan)):
        found.append("its steps are not the plan's")
    return found


def main() -> int:
    """Exit status 1 where a plan has a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.formats")
    parser.add_argument("--plans", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    counts: Counter[str] = Counter()
    index = 0
    while counts["run"] < asked.plans:
        problem = question(asked.seed, index)
        index += 1
        if problem.fabric["gpus"] > MOST_GPUS:
            continue
        try:
            plan = ll.plan(fabric=ll.Fabric(**problem.fabric), **problem.settings)
            wrong = faults(plan)
        except InputError:
            counts["refused"] += 1
            continue
        counts["run"] += 1
        counts["faulty"] += bool(wrong)
        counts["back step by step"] += not wrong and earliest(planned(plan)) == planned(plan)
        for fault in wrong:
            print(f"{asked.seed}:{index - 1} {plan}: {fault}")  # noqa: T201
    print(", ".join(f"{count} {name}" for name, count in counts.items()))  # noqa: T201
    return int(counts["faulty"] > 0)


if __name__ == "__main__":
    sys.exit(main())
