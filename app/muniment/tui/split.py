"""The looks of a screen in two halves: rows to choose from, and what the chosen one holds."""

from __future__ import annotations

SPLIT_CSS = """
        background: $background;
        & OptionList, & OptionList:focus {
            width: 1fr; height: 1fr; border: none; padding: 0 1; background: $background;
            background-tint: transparent; scrollbar-size-vertical: 1;
            scrollbar-background: $background; scrollbar-color: $panel;
        }
        & Reading {
            width: 1fr; height: 1fr; background: $surface; padding: 0 1;
            border: round $border-blurred; border-title-color: $primary; border-title-style: bold;
            border-subtitle-color: $secondary;
            scrollbar-background: $surface; scrollbar-color: $panel;
        }
        & Reading:focus { border: round $primary; }
        &.-narrow Horizontal { layout: vertical; }
"""
"""Stands inside the rule of a screen, before what is its own."""
