-- Rulings are a chain: the hash of each is over the hash before it and what it says. NULL in rulings that were stored before.
-- The last hash stands in `meta`, too.
ALTER TABLE rulings ADD COLUMN hash BLOB CHECK (length(hash) = 32);
