"""Plans of random problems, each recomputed from only its JSON: `python -m tests.recompute --problems 5000 --seed 1`.

See docs/robustness.md.
"""
