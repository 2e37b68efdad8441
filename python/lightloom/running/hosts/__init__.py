"""Plans run on several hosts: agents that hold ranks, and what tells them when to send."""
