"""Training iterations as workloads: one file a format that is read, and descriptions of models that make them."""
