"""A fuzz of the command line: random verbs, options and files, each run in process and judged.

`python -m tests.fuzz_command_line --runs 200000 --seed 1` is for a long unattended run; `--replay SEED:INDEX`
repeats one run. See docs/robustness.md.
"""
