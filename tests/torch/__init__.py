"""Jobs of PyTorch on the backend `lightloom`, held to Gloo: `make test-torch`, in an environment with PyTorch.

environment.py  makes that environment
pytorch_suite.py  runs PyTorch's own tests of process groups
launch.py       starts the ranks of a job, whose programs are in jobs/
"""
