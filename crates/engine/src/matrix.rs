//! SQLIO's matrix of blocks: one thread's way through the columns it owns.

use workload::Stream;

/// The order of one thread, counted in bytes from the start of the span.
///
/// I/O `k` of run `r` of thread `t` is at block `k * columns + t * (columns / T) + r mod (columns /
/// T)`.
#[derive(Debug)]
pub(crate) struct Matrix {
    block_bytes: u64,
    columns: u64,
    rows: u64,
    /// The first column that the thread owns.
    first: u64,
    /// How many columns the thread owns.
    owned: u64,
    same_column: bool,
    row: u64,
    column: u64,
}

impl Matrix {
    /// The way of thread number `thread` of `stream` through a matrix of this width and height.
    pub(crate) fn new(
        stream: &Stream,
        thread: u32,
        (columns, rows): (u32, u32),
        same_column: bool,
    ) -> Self {
        let columns = u64::from(columns.max(1));
        let owned = (columns / u64::from(stream.threads.max(1))).max(1);
        Self {
            block_bytes: stream.largest_block(),
            columns,
            rows: u64::from(rows.max(1)),
            first: owned * u64::from(thread) % columns,
            owned,
            same_column,
            row: 0,
            column: 0,
        }
    }

    /// The offset of the next I/O.
    pub(crate) fn next(&mut self) -> u64 {
        let block = (self.row * self.columns).saturating_add(self.first + self.column);
        self.row += 1;
        if self.row == self.rows {
            self.row = 0;
            if !self.same_column {
                self.column = (self.column + 1) % self.owned;
            }
        }
        block.saturating_mul(self.block_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use workload::{Block, Bytes};

    fn stream(threads: u32, block: u64) -> Stream {
        let blocks = vec![Block { bytes: Bytes(block), weight: 1 }];
        Stream { threads, blocks, ..Stream::default() }
    }

    /// The first two runs of the second of two threads on 8 columns of 3 rows.
    #[test]
    fn a_thread_goes_down_its_own_columns_one_after_the_other() {
        let mut matrix = Matrix::new(&stream(2, 1), 1, (8, 3), false);
        let places: Vec<u64> = (0..13).map(|_| matrix.next()).collect();
        assert_eq!(places, [4, 12, 20, 5, 13, 21, 6, 14, 22, 7, 15, 23, 4]);
        let mut matrix = Matrix::new(&stream(2, 1), 1, (8, 3), true);
        let places: Vec<u64> = (0..7).map(|_| matrix.next()).collect();
        assert_eq!(places, [4, 12, 20, 4, 12, 20, 4]);
    }

    #[test]
    fn as_many_columns_as_threads_give_each_one_column() {
        let mut matrix = Matrix::new(&stream(4, 2048), 3, (4, 2), false);
        let places: Vec<u64> = (0..4).map(|_| matrix.next() / 2048).collect();
        assert_eq!(places, [3, 7, 3, 7]);
    }

    proptest! {
        /// The formula as it is written down, for the n-th I/O of a thread at once.
        #[test]
        fn every_place_is_the_one_of_the_formula(
            threads in 1u32..20, more in 0u32..200, rows in 1u32..100, block in 1u64..1 << 30,
                steps in 1u64..2000,
        ) {
            let columns = threads + more;
            let (f, i, total) = (u64::from(columns), u64::from(rows), u64::from(threads));
            for thread in 0..threads {
                let mut matrix = Matrix::new(&stream(threads, block), thread, (columns, rows),
                    false);
                for n in 0..steps {
                    let (k, r, t) = (n % i, n / i, u64::from(thread));
                    let expected = k * f + t * (f / total) + r % (f / total);
                    prop_assert_eq!(matrix.next(), expected * block);
                    prop_assert!(expected < f * i);
                }
            }
        }

        #[test]
        fn no_numbers_are_too_large(
            threads: u32, columns: u32, rows: u32, block: u64, thread: u32, same_column: bool,
        ) {
            let mut matrix = Matrix::new(&stream(threads, block), thread, (columns, rows),
                same_column);
            (0..50).for_each(|_| { matrix.next(); });
        }
    }
}
