"""Programs that the ranks of a job run."""
