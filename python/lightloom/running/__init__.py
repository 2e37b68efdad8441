"""Plans executed on real processes and data: the sends of every rank, the data, and the transport."""
