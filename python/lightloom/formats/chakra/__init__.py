"""Chakra execution traces: what each rank of a job computes, sends and receives, as graphs that other tools read.

A trace is a file a rank, `NAME.RANK.et`: a `GlobalMetadata`, then `Node`s, each after its length (MLCommons Chakra,
schema/protobuf/et_def.proto; docs/reference/formats.md).
"""
