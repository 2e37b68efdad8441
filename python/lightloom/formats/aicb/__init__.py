"""Workloads of AICB and SimAI."""
