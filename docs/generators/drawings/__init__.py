"""The drawings of `docs/algorithms.md` and `docs/bounds.md`: what is drawn is what is planned with."""
