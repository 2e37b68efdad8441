"""NCCL's debug log: which collectives and messages each rank of a job called, in order, without times.

A job writes it with `NCCL_DEBUG=INFO` and `NCCL_DEBUG_SUBSYS=INIT,COLL`, to its output or with `NCCL_DEBUG_FILE` to a
file a process (NCCL, src/enqueue.cc and src/init.cc; RCCL writes the same lines).
"""
