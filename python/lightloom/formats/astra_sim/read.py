"""The Chakra traces that ASTRA-sim runs."""

from lightloom.formats.chakra.read import read, recognises

__all__ = ["read", "recognises"]
