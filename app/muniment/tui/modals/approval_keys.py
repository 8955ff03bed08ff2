"""The dialog's keys: what each means, and which sort of input it is to the gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.binding import Binding, BindingType

from muniment.approval.gate import Kind
from muniment.tui.keynames import key_name

SCROLLING = frozenset({"up", "down", "page_up", "page_down", "top", "bottom"})
"""Names of actions that only move the text."""

CHOOSING_KEYS = frozenset({"enter", "space"})
"""Keys that take a choice which the person moved to, and mean nothing before that, whatever a keymap says."""

LEAVING_KEY = "escape"
"""The key that denies, and leads from a reason back to the choices, whatever a keymap says."""

LATE_KEYS = frozenset({"escape"})
"""Keys that a terminal parser holds back before it stamps them."""

BINDINGS: list[BindingType] = [
    Binding(
        "a,y",
        "dialog('allow')",
        "Allow once",
        tooltip="Allow exactly what is shown, this time only",
        id="approval.allow",
    ),
    Binding("d,n,escape", "dialog('deny')", "Deny", tooltip="Deny: nothing is written", id="approval.deny"),
    Binding(
        "r",
        "dialog('reason')",
        "Deny with a reason",
        tooltip="Deny and tell the model why",
        id="approval.reason",
    ),
    Binding(
        "v",
        "dialog('view')",
        "Difference / new / old",
        tooltip="Show the difference, the new or the old text",
        id="approval.view",
    ),
    Binding(
        "tab,right",
        "dialog('next')",
        "Next choice",
        show=False,
        tooltip="Move to the next choice",
        id="approval.next",
    ),
    Binding(
        "shift+tab,left",
        "dialog('previous')",
        "Previous choice",
        show=False,
        tooltip="Move to the previous choice",
        id="approval.previous",
    ),
    Binding(
        "enter,space",
        "dialog('choose')",
        "Take the choice",
        show=False,
        tooltip="Take the choice that you moved to",
        id="approval.choose",
    ),
    Binding("up", "dialog('up')", "Line up", show=False, tooltip="Read up", id="approval.up"),
    Binding("down", "dialog('down')", "Line down", show=False, tooltip="Read on", id="approval.down"),
    Binding(
        "pageup", "dialog('page_up')", "Page up", show=False, tooltip="Read a page up", id="approval.page_up"
    ),
    Binding(
        "pagedown",
        "dialog('page_down')",
        "Page down",
        show=False,
        tooltip="Read a page on",
        id="approval.page_down",
    ),
    Binding(
        "home", "dialog('top')", "To the top", show=False, tooltip="Go to the first line", id="approval.top"
    ),
    Binding(
        "end", "dialog('bottom')", "To the end", show=False, tooltip="Go to the last line", id="approval.end"
    ),
    Binding(
        "ctrl+c",
        "dialog('interrupt')",
        "Interrupt the turn",
        show=False,
        tooltip="End the turn that asks; nothing is written",
        id="approval.interrupt",
    ),
]


def action_name(action: str) -> str | None:
    """Return `allow` for `dialog('allow')`, None for an action of somebody else."""
    head, _, rest = action.partition("('")
    return rest.removesuffix("')") if head in ("dialog", "screen.dialog") and rest else None


def kind_of(action: str | None) -> Kind:
    """Tell what sort of input a key is, by the dialog's action for it."""
    if action is None:
        return Kind.FOREIGN
    return Kind.SCROLL if action in SCROLLING else Kind.OWN


def own_keys() -> dict[str, list[str]]:
    """Return the keys of each action where no keymap changes them."""
    return {
        action_name(each.action) or "": each.key.split(",") for each in BINDINGS if isinstance(each, Binding)
    }


def names(bound: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the keys for the dialog's words, by the keys that each of its actions has now.

    An action is named by its first key; `denies` has `LEAVING_KEY` besides, `why` is the key for a reason,
    `on` has those that lead to the end of the text.
    """
    fixed = {*CHOOSING_KEYS, LEAVING_KEY}
    named = {
        action: next((key_name(key) for key in keys if key not in fixed), "")
        for action, keys in bound.items()
    }
    step = named.get("next") or "→"
    leaving = key_name(LEAVING_KEY)
    deny = named.get("deny") or leaving
    onwards = [key for action in ("page_down", "bottom", "down") if (key := named.get(action))]
    return {
        # What has no key of its own is moved to.
        "allow": named.get("allow") or step,
        "deny": deny,
        "denies": deny if deny == leaving else f"{deny} or {leaving}",
        "why": named.get("reason") or step,
        "view": named.get("view") or step,
        "next": step,
        "on": ", ".join(onwards[:2]) or "the mouse wheel",
        "read": named.get("up", "") + named.get("down", ""),
    }
