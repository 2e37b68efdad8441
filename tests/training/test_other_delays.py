"""Iterations on fabrics that share what they have found are those of fabrics that share nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom.training.break_even import DELAYS_S
from tests.advice.jobs import MODEL


def workload(collective: str, size_bytes: int, *, same_bits: bool) -> ll.Workload:
    """Two communications of eight ranks with computation between them, of different sizes."""
    nodes: list[dict[str, Any]] = []
    for index, size in enumerate((size_bytes, 3 * size_bytes)):
        before = [nodes[-1]["id"]] if nodes else []
        nodes.append({"id": f"compute{index}", "kind": "compute", "duration_s": 1e-5, "after": before})
        nodes.append(
            {
                "id": f"sum{index}",
                "kind": "collective",
                "collective": collective,
                "axis": "dp",
                "size_bytes": size,
                "after": [nodes[-1]["id"]],
            }
        )
    told = {"schema": "lightloom.workload/1", "ranks": 8, "mesh": {"dp": 8}, "nodes": nodes}
    return ll.Workload.of({**told, "same_bits": True} if same_bits else told)


@pytest.mark.large
@settings(max_examples=12, deadline=None)
@given(
    collective=st.sampled_from(["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast"]),
    size_bytes=st.sampled_from([1 << 12, 1 << 20, 1 << 26]),
    ports=st.integers(1, 2),
    same_bits=st.booleans(),
    points=st.lists(
        st.tuples(st.sampled_from([0.0, *DELAYS_S, 1.0]), st.sampled_from([1e11, 8e11]), st.booleans()),
        min_size=2,
        max_size=4,
    ),
)
def test_one_cache_serves_all_delays_and_rates(
    collective: str, size_bytes: int, ports: int, same_bits: bool, points: list[tuple[float, float, bool]]
) -> None:
    asked = workload(collective, size_bytes, same_bits=same_bits)
    sharing = ll.Fabric(ports=ports)
    for delay_s, bandwidth_bps, is_mixed in points:
        bandwidth = [bandwidth_bps, bandwidth_bps / 2] if is_mixed and ports == 2 else bandwidth_bps
        fabric = ll.Fabric(ports=ports, reconfiguration_delay=delay_s, bandwidth=bandwidth)
        alone = ll.train(asked, fabric=fabric)
        shared = ll.train(asked, fabric=sharing.varied(reconfiguration_delay=delay_s, bandwidth=bandwidth))
        assert shared.to_json() == alone.to_json()


@pytest.mark.large
def test_families_that_share_ports_are_planned_as_alone(in_tmp: Path) -> None:
    (in_tmp / "model.toml").write_text(MODEL)
    sharing = ll.Fabric(ports=2)
    for delay_s in (1e-5, 1e-3, 1e-6, 1e-5):
        shared = ll.train("model.toml", fabric=sharing.varied(reconfiguration_delay=delay_s))
        alone = ll.train("model.toml", fabric=ll.Fabric(ports=2, reconfiguration_delay=delay_s))
        assert shared.to_json() == alone.to_json()
