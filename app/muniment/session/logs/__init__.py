"""Session logs: written, read back, listed and carried out."""
