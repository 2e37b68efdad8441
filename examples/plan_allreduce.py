"""Plan an AllReduce, look into the plan, and see when reconfiguring stops to pay."""

import numpy as np

import lightloom as ll

fabric = ll.Fabric(
    gpus=64, ports=1, bandwidth="800Gbps", startup="500ns", hop_delay="500ns", reconfiguration_delay="1us"
)

plan = ll.plan("all-reduce", size="1MiB", fabric=fabric, algorithm="recursive-doubling", planner="harvest")
print(plan)
for step in plan.steps:
    mark = "reconfigure to" if step.reconfigured else "on"
    cost = f"{step.hops} hops, load {step.load:g}, {step.total_s * 1e6:.3f} us"
    print(f"  step {step.index + 1}: {mark} {step.topology_name}, {cost}")

for row in ll.compare("all-reduce", size="1MiB", fabric=fabric, algorithm="recursive-doubling").rows:
    if row.total_s is not None:
        print(f"{row.planner} {row.topology}: {row.total_s / plan.total_s:.2f} times the plan's time")

problem = ll.Problem("all-reduce", fabric=fabric, algorithm="recursive-doubling", planner="harvest")
delays = np.logspace(-8, -3, 11)
sweep = problem.sweep(sizes="1MiB", delays=delays)
for delay, count in zip(delays, sweep.reconfigurations, strict=True):
    print(f"reconfiguration delay {delay:.0e} s: {count} reconfigurations")
