-- The results of an event. What is played is written once and never changed.
-- Seats, slots (places of bots in the event file) and seat numbers count from 0; rounds, matches and games from 1.
-- A score is in twelfths: 12 a win, 6 half of one, 4 a third, 3 a quarter, 0 a loss. Times are microseconds.

CREATE TABLE meta (
    key TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE bots (
    slot INTEGER NOT NULL PRIMARY KEY CHECK (slot >= 0),
    name TEXT NOT NULL UNIQUE,
    files TEXT NOT NULL                     -- JSON: path to content hash
) STRICT;

-- Games that count. A game belongs to a result only once its match has a row.
CREATE TABLE games (
    round INTEGER NOT NULL CHECK (round >= 1),
    number INTEGER NOT NULL CHECK (number >= 1),
    game INTEGER NOT NULL CHECK (game >= 1),
    seats INTEGER NOT NULL CHECK (seats BETWEEN 2 AND 4),
    slot0 INTEGER NOT NULL, slot1 INTEGER NOT NULL, slot2 INTEGER, slot3 INTEGER,
    winner INTEGER CHECK (winner BETWEEN 0 AND seats - 1),
    score0 INTEGER NOT NULL, score1 INTEGER NOT NULL, score2 INTEGER, score3 INTEGER,
    points0 INTEGER NOT NULL, points1 INTEGER NOT NULL, points2 INTEGER, points3 INTEGER,
    verdict TEXT NOT NULL,
    reason TEXT NOT NULL,
    against INTEGER CHECK (against BETWEEN 0 AND seats - 1),
    moves INTEGER NOT NULL CHECK (moves >= 0),
    time0 INTEGER, time1 INTEGER, time2 INTEGER, time3 INTEGER,
    wall0 INTEGER, wall1 INTEGER, wall2 INTEGER, wall3 INTEGER,
    cpu0 INTEGER, cpu1 INTEGER, cpu2 INTEGER, cpu3 INTEGER,
    record_hash BLOB CHECK (length(record_hash) = 32),
    PRIMARY KEY (round, number, game)
) STRICT, WITHOUT ROWID;

CREATE TABLE matches (
    round INTEGER NOT NULL CHECK (round >= 1),
    number INTEGER NOT NULL CHECK (number >= 1),
    seats INTEGER NOT NULL CHECK (seats BETWEEN 2 AND 4),
    slot0 INTEGER NOT NULL, slot1 INTEGER NOT NULL, slot2 INTEGER, slot3 INTEGER,
    score0 INTEGER NOT NULL, score1 INTEGER NOT NULL, score2 INTEGER, score3 INTEGER,
    series0 REAL NOT NULL, series1 REAL NOT NULL, series2 REAL, series3 REAL,
    games INTEGER NOT NULL CHECK (games >= 0),
    PRIMARY KEY (round, number)
) STRICT, WITHOUT ROWID;

-- Games that were void and count for nobody, in the order in which it happened.
CREATE TABLE voids (
    id INTEGER NOT NULL PRIMARY KEY,
    round INTEGER NOT NULL,
    number INTEGER NOT NULL,
    game INTEGER NOT NULL,
    slots TEXT NOT NULL,                    -- JSON: the slot on each seat
    why TEXT NOT NULL
) STRICT;
