"""The drawings of `docs/algorithms.md` and `docs/bounds.md`: drawn from the same objects that planners use."""
