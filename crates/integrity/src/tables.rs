//! Users that write as engines of log-structured merge trees do: records to the log, whole tables
//! one after another, and tables that are merged into new ones.

use crate::page::PageId;
use crate::plan::TableUsers;
use crate::users::{Chance, Sizes, Wish};

/// A user with separate tables: every `of`-th, from its number on.
#[derive(Debug)]
pub(crate) struct Tables {
    how: TableUsers,
    number: u64,
    of: u64,
    /// The table that is written next, counted among its own.
    next: u64,
    /// Tables since it last merged some.
    since_merge: u32,
    doing: Doing,
}

/// What it does, and how much of it is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    /// Records until the next commit, and commits until the table is full.
    Logging { records: u32, commits: u32 },
    /// Reads tables that are merged: the table, and the next page of it.
    Reading { table: u64, page: u64, left: u32 },
    /// Writes a table from this page on, and so many others after it.
    Writing { page: u64, left: u32 },
    /// Flushes the file of the last table.
    Flushing { left: u32 },
}

impl Tables {
    pub(crate) fn new(how: TableUsers, number: u32) -> Self {
        let (number, of) = (number.into(), how.users.into());
        let doing = Doing::Logging { records: 0, commits: 0 };
        Self { how, number, of, next: 0, since_merge: 0, doing }
    }

    pub(crate) fn next(&mut self, sizes: &Sizes, chance: &mut Chance) -> Wish {
        match self.doing {
            Doing::Logging { records: 0, commits: 0 } => {
                let (records, commits) = (chance.between(self.how.records), self.how.commits);
                self.doing = Doing::Logging { records, commits };
                self.next(sizes, chance)
            }
            Doing::Logging { records: 0, commits } => {
                let commits = commits - 1;
                self.doing = if commits > 0 {
                    Doing::Logging { records: chance.between(self.how.records), commits }
                } else {
                    Doing::Writing { page: 0, left: 1 }
                };
                Wish::Commit
            }
            Doing::Logging { records, commits } => {
                self.doing = Doing::Logging { records: records - 1, commits };
                Wish::Log { bytes: chance.between(self.how.log_bytes) }
            }
            Doing::Reading { table, page, left } => self.reads(table, page, left, sizes, chance),
            Doing::Writing { page, left } => self.writes(page, left, sizes, chance),
            Doing::Flushing { left } => {
                let file = self.place(self.next, 0, sizes).map_or(0, |(id, _)| id.file);
                self.next += 1;
                self.doing = if left > 1 {
                    Doing::Writing { page: 0, left: left - 1 }
                } else {
                    self.since_merge += 1;
                    self.merges(sizes)
                };
                Wish::Harden { file }
            }
        }
    }

    /// What it does when a table is written.
    fn merges(&mut self, sizes: &Sizes) -> Doing {
        let logs = Doing::Logging { records: 0, commits: 0 };
        if self.since_merge < self.how.merge_after || self.how.merged == 0 {
            return logs;
        }
        self.since_merge = 0;
        // The oldest, which follow the one that was written last.
        let all = self.tables(sizes);
        if all == 0 {
            logs
        } else {
            Doing::Reading { table: self.next, page: 0, left: self.how.merged }
        }
    }

    fn reads(
        &mut self,
        table: u64,
        page: u64,
        left: u32,
        sizes: &Sizes,
        chance: &mut Chance,
    ) -> Wish {
        match self.place(table, page, sizes) {
            Some((from, rest)) => {
                let pages = self.how.io_pages.min(rest);
                self.doing = Doing::Reading { table, page: page + u64::from(pages), left };
                return Wish::Read { from, pages };
            }
            None if left > 1 => {
                self.doing = Doing::Reading { table: table + 1, page: 0, left: left - 1 };
            }
            // In the place of those that were read.
            None => self.doing = Doing::Writing { page: 0, left: self.how.merged },
        }
        self.next(sizes, chance)
    }

    fn writes(&mut self, page: u64, left: u32, sizes: &Sizes, chance: &mut Chance) -> Wish {
        if let Some((from, rest)) = self.place(self.next, page, sizes) {
            let pages = self.how.io_pages.min(rest);
            self.doing = Doing::Writing { page: page + u64::from(pages), left };
            return Wish::Write { from, pages };
        }
        self.doing = Doing::Flushing { left };
        self.next(sizes, chance)
    }

    /// How many tables the file has.
    fn tables(&self, sizes: &Sizes) -> u64 {
        let all: u64 = sizes.iter().map(|pages| pages / self.pages()).sum();
        all.saturating_sub(self.number).div_ceil(self.of.max(1))
    }

    fn pages(&self) -> u64 {
        self.how.table_pages.max(1).into()
    }

    /// Where a page of one of its tables is, and how many pages of the table begin there; none
    /// after its end.
    fn place(&self, table: u64, page: u64, sizes: &Sizes) -> Option<(PageId, u32)> {
        let own = table.checked_rem(self.tables(sizes))?;
        let mut table = own * self.of + self.number;
        let rest = self.pages().checked_sub(page).filter(|rest| *rest > 0)?;
        for (file, pages) in (0..).zip(sizes) {
            let here = pages / self.pages();
            if table < here {
                let id = PageId { file, page: table * self.pages() + page };
                return Some((id, u32::try_from(rest).unwrap_or(u32::MAX)));
            }
            table -= here;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    proptest! {
        #[test]
        fn tables_are_written_whole_and_only_by_their_owner(
            sizes in prop::collection::vec(0u64..2000, 1..4), users in 1u32..4,
                table_pages in 1u32..200,
            io_pages in 1u32..64, merged in 0u32..4, merge_after in 1u32..4
        ) {
            let how = TableUsers { users, table_pages, io_pages, merge_after, merged,
                ..TableUsers::default() };
            let mut chance = Chance(Xoshiro256PlusPlus::seed_from_u64(7));
            let mut owner = std::collections::HashMap::new();
            for number in 0..users {
                let mut user = Tables::new(how, number);
                let (mut row, mut logged) = (Vec::new(), false);
                for _ in 0..3000 {
                    match user.next(&sizes, &mut chance) {
                        Wish::Write { from, pages } | Wish::Read { from, pages } => {
                            prop_assert!(pages > 0 && pages <= io_pages);
                            let of_file = sizes[usize::from(from.file)];
                            prop_assert!(from.page + u64::from(pages) <= of_file);
                            let table = (from.file, from.page / u64::from(table_pages));
                            prop_assert_eq!(*owner.entry(table).or_insert(number), number);
                            row.push(pages);
                        }
                        Wish::Harden { .. } => {
                            let all: u32 = row.iter().sum();
                            prop_assert!(all.is_multiple_of(table_pages), "{all}");
                            row.clear();
                        }
                        Wish::Log { bytes } => {
                            prop_assert!(bytes > 0);
                            logged = true;
                        }
                        Wish::Commit => prop_assert!(logged),
                        other => prop_assert!(false, "{other:?}"),
                    }
                }
            }
        }
    }
}
