"""One search with engram-agent-memory in a fresh process."""

import sys

from engram.memory_store import MemoryStore

print(MemoryStore(sys.argv[1]).smart_recall(sys.argv[2], k=10))
