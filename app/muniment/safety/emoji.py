"""Which joiners, selectors and tags belong to an emoji: whole sequences stay, strays are hidden."""

from __future__ import annotations

from muniment.safety.pattern import LazyPattern

_PICTOGRAPHS = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u2388\u23cf\u23e9-\u23fa\u24c2"
    "\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55"
    "\u3030\u303d\u3297\u3299\U0001f004-\U0001f0ff\U0001f10d-\U0001f10f\U0001f12f\U0001f16c-\U0001f171"
    "\U0001f17e\U0001f17f\U0001f18e\U0001f191-\U0001f19a\U0001f201-\U0001f20f\U0001f21a\U0001f22f"
    "\U0001f232-\U0001f23a\U0001f250-\U0001f3fa\U0001f400-\U0001faff"
)
_JOINED = (
    "\u2194\u2195\u2620\u2640\u2642\u2695\u2696\u26a7\u26d3\u2708\u2744\u2764\u27a1\u2b1b\U0001f308\U0001f32b\U0001f33e"
    "\U0001f373\U0001f37c\U0001f384\U0001f393\U0001f3a4\U0001f3a8\U0001f3eb\U0001f3ed\U0001f430\U0001f466-\U0001f469"
    "\U0001f48b\U0001f4a5\U0001f4a8\U0001f4ab\U0001f4bb\U0001f4bc\U0001f525\U0001f527\U0001f52c\U0001f5e8\U0001f680"
    "\U0001f692\U0001f7e9\U0001f7eb\U0001f91d\U0001f9af-\U0001f9b3\U0001f9ba\U0001f9bc\U0001f9bd\U0001f9d1\U0001f9d2"
    "\U0001fa70\U0001fa79\U0001faef"
)
"""Characters that a joiner really leads to; before any other pictograph it joins nothing and only hides."""

_DRESS = "(?:[\ufe0e\ufe0f]|[\U0001f3fb-\U0001f3ff])?"
_FLAG_TAGS = "\U0001f3f4(?:{})\U000e007f".format(
    "|".join("".join(chr(0xE0000 + ord(letter)) for letter in word) for word in ("gbeng", "gbsct", "gbwls"))
)
PICTOGRAPH = LazyPattern(f"[{_PICTOGRAPHS}]")
EMOJI = (
    f"{_FLAG_TAGS}"
    "|[0-9#*]\ufe0f\u20e3"
    "|[\U0001f1e6-\U0001f1ff]{2}"
    f"|[{_PICTOGRAPHS}]{_DRESS}(?:\u200d[{_JOINED}]{_DRESS}){{0,4}}"
)
"""A pattern for one whole emoji, however many characters it is made of."""
