"""A plan's transfers, paths and chunks, compared with its JSON written out by a second implementation."""

import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from tests.formats.plans import document_of, random_plans
from tests.names import names
from tests.reference.plan_document import arcs_of, chunks_of, transfers_of

PLANS = 40


@pytest.mark.large
@pytest.mark.slow
def test_everything_is_expanded() -> None:
    collectives = set()
    for plan in random_plans(PLANS):
        document = document_of(plan)
        ranks, chunks = document["gpus"], chunks_of(document)
        collectives.add(plan.collective)
        held = plan.chunks()
        assert held.source.tolist() == list(chunks.first)
        assert held.destination.tolist() == list(chunks.last)
        for chunk, size in enumerate(held.size_bytes.tolist()):
            assert size == pytest.approx(float(chunks.share([chunk]) * plan.size_bytes), rel=1e-12)
        for index, told in enumerate(document["steps"]):
            expected = sorted(
                (one.src, one.dst, "reduce" if one.reduces else "copy", sorted(one.chunks))
                for one in transfers_of(told, chunks, ranks)
            )
            found = list(plan.transfers(index))
            assert sorted((*one[:3], one.chunks.tolist()) for one in found) == expected
            for one in found:
                sent = float(chunks.share(one.chunks.tolist()) * plan.size_bytes)
                assert one.size_bytes == pytest.approx(sent, rel=1e-12)
            paths = sorted(
                (arc.src, arc.dst, share, list(nodes)) for arc in arcs_of(told, ranks) for share, nodes in arc.paths
            )
            routes = list(plan.routes(index))
            assert sorted((one.source, one.destination, one.share, one.gpus.tolist()) for one in routes) == paths
    assert collectives == {*names("collectives")}


def test_bytes_on_paths_are_those_of_transfers() -> None:
    plan = ll.plan("all-to-all", "1MiB", fabric=ll.Fabric(gpus=9, ports=2), algorithm="bruck")
    for index in range(len(plan.steps)):
        assert plan.routes(index).size_bytes.sum() == pytest.approx(plan.transfers(index).size_bytes.sum())
        assert len(plan.routes(index)) == len(list(plan.routes(index)))


@pytest.mark.parametrize("step", [-1, 99, "0", None])
def test_steps_that_are_not_there_are_refused(step: object) -> None:
    plan = ll.plan("all-gather", "1MiB", fabric=ll.Fabric(gpus=4), algorithm="ring")
    with pytest.raises(InputError, match=r"^step: .* is not accepted; it takes 0 to 2$"):
        plan.transfers(step)  # type: ignore[arg-type]


def test_a_plan_that_does_not_verify_is_refused() -> None:
    plan = ll.plan("all-gather", "1MiB", fabric=ll.Fabric(gpus=4), algorithm="ring", planner="static")
    wrong = ll.Plan.from_json(plan.to_json().replace('"hops": 1', '"hops": 2'))
    for ask in (lambda: wrong.transfers(0), lambda: wrong.routes(0), wrong.chunks):
        with pytest.raises(InputError, match=r"^plan: the plan fails the check `hops`: "):
            ask()
