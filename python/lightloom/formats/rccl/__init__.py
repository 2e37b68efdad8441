"""MSCCL programs within the limits of RCCL."""
