"""The keys of a description of inference: those of a model that it has in common with training, and its own.

A description with a table `[prefill]`, `[decode]` or both is one of inference. The reader, its messages and the
reference page derive from `KEYS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.inputs.workloads import model_keys
from lightloom.inputs.workloads.model_keys import INFERENCE, ROUTING, Form, Key, read_tables

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["KEYS", "is_inference", "read_inference"]

# Keys of the model that only training needs; prompts are causal and as long as `[prefill]` says.
OF_TRAINING = {"sequence", "causal", "tied_embeddings", "gradient_bytes", "layer_gradients"}
MOST_OF_LAYER = 1 << 40
_POOL = (
    ("tensor", "Ranks that share every matrix, axis tp.", 1),
    ("pipeline", "Stages of layers, axis pp.", 1),
    ("expert", "Ranks that share the experts, axis ep; each has requests of its own.", 1),
    ("instances", "Copies of all these, axis dp.", 1),
    ("microbatches", "Parts of the requests that go through the stages one behind the other, M.", 1),
)


def _pool(section: str) -> tuple[Key, ...]:
    return tuple(Key(section, name, Form.WHOLE, meaning, default=default) for name, meaning, default in _POOL)


KEYS = (
    *(key for key in model_keys.KEYS if key.section == "model" and key.name not in OF_TRAINING),
    Key("model", "shared_experts", Form.WHOLE, "Experts that every token goes through, on its own rank.", 0, least=0),
    Key(
        "model",
        "attention_parameters",
        Form.WHOLE,
        "Parameters of one layer's attention, stated in place of counted.",
        otherwise="2h² + 2hv",
        most=MOST_OF_LAYER,
    ),
    Key(
        "model",
        "score_flops",
        Form.WHOLE,
        "FLOPs of a token's scores with another one and of their sums over values, in a layer.",
        otherwise="4h",
        most=MOST_OF_LAYER,
    ),
    Key("model", "cache_values", Form.WHOLE, "Values of the KV cache of a token in a layer.", otherwise="2v"),
    Key("model", "cache_bytes", Form.WHOLE, "Bytes of a value of the KV cache.", otherwise="parameter_bytes"),
    Key("prefill", "prompt", Form.WHOLE, "Tokens of a prompt."),
    Key("prefill", "requests", Form.WHOLE, "Prompts that a tensor-parallel group reads at once.", default=1),
    *_pool("prefill"),
    Key("decode", "context", Form.WHOLE, "Tokens whose keys and values a step reads for each request."),
    Key("decode", "requests", Form.WHOLE, "Requests that get a token a step on each tensor-parallel group.", default=1),
    Key("decode", "steps", Form.WHOLE, "Steps of an iteration.", default=1),
    *_pool("decode"),
    *(key for key in model_keys.KEYS if key.section == ROUTING),
    *(key for key in model_keys.KEYS if key.section == "accelerator"),
    Key("accelerator", "memory_bandwidth", Form.BANDWIDTH, "Peak rate at which a rank reads its memory."),
    Key("accelerator", "memory_utilisation", Form.SHARE, "Share of that rate that is reached.", default=1),
)


def is_inference(values: Mapping[str, Any]) -> bool:
    """Whether a description is of inference, by its tables."""
    return any(name in values for name in INFERENCE)


def read_inference(values: Mapping[str, Any], where: str) -> dict[str, dict[str, Any]]:
    """The values of a description of inference by table; errors as for `model_keys.read_tables`."""
    return read_tables(values, where, KEYS, (*INFERENCE, ROUTING))
