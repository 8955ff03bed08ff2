-- Full-text search over the ledger, kept by triggers in the transaction of every change.
-- The table holds words only; the texts stand in `memory`. Labels are tags and paths, code is parts of names.

CREATE VIRTUAL TABLE memory_text USING fts5(
  title, labels, body, code, content='',
  tokenize='porter unicode61 remove_diacritics 2 categories ''L* N* Co M*'''
);

CREATE VIRTUAL TABLE memory_text_words USING fts5vocab(memory_text, 'row');

INSERT INTO memory_text(memory_text, rank) VALUES ('rank', 'bm25(3.0, 2.0, 1.0, 0.5)');

INSERT INTO memory_text(rowid, title, labels, body, code)
  SELECT number, coalesce(title_words, title), coalesce(labels_words, tags || ' ' || paths),
    coalesce(body_words, body), code_words
  FROM memory;

CREATE TRIGGER memory_added AFTER INSERT ON memory BEGIN
  INSERT INTO memory_text(rowid, title, labels, body, code)
    VALUES (new.number, coalesce(new.title_words, new.title),
      coalesce(new.labels_words, new.tags || ' ' || new.paths), coalesce(new.body_words, new.body), new.code_words);
END;

CREATE TRIGGER memory_removed AFTER DELETE ON memory BEGIN
  INSERT INTO memory_text(memory_text, rowid, title, labels, body, code)
    VALUES ('delete', old.number, coalesce(old.title_words, old.title),
      coalesce(old.labels_words, old.tags || ' ' || old.paths), coalesce(old.body_words, old.body), old.code_words);
END;

CREATE TRIGGER memory_changed AFTER UPDATE OF
  number, title, tags, paths, body, title_words, labels_words, body_words, code_words ON memory
BEGIN
  INSERT INTO memory_text(memory_text, rowid, title, labels, body, code)
    VALUES ('delete', old.number, coalesce(old.title_words, old.title),
      coalesce(old.labels_words, old.tags || ' ' || old.paths), coalesce(old.body_words, old.body), old.code_words);
  INSERT INTO memory_text(rowid, title, labels, body, code)
    VALUES (new.number, coalesce(new.title_words, new.title),
      coalesce(new.labels_words, new.tags || ' ' || new.paths), coalesce(new.body_words, new.body), new.code_words);
END;
