-- What was played in a game: who answered first, and a hash of the moves. NULL in games that were stored before.
ALTER TABLE games ADD COLUMN first INTEGER CHECK (first BETWEEN 0 AND seats - 1);
ALTER TABLE games ADD COLUMN play_hash BLOB CHECK (length(play_hash) = 32);
