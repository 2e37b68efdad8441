"""The page's server: its answers, its limits, and its refusals."""
