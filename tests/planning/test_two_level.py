"""FAST on servers: times in closed form and by hand, what is refused, and the pipeline's parts."""

from __future__ import annotations

import numpy as np
import pytest

from lightloom import Fabric, InputError
from lightloom.inputs.matrix import generated_matrix
from lightloom.planning.two_level import fast_on_servers

FABRIC = Fabric(ports=2, bandwidth="400Gbps", startup="1us", hop_delay="500ns", reconfiguration_delay="10us")
# Bytes per second of both ports of a GPU, and inside a server.
CIRCUITS, INSIDE = 1e11, 4.5e11


@pytest.mark.parametrize(("servers", "server_gpus"), [(2, 2), (4, 8), (8, 4)])
def test_equal_blocks_in_closed_form(servers: int, server_gpus: int) -> None:
    """One stage for each other server; m blocks over each circuit, all but one handed on."""
    block = 1e6
    gpus = servers * server_gpus
    found = fast_on_servers(np.full((gpus, gpus), block), f"{server_gpus}:3600Gbps:100ns", fabric=FABRIC)
    circuits_s = 1.5e-6 + server_gpus * block / CIRCUITS
    handed_s = 100e-9 + (server_gpus - 1) * block / INSIDE
    assert len(found.stages) == servers - 1
    assert [stage.circuits_s for stage in found.stages] == pytest.approx(
        [circuits_s] + [10e-6 + circuits_s] * (servers - 2)
    )
    # The first change waits for nothing, and the last redistribution hides behind nothing.
    assert found.before_s == pytest.approx(10e-6)
    assert found.after_s == pytest.approx(handed_s)
    assert found.total_s == pytest.approx((servers - 1) * (10e-6 + circuits_s) + handed_s)
    assert found.bound_s == pytest.approx(10e-6 + 1.5e-6 + (servers - 1) * server_gpus * block / CIRCUITS)
    for stage in found.stages:
        senders, receivers = zip(*stage.pairs, strict=True)
        assert sorted(senders) == sorted(receivers) == list(range(servers))


def test_one_hot_flow_leaves_over_all_circuits_of_its_server() -> None:
    """A flow between two GPUs takes the circuits of all GPUs of its server, where FAST in one level has one GPU's."""
    matrix = np.zeros((16, 16))
    matrix[0, 8] = 8e6
    found = fast_on_servers(matrix, "8:3600Gbps", fabric=FABRIC)
    moved = 7e6
    assert [stage.pairs for stage in found.stages] == [[(0, 1)]]
    assert found.before_s == pytest.approx(moved / INSIDE)
    assert found.total_s == pytest.approx(2 * moved / INSIDE + 1.5e-6 + 1e6 / CIRCUITS)


@pytest.mark.parametrize("workload", ["uniform", "random", "zipf:0.4"])
def test_no_time_is_below_its_parts_or_the_bound(workload: str) -> None:
    matrix = generated_matrix(workload, 32, "1MB", seed=3)
    found = fast_on_servers(matrix, "8:3600Gbps:100ns", fabric=FABRIC)
    parts = [max(stage.circuits_s, stage.electrical_s) for stage in found.stages]
    assert found.total_s == pytest.approx(found.before_s + sum(parts) + found.after_s + found.inside_s)
    # The busiest server's bytes, added up here.
    crossing = matrix.reshape(4, 8, 4, 8).sum(axis=(1, 3))
    np.fill_diagonal(crossing, 0.0)
    busiest = max(crossing.sum(axis=0).max(), crossing.sum(axis=1).max())
    assert found.bound_s == pytest.approx(11.5e-6 + busiest / 8 / CIRCUITS)
    circuits_s = sum(stage.circuits_s for stage in found.stages)
    delays_s = len(found.stages) * 1.5e-6 + (len(found.stages) - 1) * 10e-6
    assert circuits_s - delays_s == pytest.approx(busiest / 8 / CIRCUITS)
    assert found.total_s >= found.bound_s


@pytest.mark.parametrize(
    ("electrical", "said"),
    [
        ("8", "8:3600Gbps:100ns"),
        ("8:1Gbps:1ns:2", "8:3600Gbps:100ns"),
        ("x:1Gbps", "8:3600Gbps:100ns"),
        (8, "8:3600Gbps:100ns"),
        ("9" * 5000 + ":1Gbps", "8:3600Gbps:100ns"),
        ("1:1Gbps", "from 2 to"),
        ("5:1Gbps", "divisor"),
        ("8:fast", "fast"),
        ("8:1Gbps:soon", "soon"),
    ],
)
def test_a_wrong_network_is_refused_by_name(electrical: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        fast_on_servers(np.ones((16, 16)), electrical, fabric=FABRIC)
    assert refused.value.field == "electrical"
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_wrong_matrix_and_delays_per_port_are_refused_by_name() -> None:
    for matrix in (np.zeros((16, 16)), np.full((16, 16), -1.0)):
        with pytest.raises(InputError) as refused:
            fast_on_servers(matrix, "8:3600Gbps", fabric=FABRIC)
        assert refused.value.field == "matrix"
    by_port = Fabric(reconfiguration_delay="5us+20ns/port")
    with pytest.raises(InputError) as refused:
        fast_on_servers(np.ones((16, 16)), "8:3600Gbps", fabric=by_port)
    assert refused.value.field == "reconfiguration_delay"
