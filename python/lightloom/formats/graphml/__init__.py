"""GraphML graphs of topologies."""
