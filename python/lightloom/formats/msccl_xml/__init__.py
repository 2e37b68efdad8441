"""MSCCL programs of thread blocks."""
