//! Workers that do not answer any more. Their last message is made from the watchdog's table.

use std::sync::Arc;

use crate::collect::Collector;
use crate::shared::InFlight;
use crate::worker::{Timeline, WorkerEnd};

/// Ends every worker that has not ended itself, in a window that ended at `end_ns`.
pub(crate) fn give_up(
    collector: &mut Collector,
    watched: &[Arc<InFlight>],
    timeline: Timeline,
    end_ns: u64,
    now_ns: u64,
) {
    for (number, in_flight) in watched.iter().enumerate() {
        let worker = &mut collector.workers[number];
        if worker.end.is_some() {
            continue;
        }
        let unfinished = in_flight.unfinished(now_ns, timeline.window_ns, end_ns);
        // Its last snapshot holds the time in flight up to here; from here on there is only what it
        // has in flight now.
        let known_ns = timeline.window_ns + worker.known_ns;
        worker.counts.in_flight_ns += in_flight.unfinished(now_ns, known_ns, end_ns).in_window_ns;
        // It has seen nothing complete since it issued the last of them.
        let last = in_flight.pending().map(|(_, at)| at.max(timeline.window_ns)).max();
        let gap = last.map_or(0, |at| end_ns.saturating_sub(at));
        worker.counts.longest_gap_ns = worker.counts.longest_gap_ns.max(gap);
        let what =
            if unfinished.ages_ns.is_empty() { "it has stopped" } else { "it hangs in an I/O" };
        let error = format!(
            "{what}, and what it completed in its last interval, or the last second of a longer \
             one, is in no figure"
        );
        collector.finished(WorkerEnd {
            worker: number,
            unfinished,
            queue_error: Some(error),
            ..WorkerEnd::default()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::{Snapshot, Span};
    use std::sync::mpsc::sync_channel;

    const S: u64 = 1_000_000_000;

    fn timeline() -> Timeline {
        Timeline { start_ns: S, window_ns: 2 * S, interval_ns: 60 * S, drain_ns: 5 * S }
    }

    /// A read that hung from 4.5 s of a window of 10 s on: the longest gap was 0, and the time in
    /// flight ended with the last interval.
    #[test]
    fn a_hanging_thread_has_its_gap_and_its_time_in_flight() {
        let mut collector = Collector::new(vec![sync_channel(1).0], 60 * S, false);
        let mut seconds = Snapshot::new(0, false);
        seconds.span = Span::Interval(0);
        (seconds.until_ns, seconds.in_flight_ns) = (4 * S, 4.0 * S as f64);
        collector.take(Box::new(seconds));
        let in_flight = Arc::new(InFlight::new(1));
        in_flight.issued(0, 2 * S + 4 * S + S / 2);
        give_up(&mut collector, &[in_flight], timeline(), 12 * S, 17 * S);
        collector.finish(0);
        let worker = &collector.workers[0];
        assert_eq!(worker.counts.longest_gap_ns, 5 * S + S / 2);
        assert!(
            (worker.counts.in_flight_ns - 9.5 * S as f64).abs() < 1.0,
            "{}",
            worker.counts.in_flight_ns
        );
        let end = worker.end.as_ref().unwrap();
        assert_eq!(end.unfinished.ages_ns, [10 * S + S / 2]);
        assert!(end.queue_error.as_ref().is_some_and(|e| e.contains("hangs in an I/O")));
    }

    /// I/Os that were issued in the warm-up count from the beginning of the window.
    #[test]
    fn a_thread_that_hangs_from_the_warm_up_on_hangs_for_the_whole_window() {
        let mut collector = Collector::new(vec![sync_channel(1).0], 60 * S, false);
        let in_flight = Arc::new(InFlight::new(2));
        in_flight.issued(0, S);
        in_flight.issued(1, S + S / 2);
        give_up(&mut collector, &[in_flight], timeline(), 12 * S, 17 * S);
        collector.finish(0);
        let worker = &collector.workers[0];
        assert_eq!(
            (worker.counts.longest_gap_ns, worker.counts.in_flight_ns),
            (10 * S, 20.0 * S as f64)
        );
    }

    /// A thread that is gone without a word has nothing in flight, and has not ended well either.
    #[test]
    fn a_thread_that_is_gone_is_said_too() {
        let mut collector = Collector::new(vec![sync_channel(1).0], S, false);
        give_up(&mut collector, &[Arc::new(InFlight::new(1))], timeline(), 12 * S, 17 * S);
        assert!(collector.all_finished());
        assert!(collector.workers[0].end.as_ref().unwrap().queue_error.is_some());
    }
}
