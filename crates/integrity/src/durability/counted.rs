//! A batch of I/Os that completes before anything else begins.

use std::io;

use engine::{Finished, Queue, Request};

/// So long is waited at a time.
const WAIT_NS: u64 = 1_000_000_000;

/// Makes all of these I/Os, including the rest of those that were cut short. Each has a separate
/// slot. The first failure is the error; all of the others have ended by then as well.
pub(crate) fn make_all(queue: &mut dyn Queue, requests: &[Request]) -> io::Result<()> {
    let mut left = requests.len();
    let mut failed = None;
    let mut under_way = requests.to_vec();
    let mut finished: Vec<Finished> = Vec::new();
    queue.issue(requests)?;
    while left > 0 {
        queue.wait(queue.now().saturating_add(WAIT_NS))?;
        queue.reap(&mut finished);
        for done in finished.drain(..) {
            let Some(request) = under_way.iter_mut().find(|r| r.slot == done.slot) else {
                continue;
            };
            let moved = u32::try_from(done.result);
            match moved {
                Ok(moved) if moved >= request.bytes => left -= 1,
                Ok(moved) if moved > 0 && failed.is_none() => {
                    request.offset += u64::from(moved);
                    request.buffer_offset += moved;
                    request.bytes -= moved;
                    queue.issue(&[*request])?;
                }
                _ => {
                    left -= 1;
                    failed.get_or_insert(match moved {
                        Ok(_) => {
                            io::Error::new(io::ErrorKind::WriteZero, "fewer bytes than asked for")
                        }
                        Err(_) => io::Error::from_raw_os_error(-done.result),
                    });
                }
            }
        }
    }
    failed.map_or(Ok(()), Err)
}
