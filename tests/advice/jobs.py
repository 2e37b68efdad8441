"""Small jobs for the tests of advice."""

from __future__ import annotations

from typing import Any

# Two collectives: an AllReduce that changing circuits makes faster up to some delay, and an All-to-All.
COLLECTIVES: dict[str, Any] = {
    "name": "collectives",
    "gpus": 8,
    "ports": 1,
    "bandwidth": "400Gbps",
    "mix": [
        {"collective": "all-reduce", "size": "16MiB", "count": 2},
        {"collective": "all-to-all", "size": "1MiB", "count": 12.5},
    ],
}
# Two layers of a mixture of experts on eight GPUs.
MODEL = """\
[model]
layers = 2
hidden = 1024
ffn_hidden = 4096
heads = 8
vocabulary = 0
experts = 4
experts_per_token = 2
sequence = 512

[batch]
micro_batch = 1

[parallelism]
tensor = 2
expert = 4

[compute]
forward = "100us"
backward = "200us"
"""
