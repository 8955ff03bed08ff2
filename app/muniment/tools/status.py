"""How a call can end; a module of its own, so that reading a log loads no tool."""

from __future__ import annotations

from typing import Literal

ToolStatus = Literal[
    "completed",
    "failed",
    "denied",
    "invalid_arguments",
    "unknown_tool",
    "not_executed",
    "unknown",
    "cancelled",
]
