"""HARVEST's figure 6 on hosts of one's own: its schedule over the static ring's and BvN's, measured and planned.

Times are those of AllReduce by recursive doubling (§6.2), the middle of three runs. --fabric takes what `lightloom
calibrate` wrote; the numbers of the paper's testbed without it.
"""

import argparse

import lightloom as ll

options = argparse.ArgumentParser(description=__doc__)
options.add_argument("hosts", help="as of `lightloom run --hosts`")
options.add_argument("switch", help="as of `lightloom run --switch`")
options.add_argument("--fabric", default="harvest-testbed")
options.add_argument("--launch", default="ssh", help="as of `lightloom run --launch`")
options.add_argument("--agent-port", type=int, default=7411)
options.add_argument("--sizes", nargs="+", default=["256KiB", "1MiB", "4MiB", "16MiB", "64MiB"])
asked = options.parse_args()

print(f"{'size':>8}  {'over static':>12} {'planned':>8}  {'over BvN':>12} {'planned':>8}")
fabric = ll.Fabric.load(asked.fabric)
hosts = {"hosts": asked.hosts, "launch": asked.launch, "agent_port": asked.agent_port}
with ll.Executor(transport="tcp", switch=asked.switch, runs=3, **hosts) as executor:
    for size in asked.sizes:
        planned, measured = {}, {}
        for planner in ("harvest", "static", "bvn"):
            plan = ll.plan("all-reduce", size, fabric=fabric, algorithm="recursive-doubling", planner=planner)
            found = executor.run(plan)
            if found.wrong:
                raise SystemExit(f"{size}, {planner}: {found.wrong} elements are wrong")
            planned[planner], measured[planner] = plan.total_s, found.measured.median
        row = []
        for other, width in (("static", 12), ("bvn", 12)):
            row += [f"{times[other] / times['harvest']:{w}.2f}" for times, w in ((measured, width), (planned, 8))]
        print(f"{size:>8}  {row[0]} {row[1]}  {row[2]} {row[3]}", flush=True)
