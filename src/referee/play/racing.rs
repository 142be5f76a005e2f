//! The part of a game in which seats race.

use hakem_protocol::{ErrorCode, StopWhy};
use serde_json::Value;

use super::{AnswerParts, Fault, News, Play, add};
use crate::chance::Draw;
use crate::clock::Spent;
use crate::game::{Claim, Seat};
use crate::referee::race::Course;
use crate::referee::record::{ClaimEntry, RaceEntry, StoppedEntry};

/// What became of a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum Claimed {
    /// It was checked: what it came to.
    Checked(ClaimEntry),
    /// It came too late to count: its question is to be stopped.
    Late(StopWhy),
    /// It is a fault of the seat; the move is handed back.
    Refused(Fault, Value),
}

impl Play {
    /// The seats whose question is open in the race that is on, or to be asked now, in order.
    pub fn running(&self) -> Vec<Seat> {
        self.race.iter().flat_map(Course::running).collect()
    }

    /// Whether this seat races, and its question is open or to be asked now.
    pub fn is_running(&self, seat: Seat) -> bool {
        self.race.as_ref().is_some_and(|race| race.is_running(seat))
    }

    /// Whether a race is on in which it matters who is sooner.
    pub fn is_contested(&self) -> bool {
        self.race.as_ref().is_some_and(Course::is_contested)
    }

    /// If a claim in the race that is on comes too late to count, why its question is over.
    pub fn too_late(&self, spent: &Spent) -> Option<StopWhy> {
        self.race.as_ref()?.too_late(spent)
    }

    /// Takes a claim of a seat that runs.
    pub fn claim(
        &mut self,
        seat: Seat,
        mut answer: AnswerParts,
        spent: Spent,
        chance: &mut dyn Draw,
    ) -> Claimed {
        let Some(race) = &mut self.race else {
            unreachable!("a seat runs only while a race is on");
        };
        if let Some(why) = race.too_late(&spent) {
            return Claimed::Late(why);
        }
        let mut told = Vec::new();
        let claim = match self.position.claim(seat, &answer.mv, &mut told) {
            Ok(Claim::Right) => ClaimEntry::Right,
            Ok(Claim::Wrong(words)) => ClaimEntry::Wrong(words),
            Ok(Claim::GaveUp) => ClaimEntry::GaveUp,
            Err(refusal) => {
                let fault = Fault::code(ErrorCode::IllegalMove, refusal.message);
                return Claimed::Refused(fault, answer.mv);
            }
        };
        let time_us = race.time_of(&spent);
        match claim {
            ClaimEntry::Right => race.claimed(seat, time_us),
            ClaimEntry::Wrong(_) | ClaimEntry::GaveUp => race.leaves(seat),
        }
        self.race_news.add(seat, &told);
        self.played.answer(seat, &told);
        // The record holds the claim as the rules read it: whatever else the bot put into it is of no account.
        if let Ok(Value::Object(mut told)) = serde_json::from_slice(&told)
            && let Some(mv) = told.remove("move")
        {
            answer.mv = mv;
        }
        self.record_answer(seat, answer, spent, time_us, Some(claim.clone()));
        self.end_race_if_over(chance);
        Claimed::Checked(claim)
    }

    /// Withdraws the question of a seat that runs: its claim could not count any more. Returns why.
    pub fn stop(&mut self, seat: Seat, id: u64, spent: Spent, chance: &mut dyn Draw) -> StopWhy {
        let Some(race) = &self.race else {
            unreachable!("a seat runs only while a race is on");
        };
        let entry = StoppedEntry {
            seat,
            id,
            why: race.why_stopped(),
            spent,
            charged_us: race.time_of(&spent),
        };
        add(&mut self.time_us[seat], entry.charged_us);
        self.add_spent(seat, &spent);
        self.recorder.line("stopped", &entry);
        self.leave_race(seat, chance);
        entry.why
    }

    /// A seat leaves the race that is on, if there is one.
    pub(super) fn leave_race(&mut self, seat: Seat, chance: &mut dyn Draw) {
        if let Some(race) = &mut self.race {
            race.leaves(seat);
            self.end_race_if_over(chance);
        }
    }

    /// Begins the race that the position is ready for. The seat that is asked first changes from race to race.
    pub(super) fn begin_race(&mut self) {
        let Some(terms) = self.rules.race() else {
            unreachable!("a position that is a race belongs to a game of races");
        };
        let seats = self.header.seats.len();
        let first = self.races as usize % seats;
        let order = (0..seats)
            .map(|place| (first + place) % seats)
            .filter(|&seat| self.position.racing(seat));
        self.race = Some(Course::new(
            terms,
            &self.header.clock,
            self.header.cores,
            order,
        ));
        self.races += 1;
    }

    /// Awards a race that is over, and draws what comes next.
    fn end_race_if_over(&mut self, chance: &mut dyn Draw) {
        let Some(race) = self.race.take_if(|race| race.is_over()) else {
            return;
        };
        let first = race.first();
        self.position.award(&first);
        let entry = RaceEntry { first };
        self.recorder.line("race", &entry);
        self.played.value(&entry);
        let told = std::mem::take(&mut self.race_news);
        for (seat, item) in told.iter() {
            self.news.add(seat, item);
        }
        self.settle(chance);
    }
}

impl News {
    /// Adds an element.
    fn add(&mut self, seat: Seat, item: &[u8]) {
        self.json.extend_from_slice(item);
        self.items.push((seat, self.json.len()));
    }
}
