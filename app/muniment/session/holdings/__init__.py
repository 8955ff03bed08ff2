"""Everything that memory holds, gathered for a person: listed, searched, mapped and reviewed."""
