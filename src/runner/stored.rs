//! Stores results in a folder.

use super::ledger::{Entry, Ledger};
use crate::store::{Store, Stored, VoidNote};

impl Ledger for Store {
    /// Records are durable before the rows that name them.
    fn commit(&mut self, group: &[Entry]) -> anyhow::Result<()> {
        let mut records = Vec::new();
        let mut rows = Vec::with_capacity(group.len());
        for entry in group {
            rows.push(match entry {
                Entry::Game { result, record } => {
                    records.push((result.id, record.as_slice()));
                    Stored::Game((**result).clone())
                }
                Entry::Void { id, seats, why } => Stored::Void(VoidNote {
                    id: *id,
                    seats: seats.clone(),
                    why: why.clone(),
                }),
                Entry::Match(result) => Stored::Match(result.clone()),
            });
        }
        if !records.is_empty() {
            self.records().write_group(&records)?;
        }
        Store::commit(self, &rows)?;
        Ok(())
    }
}
