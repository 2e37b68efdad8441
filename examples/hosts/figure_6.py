"""HARVEST's figure 6 on hosts of one's own: its schedule over the static ring's and BvN's, measured and planned.

Times are those of AllReduce by recursive doubling (§6.2), the middle of three runs. --fabric takes what `lightloom
calibrate` wrote; the numbers of the paper's testbed without it. A row is inconclusive where one of its runs is: by its
verdict, the machines were too busy for its times to say anything.
"""

import argparse
import sys
import tomllib
from pathlib import Path

import lightloom as ll

options = argparse.ArgumentParser(description=__doc__)
options.add_argument("hosts", help="as of `lightloom run --hosts`")
options.add_argument("switch", help="as of `lightloom run --switch`")
options.add_argument("--fabric", default="harvest-testbed")
options.add_argument("--launch", default="ssh", help="as of `lightloom run --launch`")
options.add_argument("--agent-port", type=int, default=7411)
options.add_argument("--sizes", nargs="+", default=["256KiB", "1MiB", "4MiB", "16MiB", "64MiB"])
asked = options.parse_args()
PLANNERS = ("harvest", "static", "bvn")


def gpus_of(hosts: str) -> dict[str, int]:
    """The number of ranks that a file of hosts has; other hosts take that of the fabric."""
    if not hosts.endswith(".toml"):
        return {}
    return {"gpus": sum(len(host["ranks"]) for host in tomllib.loads(Path(hosts).read_text("utf-8"))["hosts"])}


def compare() -> bool:
    """Print a row a size; whether all are conclusive."""
    fabric = ll.Fabric.load(asked.fabric, **gpus_of(asked.hosts))
    hosts = {"hosts": asked.hosts, "launch": asked.launch, "agent_port": asked.agent_port}
    verdicts = set()
    with ll.Executor(transport="tcp", switch=asked.switch, runs=3, **hosts) as executor:
        print(f"{'size':>8}  {'over static':>12} {'planned':>8}  {'over BvN':>12} {'planned':>8}  verdict")
        for size in asked.sizes:
            planned, measured, row_verdicts = {}, {}, set()
            for planner in PLANNERS:
                plan = ll.plan("all-reduce", size, fabric=fabric, algorithm="recursive-doubling", planner=planner)
                found = executor.run(plan)
                if found.wrong:
                    raise SystemExit(f"{size}, {planner}: {found.wrong} elements are wrong")
                planned[planner], measured[planner] = plan.total_s, found.measured.median
                row_verdicts.add(found.verdict)
            row = []
            for other in ("static", "bvn"):
                row += [f"{times[other] / times['harvest']:{w}.2f}" for times, w in ((measured, 12), (planned, 8))]
            verdict = "inconclusive" if "inconclusive" in row_verdicts else "conclusive"
            verdicts.add(verdict)
            print(f"{size:>8}  {row[0]} {row[1]}  {row[2]} {row[3]}  {verdict}", flush=True)
    return verdicts == {"conclusive"}


try:
    is_conclusive = compare()
except (ll.InputError, RuntimeError, OSError, tomllib.TOMLDecodeError) as error:
    print(f"error: {error}", file=sys.stderr)
    sys.exit(2 if isinstance(error, ll.InputError) else 1)
if not is_conclusive:
    print("inconclusive rows say nothing of speed-ups: hosts were too busy for the times of their steps")
