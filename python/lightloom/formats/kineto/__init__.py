"""Profiles that PyTorch writes (Kineto): what each GPU of a job computed and communicated, and when.

A profile is a file a rank, JSON in Chrome's Trace Event Format, perhaps compressed (`.json.gz`), as
`torch.profiler.profile(...).export_chrome_trace` and `tensorboard_trace_handler` write it.
"""
