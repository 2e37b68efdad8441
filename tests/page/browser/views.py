"""The views, each at an address with a result in it."""

from __future__ import annotations

VIEWS = {
    "plan": "/plan?collective=all-reduce&size=1MiB&gpus=16",
    "compare": "/compare?collective=broadcast&size=1MiB&gpus=16",
    "two-fabrics": "/two-fabrics?collective=all-reduce&size=1MiB&gpus=16&other-reconfiguration-delay=1ms",
    "when-it-pays": (
        "/when-it-pays?collective=all-reduce&size=1MiB&gpus=16&x-from=1KiB&x-to=64MiB&x-points=5"
        "&y-from=100ns&y-to=1ms&y-points=5"
    ),
    "training": "/training?model=bert-pccl&ranks=8",
    "advice": "/advice?ports=1",
    "robust": "/robust?matrices=zipf:0.6&size=1MiB/pair&gpus=4&ports=2&iterations=3",
    "jobs": "/jobs",
    "results": "/results",
    "figure": "/results?figure=harvest-3",
}
