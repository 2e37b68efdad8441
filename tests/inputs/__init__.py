"""What is read: fabrics, matrices, schedules, topologies, measurements."""
