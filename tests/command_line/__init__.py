"""The command line: verbs, refusals, outputs."""
