//! Races at a table without processes: who is asked when, whose claim counts, what is dropped, who forfeits.

#[path = "../referee/check.rs"]
#[expect(
    dead_code,
    reason = "what the turns of two seats tell is looked at there"
)]
mod check;
mod ends;
mod forfeits;
mod random;
mod ring;
mod rounds;
