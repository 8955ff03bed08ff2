"""The search index of records: derived from the files, disposable, never the authority."""
