"""The page's server: its answers, its limits, and what it refuses."""
