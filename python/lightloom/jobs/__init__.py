"""Several jobs on one fabric: which GPUs each gets and when, and what changing circuits is worth to all of them."""
