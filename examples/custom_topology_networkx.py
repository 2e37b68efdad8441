"""Plan on topologies of one's own: any NetworkX graph whose nodes are 0, 1, ... is one."""

import networkx as nx

import lightloom as ll

fabric = ll.Fabric(gpus=16, ports=4, reconfiguration_delay="20us")
chordal = nx.circulant_graph(16, [1, 5])
expander = nx.random_regular_graph(4, 16, seed=7)

plan = ll.plan(
    "reduce-scatter",
    size="16MiB",
    fabric=fabric,
    algorithm="halving-doubling",
    candidates=[
        "step-matchings",
        ll.from_networkx(chordal, name="chordal"),
        ll.from_networkx(expander, name="expander"),
    ],
)
print(plan)
for topology in plan.topologies:
    graph = ll.to_networkx(topology)
    diameter = nx.diameter(graph) if nx.is_strongly_connected(graph) else "none"
    print(f"  {topology.name}: {graph.number_of_edges()} circuits, diameter {diameter}")

static = ll.plan(
    "reduce-scatter", size="16MiB", fabric=fabric, algorithm="halving-doubling", planner="static", topology=chordal
)
print(f"staying on the chordal ring takes {static.total_s / plan.total_s:.2f} times as long")
