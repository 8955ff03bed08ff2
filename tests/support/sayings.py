"""What a person says in the tour of records: to save a rule, fetch it anew, change it and delete it."""

SAVE = """Use memory_store to save a project memory:
id: pilot-review-rule
title: Pilot comparison review rule
category: decision
tags: pilot, review
content: Cite Notes A and B; show both denominators; do not infer satisfaction.
Then show the saved identifier, scope and whether it was newly created."""
FETCH = """Use memory_retrieve to fetch pilot-review-rule. Show its complete content and scope.
Do not infer the rule from an earlier conversation."""
UPDATE = """Update project memory pilot-review-rule with memory_store.
Keep its title. Replace the content with:
Cite Notes A and B, show both denominators, and retain missing survey evidence.
Retrieve it again so I can inspect the stored result."""
DELETE = """Delete pilot-review-rule from project scope using memory_delete.
Show the scope actually deleted, then use memory_list to check what remains."""
