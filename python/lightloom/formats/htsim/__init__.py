"""Connection matrices of htsim."""
