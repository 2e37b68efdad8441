"""Tables of times for NCCL's tuner plugin."""
