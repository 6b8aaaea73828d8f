//! Which blocks were used last: a set of limited size that drops the one that has not been used for
//! longest.

/// Stands for no entry, as an index.
const NONE: u32 = u32::MAX;

/// One block in the set, linked by age and with those of the same hash.
#[derive(Debug, Clone, Copy)]
struct Entry {
    block: u64,
    newer: u32,
    older: u32,
    same_hash: u32,
}

/// A cache of 2 GiB may not cost more than 20 MiB: 24 bytes per block and 4 to 8 for its hash.
const _: () = assert!(size_of::<Entry>() == 24);

/// The set, with all of its memory from the start.
#[derive(Debug, Clone)]
pub(crate) struct Lru {
    entries: Vec<Entry>,
    hashes: Vec<u32>,
    capacity: u32,
    newest: u32,
    oldest: u32,
}

impl Lru {
    /// An empty set of at most so many blocks.
    pub(crate) fn new(capacity: u32) -> Self {
        let hashes = (capacity as usize).max(1).next_power_of_two();
        Self {
            entries: Vec::with_capacity(capacity as usize),
            hashes: vec![NONE; hashes],
            capacity,
            newest: NONE,
            oldest: NONE,
        }
    }

    /// Uses a block: it is now the newest. Whether it was in the set.
    pub(crate) fn touch(&mut self, block: u64) -> bool {
        if let Some(index) = self.find(block) {
            if index != self.newest {
                self.unlink(index);
                self.link(index);
            }
            return true;
        }
        if self.capacity > 0 {
            let index = self.place();
            let hash = self.hash(block);
            let same_hash = self.hashes[hash];
            self.entries[index as usize] = Entry { block, newer: NONE, older: NONE, same_hash };
            self.hashes[hash] = index;
            self.link(index);
        }
        false
    }

    /// Neighbours in the target are neighbours here, too: a multiplication scatters them (Knuth,
    /// TAOCP 3, 6.4).
    fn hash(&self, block: u64) -> usize {
        let bits = block.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        usize::try_from(bits).unwrap_or(0) & (self.hashes.len() - 1)
    }

    fn find(&self, block: u64) -> Option<u32> {
        let mut index = self.hashes[self.hash(block)];
        while index != NONE {
            let entry = &self.entries[index as usize];
            if entry.block == block {
                return Some(index);
            }
            index = entry.same_hash;
        }
        None
    }

    /// Room for one more: a new entry, or that of the oldest block, which leaves.
    fn place(&mut self) -> u32 {
        let used = u32::try_from(self.entries.len()).unwrap_or(NONE);
        if used < self.capacity {
            self.entries.push(Entry { block: 0, newer: NONE, older: NONE, same_hash: NONE });
            return used;
        }
        let index = self.oldest;
        self.unlink(index);
        let Entry { block, same_hash, .. } = self.entries[index as usize];
        let hash = self.hash(block);
        if self.hashes[hash] == index {
            self.hashes[hash] = same_hash;
        } else {
            let mut before = self.hashes[hash];
            while self.entries[before as usize].same_hash != index {
                before = self.entries[before as usize].same_hash;
            }
            self.entries[before as usize].same_hash = same_hash;
        }
        index
    }

    fn unlink(&mut self, index: u32) {
        let Entry { newer, older, .. } = self.entries[index as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.entries[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.entries[older as usize].newer = newer,
        }
    }

    fn link(&mut self, index: u32) {
        let older = std::mem::replace(&mut self.newest, index);
        let entry = &mut self.entries[index as usize];
        (entry.newer, entry.older) = (NONE, older);
        match older {
            NONE => self.oldest = index,
            older => self.entries[older as usize].newer = index,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn it_holds_what_was_used_last(
            capacity in 0u32..20,
            blocks in prop::collection::vec(0u64..40, 0..400),
        ) {
            let mut lru = Lru::new(capacity);
            let mut simple: VecDeque<u64> = VecDeque::new();
            for block in blocks {
                let held = simple.iter().position(|b| *b == block);
                prop_assert_eq!(lru.touch(block), held.is_some());
                held.map(|at| simple.remove(at));
                simple.push_front(block);
                simple.truncate(capacity as usize);
            }
        }
    }
}
