"""The backend `lightloom` of PyTorch: collectives of a training job carried out by their plans.

    import lightloom.torch
    torch.distributed.init_process_group("lightloom")

The processes of a job are the GPUs of the fabric that `LIGHTLOOM_FABRIC` names. Every collective is planned for it,
and carried out step by step, over circuits that change between steps. All processes run on one host. Importing this
module registers the backend; it raises `InputError` where PyTorch is not installed.
"""

from __future__ import annotations

from lightloom.base.extras import missing

__all__ = ["BACKEND", "group_of", "step"]

BACKEND = "lightloom"

try:
    import torch.distributed  # noqa: F401
except ImportError as error:
    raise missing("lightloom.torch", "the backend of PyTorch", "torch") from error

from lightloom.torch.backend import group_of, register  # noqa: E402
from lightloom.torch.trace import step  # noqa: E402

register(BACKEND)
