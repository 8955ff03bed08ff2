"""Words that say nothing about what is looked for; a query leaves them out unless it has no others."""

from __future__ import annotations

STOP_WORDS = frozenset(
    # One block of words reads better than a list of them.
    """
    a about after again all also am an and any are aren't as at be because been before being both but by can
    can't cannot could couldn't did didn't do does doesn't doing don't done during each either else ever every
    few for from further get gets getting got had hadn't has hasn't have haven't having he he'd he'll he's her
    here hers herself him himself his how how's i i'd i'll i'm i've if in into is isn't it it'd it'll it's its
    itself just let let's may maybe me might more most much must my myself neither no nor not of off on once
    one only or other others our ours ourselves out over own perhaps please rather same shall shan't she she'd
    she'll she's should shouldn't so some something such than that that's the their theirs them themselves
    then there there's these they they'd they'll they're they've thing things this those though through to too
    under until up upon us very was wasn't we we'd
    we'll we're we've were weren't what what's when when's where
    where's whether which while who who's whom whose why why's will with within without won't would wouldn't
    yes
    yet you you'd you'll you're you've your yours yourself yourselves tell told show know
    """.split()  # noqa: SIM905 - two hundred quoted words would be harder to read
)
"""English only: in other languages the rule about frequent words does the same work."""
