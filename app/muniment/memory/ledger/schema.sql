-- The ledger, version 1: what is remembered, from whom, for whom, and whether it still holds.
-- A status is never 'expired' here: that is told from expires_at when a row is read.

CREATE TABLE about(key TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE memory(
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE CHECK (id GLOB 'M-*' AND length(id) BETWEEN 3 AND 64),
  type TEXT NOT NULL CHECK (type IN ('semantic', 'episodic', 'procedural')),
  scope_kind TEXT NOT NULL CHECK (scope_kind IN ('global', 'project', 'agent')),
  scope_key TEXT CHECK ((scope_key IS NULL) = (scope_kind = 'global') AND scope_key <> ''),
  project TEXT CHECK (project <> '' AND (scope_kind <> 'global' OR project IS NULL)
    AND (scope_kind <> 'project' OR project IS scope_key)),
  title TEXT NOT NULL CHECK (title <> ''),
  body TEXT NOT NULL CHECK (body <> ''),
  trust TEXT NOT NULL CHECK (trust IN ('human', 'system', 'agent', 'external')),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'superseded', 'retracted')),
  source TEXT NOT NULL CHECK (source <> ''),
  -- Newer content with the same key takes the place of older.
  source_key TEXT NOT NULL CHECK (source_key <> ''),
  paths TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(paths) AND json_type(paths) = 'array'),
  tags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags) AND json_type(tags) = 'array'),
  importance REAL NOT NULL DEFAULT 0.5 CHECK (typeof(importance) = 'real' AND importance BETWEEN 0 AND 1),
  confidence REAL NOT NULL DEFAULT 0.5 CHECK (typeof(confidence) = 'real' AND confidence BETWEEN 0 AND 1),
  content_hash TEXT NOT NULL CHECK (length(content_hash) = 64),
  superseded_by TEXT REFERENCES memory(id) DEFERRABLE INITIALLY DEFERRED
    CHECK ((superseded_by IS NOT NULL) = (status = 'superseded') AND superseded_by <> id),
  expires_at TEXT CHECK (expires_at GLOB '????-??-??T??:??:??Z'),
  created_at TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??Z'),
  updated_at TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??Z'),
  -- The texts as the index is to see them; NULL where that is the text itself.
  title_words TEXT,
  labels_words TEXT,
  body_words TEXT,
  code_words TEXT NOT NULL DEFAULT ''
);

CREATE INDEX memory_source ON memory(source_key);
CREATE INDEX memory_hash ON memory(content_hash);
CREATE INDEX memory_newest ON memory(updated_at, id);

INSERT INTO about(key, value) VALUES ('size', 0), ('characters', 0);

CREATE TRIGGER memory_counted AFTER INSERT ON memory BEGIN
  UPDATE about SET value = value + 1 WHERE key = 'size';
  UPDATE about SET value = value + length(new.title) + length(new.tags) + length(new.paths) + length(new.body)
    WHERE key = 'characters';
END;

CREATE TRIGGER memory_uncounted AFTER DELETE ON memory BEGIN
  UPDATE about SET value = value - 1 WHERE key = 'size';
  UPDATE about SET value = value - length(old.title) - length(old.tags) - length(old.paths) - length(old.body)
    WHERE key = 'characters';
END;

CREATE TRIGGER memory_recounted AFTER UPDATE OF title, tags, paths, body ON memory BEGIN
  UPDATE about SET value = value + length(new.title) + length(new.tags) + length(new.paths) + length(new.body)
    - length(old.title) - length(old.tags) - length(old.paths) - length(old.body)
    WHERE key = 'characters';
END;
