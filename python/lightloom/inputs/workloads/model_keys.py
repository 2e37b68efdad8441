"""The keys of a model's description: the only list of them, and the values of each.

The reader, its messages and the reference page derive from `KEYS`.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.base.errors import refuse, shown, text_of, unknown_name
from lightloom.base.whole_numbers import whole_number
from lightloom.inputs.quantities import ACCEPTS, bytes_of, number_of, seconds_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["DESCRIPTIVE_KEYS", "INFERENCE", "KEYS", "ROUTING", "Form", "Key", "read_keys", "read_tables"]

MOST = 1 << 20
MOST_FLOPS = 1e21
# Either of these tables makes a description one of inference, which `inference_keys` lists the keys of.
INFERENCE = ("prefill", "decode")
# The table that says how tokens are spread over experts; without it, evenly.
ROUTING = "routing"
# Keys by which a description may describe itself, in addition to its tables; all have texts.
DESCRIPTIVE_KEYS = ("name", "summary", "source")


class Form(Enum):
    """The form of a key's value."""

    WHOLE = "a whole number"
    FLAG = "true or false"
    SIZE = "a size"
    SIZES = "a list of sizes"
    TIME = "a time"
    RATE = "FLOP/s"
    BANDWIDTH = "bytes/s"
    SHARE = "a share"
    TRAFFIC = "the name of a generated matrix"
    FILES = "a list of files"


class Key(NamedTuple):
    """A key of a table.

    default: its value where it is left out. otherwise: in words, the value taken without a default; a key without
    either must be given. least, most: the smallest and the largest whole number that it takes.
    """

    section: str
    name: str
    form: Form
    meaning: str
    default: int | bool | None = None
    otherwise: str = ""
    least: int = 1
    most: int = MOST

    @property
    def field(self) -> str:
        """The key as messages name it."""
        return f"{self.section}.{self.name}"

    @property
    def is_needed(self) -> bool:
        """Whether the key must be given: it has no default."""
        return self.default is None and not self.otherwise

    @property
    def accepts(self) -> str:
        """The accepted values, in words."""
        return {
            Form.WHOLE: f"a whole number from {self.least} to {self.most}",
            Form.FLAG: "true or false",
            Form.SIZE: ACCEPTS["size"],
            Form.SIZES: "a list of sizes such as 64MiB, at least one",
            Form.TIME: ACCEPTS["time"],
            Form.RATE: f"a number of FLOP/s from 1 to {MOST_FLOPS:g}",
            Form.BANDWIDTH: f"a number of bytes/s from 1 to {MOST_FLOPS:g}",
            Form.SHARE: "a number above 0 and at most 1",
            Form.TRAFFIC: "a name of `lightloom list workloads`, such as top-k:2:1.2:1.25",
            Form.FILES: "a list of names of CSV, NPY or Parquet files, at least one",
        }[self.form]

    def value_of(self, value: Any) -> int | float | bool | str | tuple[int | str, ...]:
        """The value as the key's type. Raises `InputError` that names the key."""
        if self.form is Form.WHOLE:
            return whole_number(self.field, value, self.least, self.most)
        if (self.form, type(value)) in {(Form.FLAG, bool), (Form.TRAFFIC, str)}:
            found: bool | str = value
            return found
        if self.form in {Form.SIZES, Form.FILES} and isinstance(value, list) and value:
            of_item = _size if self.form is Form.SIZES else text_of
            return tuple(of_item(self.field, item) for item in value)
        if self.form is Form.SIZE:
            return _size(self.field, value)
        if self.form is Form.TIME and isinstance(value, (str, int, float)):
            return seconds_of(self.field, value)
        if self.form in {Form.RATE, Form.BANDWIDTH, Form.SHARE}:
            number = number_of(self.field, value, self.accepts)
            if (0 < number <= 1) if self.form is Form.SHARE else (1 <= number <= MOST_FLOPS):
                return number
        raise refuse(self.field, f"`{shown(value)}` is not accepted; it takes {self.accepts}")


KEYS = (
    Key("model", "layers", Form.WHOLE, "Transformer layers, L."),
    Key("model", "hidden", Form.WHOLE, "Hidden size, h."),
    Key("model", "ffn_hidden", Form.WHOLE, "Hidden size of the feed-forward network, or of one expert, f."),
    Key(
        "model", "gated", Form.FLAG, "Feed-forward networks of three matrices (SwiGLU) in place of two.", default=False
    ),
    Key("model", "heads", Form.WHOLE, "Attention heads."),
    Key(
        "model", "kv_heads", Form.WHOLE, "Heads of keys and values, where several heads share them.", otherwise="heads"
    ),
    Key("model", "vocabulary", Form.WHOLE, "Tokens of the vocabulary, V; 0: no embedding and no logits.", least=0),
    Key(
        "model",
        "tied_embeddings",
        Form.FLAG,
        "The logits' matrix is the embedding's, stored once a stage.",
        default=False,
    ),
    Key("model", "experts", Form.WHOLE, "Experts of each layer, E; 1: one dense network.", default=1),
    Key("model", "experts_per_token", Form.WHOLE, "Experts that a token is sent to, k.", default=1),
    Key("model", "sequence", Form.WHOLE, "Tokens of one sample, s."),
    Key("model", "causal", Form.FLAG, "Scores are computed only for earlier tokens: half of the pairs.", default=False),
    Key("model", "parameter_bytes", Form.WHOLE, "Bytes of a parameter, and of an activation (2: bf16).", default=2),
    Key("model", "gradient_bytes", Form.WHOLE, "Bytes of a gradient when it is reduced.", otherwise="parameter_bytes"),
    Key(
        "model",
        "layer_gradients",
        Form.SIZES,
        "Bytes of the reductions of one layer's gradients on a rank, stated in place of counted.",
        otherwise="counted",
    ),
    Key("batch", "micro_batch", Form.WHOLE, "Samples of a microbatch of one data-parallel rank, b."),
    Key("batch", "microbatches", Form.WHOLE, "Microbatches of an iteration, M.", default=1),
    Key(
        "batch", "recomputation", Form.FLAG, "The backward pass computes each layer's activations again.", default=False
    ),
    Key("parallelism", "tensor", Form.WHOLE, "Ranks that share every matrix, axis tp.", default=1),
    Key("parallelism", "pipeline", Form.WHOLE, "Stages of layers, axis pp.", default=1),
    Key("parallelism", "data", Form.WHOLE, "Replicas of all else, axis dp.", default=1),
    Key(
        "parallelism",
        "expert",
        Form.WHOLE,
        "Ranks that share the experts, axis ep; data parallel in all else.",
        default=1,
    ),
    Key(
        "parallelism",
        "context",
        Form.WHOLE,
        "Ranks that share the tokens of every sample, axis cp: keys and values are gathered.",
        default=1,
    ),
    Key(
        "parallelism",
        "sequence_parallel",
        Form.FLAG,
        "Ranks of tp share tokens between parts: AllGather and ReduceScatter in place of AllReduce.",
        default=False,
    ),
    Key(
        "parallelism",
        "sharded",
        Form.FLAG,
        "FSDP, ZeRO-3: data-parallel ranks share parameters, gathered a layer forward and backward.",
        default=False,
    ),
    Key(
        "parallelism",
        "prefetch",
        Form.FLAG,
        "sharded: a layer is gathered while the one before computes.",
        default=False,
    ),
    Key(
        "parallelism", "overlap_gradients", Form.FLAG, "Gradients are reduced during the backward pass.", default=False
    ),
    Key("parallelism", "bucket", Form.SIZE, "Bytes of one reduction of gradients.", otherwise="a layer each"),
    Key(
        ROUTING,
        "traffic",
        Form.TRAFFIC,
        "Tokens that the ranks of ep send each other, as matrices are drawn.",
        otherwise="trace",
    ),
    Key(
        ROUTING,
        "trace",
        Form.FILES,
        "Tokens by rank and expert, a file for each matrix, next to the description.",
        otherwise="traffic",
    ),
    Key(ROUTING, "matrices", Form.WHOLE, "Different matrices; layers take them in turn.", default=1),
    Key(
        ROUTING,
        "drift",
        Form.SHARE,
        "Share of a matrix that is drawn anew, the rest being that of the one before.",
        otherwise="all",
    ),
    Key(ROUTING, "seed", Form.WHOLE, "Seed of all random numbers.", default=0, least=0),
    Key("accelerator", "flops", Form.RATE, "Peak of one rank, FLOP/s."),
    Key("accelerator", "utilisation", Form.SHARE, "Share of the peak that computation reaches."),
    Key("compute", "forward", Form.TIME, "Time of a rank's layers for a microbatch, forward."),
    Key("compute", "backward", Form.TIME, "The same, backward, without recomputation."),
)
# Tables of which one says how long computation takes.
TIMED = ("accelerator", "compute")


def read_keys(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The values of a description, by the names of its keys; None for what is left out and has no default.

    Raises `InputError` that names the table or key, for one that is not known, is missing, or has a wrong value.
    """
    found: dict[str, Any] = {}
    for table in read_tables(values, where, KEYS, (*TIMED, ROUTING)).values():
        found |= table
    if not any(name in values for name in TIMED):
        raise refuse(TIMED[0], f"it is missing in {where}; it takes a table [accelerator], or [compute] in its place")
    if all(name in values for name in TIMED):
        raise refuse(TIMED[0], "[accelerator] and [compute] both say how long computation takes; give one of them")
    return found


def read_tables(
    values: Mapping[str, Any], where: str, keys: Sequence[Key], optional: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """The values of a description's keys, by table; texts about itself are in the table `""`.

    keys: all that there are. optional: tables that may be left out, of whose keys none is needed then. Raises
    `InputError` as `read_keys`.
    """
    sections = tuple(dict.fromkeys(key.section for key in keys))
    for name in values:
        if name not in sections and name not in DESCRIPTIVE_KEYS:
            raise unknown_name("model", name, tuple(dict.fromkeys((*sections, *INFERENCE, *DESCRIPTIVE_KEYS))))
    found = {"": {name: text_of(name, values[name]) for name in DESCRIPTIVE_KEYS if name in values}}
    for section in sections:
        of_section = [key for key in keys if key.section == section]
        if section in values:
            _check_table(section, values[section], of_section)
        elif section not in optional:
            raise refuse(section, f"it is missing in {where}; it takes a table [{section}]")
        found[section] = {key.name: _value(key, values, where) for key in of_section}
    return found


def _value(key: Key, values: Mapping[str, Any], where: str) -> Any:
    """The key's value, or its default; None where it has none."""
    table = values.get(key.section, {})
    if key.name in table:
        return key.value_of(table[key.name])
    if key.is_needed and key.section in values:
        raise refuse(key.field, f"it is missing in {where}; it takes {key.accepts}")
    return key.default


def _check_table(section: str, table: Any, keys: Sequence[Key]) -> None:
    """Refuse what is no table, or has unknown keys."""
    if not isinstance(table, dict):
        raise refuse(section, f"`{shown(table)}` is not accepted; it takes a table [{section}]")
    names = [key.name for key in keys]
    for name in table:
        if name not in names:
            raise unknown_name(section, name, names)


def _size(field: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes {ACCEPTS['size']}")
    return bytes_of(field, value)
