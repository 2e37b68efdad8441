"""Lower bounds of fabrics that start on uneven topologies, against linear programs and against plans."""
