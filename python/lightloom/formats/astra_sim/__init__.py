"""ASTRA-sim: network, system and workload."""
