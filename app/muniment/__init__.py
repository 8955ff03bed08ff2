"""Muniment: a terminal agent whose memory is kept as evidence."""

__version__ = "0.1.0"
