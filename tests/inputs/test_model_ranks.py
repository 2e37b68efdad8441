"""Numbers of ranks that a description's layout does not fit: the message names those next to them that it does."""

from __future__ import annotations

from typing import Any

import pytest

import lightloom as ll
from lightloom.inputs.workloads.model import model_workload
from tests.inputs.model_descriptions import with_keys, written

MODEL = {"layers": 6, "hidden": 64, "ffn_hidden": 64, "heads": 4, "kv_heads": 4, "vocabulary": 64, "sequence": 16}
MOST = 26


@pytest.mark.parametrize(
    "parallelism",
    [
        {"tensor": 2, "pipeline": 2},
        {"tensor": 1, "pipeline": 3},
        # One replica has nobody to share its parameters with: 8 ranks are the fewest.
        {"tensor": 4, "pipeline": 1, "sharded": True},
    ],
    ids=["stages", "three stages", "sharded"],
)
def test_a_wrong_number_of_ranks_is_told_those_next_to_it(parallelism: dict[str, Any]) -> None:
    text = written(with_keys(model=MODEL, parallelism=parallelism))
    accepted, messages = [], {}
    for ranks in range(2, MOST):
        try:
            model_workload(text, ranks=ranks)
            accepted.append(ranks)
        except ll.InputError as refused:
            if refused.field == "ranks":
                messages[ranks] = str(refused)
    checked = {ranks: message for ranks, message in messages.items() if ranks < accepted[-1]}
    assert len(checked) > len(accepted)
    for ranks, message in checked.items():
        below = [fits for fits in accepted if fits < ranks][-1:]
        above = [fits for fits in accepted if fits > ranks][:1]
        assert f", nearest {' and '.join(map(str, below + above))}; --layout auto" in message


def test_where_no_number_of_ranks_fits_none_is_named() -> None:
    stages = 1 << 17
    text = written(with_keys(model={**MODEL, "layers": stages}, parallelism={"tensor": 1, "pipeline": stages}))
    with pytest.raises(ll.InputError, match=f"= {stages}; --layout auto"):
        model_workload(text, ranks=8)
