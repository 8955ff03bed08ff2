"""The session's part in team memory: tasks, feedback, digests and upkeep."""
