-- Version 2: a row whose text was purged stays as a mark of what it was; nothing of what it said is left.

ALTER TABLE memory ADD COLUMN purged_at TEXT
  CHECK (purged_at GLOB '????-??-??T??:??:??Z' AND (purged_at IS NULL OR status = 'retracted'));

ALTER TABLE memory ADD COLUMN purge_reason TEXT
  CHECK (purge_reason <> '' AND (purge_reason IS NULL OR purged_at IS NOT NULL));
