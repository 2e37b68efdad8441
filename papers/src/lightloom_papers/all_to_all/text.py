"""Claims of the all-to-all paper's text that no figure shows."""

from __future__ import annotations

import time
from itertools import combinations, product

from lightloom import Fabric, plan, simulate, train
from lightloom_papers.claims import Claim

OURS = "reconfigure-all-to-all"
# Theorem 1 for eight GPUs and three topologies: 1 + 2 + 3 hops on one, 1 + 2 on the two others.
EIGHT_CYCLE = (1, 2, 3, 4, 5, 6, 7, 0)
TWO_FOUR_CYCLES = (1, 2, 3, 0, 5, 6, 7, 4)
# Delays at which one topology is the best, and many are, s.
SLOW_S, FAST_S = 10.0, 1e-3
# Up to so many GPUs the planner has the paper's two bases only.
SMALLER, LARGE = (8, 16, 32), 64
DELAYS_S = (1e-6, 1e-5, 1e-4, 1e-3)
MODEL = "mixtral-8x22b"
# The best of a few tries, since machines are busy with other things as well.
TRIES, LEAST_TIMES = 5, 10


def text_claims() -> tuple[Claim, ...]:
    """The claims of §1, §3, §4 and §5.4."""
    return _three_permutations(), _base_topology(), _smooth(), _synthesis(), _mixture_of_experts()


def _three_permutations() -> Claim:
    """Whether P1 + P1² + P1³ + P2 + P2² + P3 + P3² can be the matrix of all pairs of eight GPUs.

    P1, P1² and P1³ differ everywhere, and from the identity, only where P1 is a cycle of eight or two of four. The
    four places that these leave in each row are to be P2, P2², P3 and P3².
    """
    found = sum(_completions(first) for first in (EIGHT_CYCLE, TWO_FOUR_CYCLES))
    return Claim.fact(
        "no three permutations reach the bound for eight GPUs",
        "§3.2",
        paper="none",
        ours=f"{found}",
        rule="none, by trying all",
        holds=found == 0,
    )


def _completions(first: tuple[int, ...]) -> int:
    ranks = range(len(first))
    taken = [{rank, first[rank], first[first[rank]], first[first[first[rank]]]} for rank in ranks]
    free = [sorted(set(ranks) - one) for one in taken]
    pairs = []
    for second in product(*free):
        if len(set(second)) == len(first):
            squared = [second[second[rank]] for rank in ranks]
            if all(squared[rank] in free[rank] and squared[rank] != second[rank] for rank in ranks):
                pairs.append([{second[rank], squared[rank]} for rank in ranks])
    return sum(all(one[rank].isdisjoint(other[rank]) for rank in ranks) for one, other in combinations(pairs, 2))


def _base(gpus: int, delay_s: float) -> tuple[str, int]:
    """The first topology of the strategy with four ports, and how many it has."""
    fabric = Fabric(gpus=gpus, ports=4, startup=0, hop_delay="500ns", reconfiguration_delay=delay_s, initial="dark")
    names = [topology.name for topology in plan("all-to-all", "32MB/pair", fabric=fabric, planner=OURS).topologies]
    _dark, first, *others = names
    return first.partition(":")[0], 1 + len(others)


def _base_topology() -> Claim:
    small = {_base(gpus, SLOW_S)[0] for gpus in SMALLER}
    (few, one), (many, several) = (_base(LARGE, delay_s) for delay_s in (SLOW_S, FAST_S))
    return Claim.fact(
        "the Kautz graph is favoured for larger n and fewer topologies, else the circulant",
        "§4.2",
        paper="Kautz for larger n and smaller d",
        ours=f"four ports, one topology: {', '.join(sorted(small))} up to {SMALLER[-1]} GPUs, {few} with {LARGE}; "
        f"{many} with {LARGE} and {several} topologies",
        rule="Kautz with 64 GPUs and one topology, circulant with fewer GPUs or many topologies",
        holds=small == {"circulant"} and few == "kautz" and one == 1 and many == "circulant",
    )


def _smooth() -> Claim:
    """Packets of the strategies of random flows over the times that the model has for them."""
    ratios = []
    for delay_s in DELAYS_S:
        fabric = Fabric(gpus=16, startup=0, hop_delay="500ns", reconfiguration_delay=delay_s, initial="dark")
        made = plan("all-to-all", "128KB/pair", fabric=fabric, planner=OURS, matrix="random", chunk_size="16KB")
        ratios.append(simulate(made).total_s / made.total_s)
    spread = max(ratios) - min(ratios)
    return Claim.fact(
        "curves are not quite smooth, since transmission times vary with the order of chunks",
        "fig. 14, §5.4",
        paper="slight variation",
        ours=f"packets take {min(ratios):.4f} to {max(ratios):.4f} of the model's time",
        rule="packets and model differ by more than 0.1 % between numbers of topologies",
        holds=spread > 0.001,
        why="16 GPUs, random flows of 128 KB in chunks of 16 KB: ours starts rounds one after the other, and packets "
        "of a round do not wait for each other; the paper does not say what varies",
    )


def _least_s(planner: str) -> float:
    fabric = Fabric(gpus=4, ports=2, reconfiguration_delay="10us", initial="dark")
    algorithm = None if planner == OURS else "direct"
    taken_s = []
    for _ in range(TRIES):
        begin_s = time.process_time()
        plan("all-to-all", "1MB", fabric=fabric, planner=planner, algorithm=algorithm)
        taken_s.append(time.process_time() - begin_s)
    return min(taken_s)


def _synthesis() -> Claim:
    quicker = _least_s("exact") >= LEAST_TIMES * _least_s(OURS)
    return Claim.fact(
        "schedules are generated more efficiently than by constraint solvers",
        "§4.1",
        paper="more efficiently",
        ours=f"{LEAST_TIMES} times less time or better" if quicker else f"less than {LEAST_TIMES} times less time",
        rule="ten times less processor time than planner `exact`, four GPUs with two ports",
        holds=quicker,
        why="TACCL and TE-CCL with their solvers are not at hand; `exact` is a "
        "mixed-integer program over all topologies in HiGHS",
    )


def _mixture_of_experts() -> Claim:
    """The All-to-Alls' part of the critical path of an iteration, on circuits that never change."""
    trained = train(MODEL, fabric=Fabric(bandwidth="800Gbps", ports=4), policy="static")
    return Claim.between(
        "part of an iteration of MoE training that All-to-All takes",
        "§1",
        low=33,
        high=55,
        ours=trained.critical_path_s["ep"] / trained.total_s * 100,
        unit="%",
        why=f"preset {MODEL}, 128 GPUs with four ports of 800 Gbit/s and fixed tori; the paper quotes measurements of "
        "other models on other machines (MixNet)",
    )
