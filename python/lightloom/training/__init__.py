"""Training iterations: workloads, their plans, and when everything happens."""
