"""OpenOptics: schedules of circuits by time slice."""
