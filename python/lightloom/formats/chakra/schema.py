"""The messages of Chakra's schema, built at run time by the `protobuf` package.

Field numbers are those of MLCommons Chakra, schema/protobuf/et_def.proto. The messages live in a pool of their own, so
that a program which also imports Chakra's own Python package has both.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from typing import Any, NamedTuple

from lightloom.base.extras import missing

# Package of the schema, which also names the messages in errors of other tools.
PACKAGE = "ChakraProtoMsg"
# The field of the oneof `value` that holds each type of the attributes that are written.
SCALARS = {
    "double_val": 3,
    "float_val": 5,
    "int32_val": 7,
    "int64_val": 9,
    "uint32_val": 11,
    "uint64_val": 13,
    "sint32_val": 15,
    "sint64_val": 17,
    "bool_val": 27,
    "string_val": 29,
}
LISTS = {
    "double_list": 4,
    "int32_list": 8,
    "int64_list": 10,
    "uint32_list": 12,
    "uint64_list": 14,
    "bool_list": 28,
    "string_list": 30,
}


class NodeType(IntEnum):
    """Kinds of nodes (`NodeType` of the schema)."""

    INVALID = 0
    METADATA = 1
    MEMORY_LOAD = 2
    MEMORY_STORE = 3
    COMPUTE = 4
    SEND = 5
    RECEIVE = 6
    COLLECTIVE = 7


class CollectiveType(IntEnum):
    """The collective of a node of each type (`CollectiveCommType` of the schema)."""

    ALL_REDUCE = 0
    REDUCE = 1
    ALL_GATHER = 2
    GATHER = 3
    SCATTER = 4
    BROADCAST = 5
    ALL_TO_ALL = 6
    REDUCE_SCATTER = 7
    REDUCE_SCATTER_BLOCK = 8
    BARRIER = 9


class Messages(NamedTuple):
    """The classes of the two messages that a file consists of."""

    metadata: Any
    node: Any


@cache
def messages() -> Messages:
    """The classes of `GlobalMetadata` and `Node`.

    Raises `InputError` that names what to install where the `protobuf` package is missing.
    """
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError as error:
        raise missing("chakra", "it", "protobuf") from error
    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="lightloom/chakra.proto", package=PACKAGE, syntax="proto3")
    once, repeated = kinds.LABEL_OPTIONAL, kinds.LABEL_REPEATED

    def add(message: Any, name: str, number: int, kind: str, label: int = once) -> Any:
        if kind[0].isupper():
            type_name = f".{PACKAGE}.{kind}"
            return message.field.add(
                name=name, number=number, label=label, type=kinds.TYPE_MESSAGE, type_name=type_name
            )
        return message.field.add(name=name, number=number, label=label, type=getattr(kinds, f"TYPE_{kind.upper()}"))

    attribute = file.message_type.add(name="AttributeProto")
    attribute.oneof_decl.add(name="value")
    add(attribute, "name", 1, "string")
    add(attribute, "doc_string", 2, "string")
    for name, number in SCALARS.items():
        add(attribute, name, number, name.removesuffix("_val")).oneof_index = 0
    for name, number in LISTS.items():
        kind = name.removesuffix("_list")
        values = file.message_type.add(name=f"{kind.capitalize()}List")
        add(values, "values", 1, kind, repeated)
        add(attribute, name, number, f"{kind.capitalize()}List").oneof_index = 0

    metadata = file.message_type.add(name="GlobalMetadata")
    add(metadata, "version", 1, "string")
    add(metadata, "attr", 2, "AttributeProto", repeated)

    node = file.message_type.add(name="Node")
    add(node, "id", 1, "uint64")
    add(node, "name", 2, "string")
    # An enumeration in the schema; a number of a newer one is kept, and refused where it is met.
    add(node, "type", 3, "int32")
    add(node, "ctrl_deps", 4, "uint64", repeated)
    add(node, "data_deps", 5, "uint64", repeated)
    add(node, "start_time_micros", 6, "uint64")
    add(node, "duration_micros", 7, "uint64")
    add(node, "attr", 10, "AttributeProto", repeated)

    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return Messages(
        *(
            message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))
            for name in ("GlobalMetadata", "Node")
        )
    )
