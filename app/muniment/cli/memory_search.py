"""The search of records, which loads nothing that it does not need: it is asked most often."""

from __future__ import annotations

import argparse

from muniment.cli.shell import OK, Shell
from muniment.memory.records.searching import SearchedStore
from muniment.safety.visible import reading_line


def search(arguments: argparse.Namespace, shell: Shell) -> int:
    """Search, best first, and say how many records were searched."""
    result = SearchedStore(shell.paths, shell.cwd).search(
        " ".join(arguments.query),
        scope=arguments.scope,
        limit=arguments.limit,
        include_overridden=arguments.all,
    )
    if arguments.json:
        from muniment.memory.records import shapes

        shell.json(shapes.search_shape(result))
        return OK
    for hit in result.hits:
        mark = "" if hit.effective else "  (not in effect)"
        shell.out(f"{hit.meta.id}  {hit.meta.scope.label}  {reading_line(hit.meta.title)}{mark}")
        shell.out(f"    {reading_line(hit.snippet)}")
    more = "; there are more, raise --limit" if result.truncated else ""
    shell.note(f"{len(result.hits)} of {result.searched} records{more}.")
    if result.notice:
        shell.note(result.notice)
    return OK
