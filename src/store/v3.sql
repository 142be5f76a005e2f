-- What the organiser ruled, in order. A ruling is never changed or deleted: another one undoes it.
CREATE TABLE rulings (
    number INTEGER NOT NULL PRIMARY KEY CHECK (number >= 1),
    since INTEGER NOT NULL CHECK (since >= 0),  -- the first batch of matches, from 0, that was not begun
    at TEXT NOT NULL,                           -- RFC 3339
    what TEXT NOT NULL,                         -- JSON
    reason TEXT NOT NULL CHECK (reason <> '')
) STRICT;

CREATE TRIGGER rulings_stay BEFORE UPDATE ON rulings
BEGIN SELECT RAISE(ABORT, 'a ruling is never changed'); END;
CREATE TRIGGER rulings_last BEFORE DELETE ON rulings
BEGIN SELECT RAISE(ABORT, 'a ruling is never deleted'); END;

-- What was played under a ruling that has a match played again: like the rows of `games` and `matches`, which stay as they are.
CREATE TABLE replayed_games (
    ruling INTEGER NOT NULL REFERENCES rulings,
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
    first INTEGER CHECK (first BETWEEN 0 AND seats - 1),
    play_hash BLOB CHECK (length(play_hash) = 32),
    PRIMARY KEY (ruling, round, number, game)
) STRICT, WITHOUT ROWID;

CREATE TABLE replayed_matches (
    ruling INTEGER NOT NULL REFERENCES rulings,
    round INTEGER NOT NULL CHECK (round >= 1),
    number INTEGER NOT NULL CHECK (number >= 1),
    seats INTEGER NOT NULL CHECK (seats BETWEEN 2 AND 4),
    slot0 INTEGER NOT NULL, slot1 INTEGER NOT NULL, slot2 INTEGER, slot3 INTEGER,
    score0 INTEGER NOT NULL, score1 INTEGER NOT NULL, score2 INTEGER, score3 INTEGER,
    series0 REAL NOT NULL, series1 REAL NOT NULL, series2 REAL, series3 REAL,
    games INTEGER NOT NULL CHECK (games >= 0),
    PRIMARY KEY (ruling, round, number)
) STRICT, WITHOUT ROWID;
