"""Carrying records out and in: exports, and imports from exports, Markdown and lists."""
