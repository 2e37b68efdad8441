"""HARVEST's figure 6 on hosts of one's own: its schedule over the static ring's and BvN's, measured and planned.

Times are those of AllReduce by recursive doubling (§6.2), the middle of three runs; `spread` is the most by which the
slowest of them took longer than the fastest. --fabric takes what `lightloom calibrate` wrote; the numbers of the
paper's testbed without it. There are as many GPUs as the hosts have ranks.
"""

import argparse
import sys

import lightloom as ll
from lightloom.base.errors import FailedError
from lightloom.running.hosts.description import ranks_said

PLANNERS = ("harvest", "static", "bvn")


def main() -> int:
    """Measure, and print a row for every size; the exit status."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("hosts", help="as of `lightloom run --hosts`; names without numbers share the fabric's GPUs")
    options.add_argument("switch", help="as of `lightloom run --switch`")
    options.add_argument("--fabric", default="harvest-testbed")
    options.add_argument("--launch", default="ssh", help="as of `lightloom run --launch`")
    options.add_argument("--agent-port", type=int, default=7411)
    options.add_argument("--sizes", nargs="+", default=["256KiB", "1MiB", "4MiB", "16MiB", "64MiB"])
    try:
        return measure(options.parse_args())
    except (ll.InputError, FailedError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, ll.InputError) else 1


def measure(asked: argparse.Namespace) -> int:
    """Run the plans of all sizes. Raises `InputError` and `FailedError`."""
    ranks = ranks_said(asked.hosts)
    fabric = ll.Fabric.load(asked.fabric, **({} if ranks is None else {"gpus": ranks}))
    plans = {
        size: [
            ll.plan("all-reduce", size, fabric=fabric, algorithm="recursive-doubling", planner=name)
            for name in PLANNERS
        ]
        for size in asked.sizes
    }
    doubtful = 0
    hosts = {"hosts": asked.hosts, "launch": asked.launch, "agent_port": asked.agent_port}
    with ll.Executor(transport="tcp", switch=asked.switch, runs=3, **hosts) as executor:
        print(
            f"{'size':>8}  {'over static':>12} {'planned':>8}  {'over BvN':>12} {'planned':>8}  {'spread':>7}  verdict"
        )
        for size, of_size in plans.items():
            found = [executor.run(plan) for plan in of_size]
            for name, one in zip(PLANNERS, found, strict=True):
                if one.wrong:
                    raise FailedError(f"{size}, {name}: {one.wrong} elements are wrong")
            measured, planned = [one.measured.median for one in found], [plan.total_s for plan in of_size]
            spread = max(one.measured.max / one.measured.min - 1 for one in found)
            verdict = "conclusive" if all(one.verdict == "conclusive" for one in found) else "inconclusive"
            doubtful += verdict == "inconclusive"
            ratios = [f"{times[other] / times[0]:.2f}" for other in (1, 2) for times in (measured, planned)]
            row = f"{ratios[0]:>12} {ratios[1]:>8}  {ratios[2]:>12} {ratios[3]:>8}"
            print(f"{size:>8}  {row}  {spread:>7.0%}  {verdict}", flush=True)
    if doubtful:
        print(
            f"\ninconclusive: {doubtful} of {len(plans)} sizes. Timers or clocks of hosts are off by more than 5% of\n"
            "the plan's mean step, so that these speed-ups may be noise; larger sizes and quieter hosts help."
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
