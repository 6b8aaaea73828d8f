//! The path of an I/O through a device, from its arrival until it is done.

use rand_distr::{Distribution, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;
use workload::{SimDevice, SimService};

use crate::bucket::Bucket;
use crate::cache::{ReadCache, WriteCache};
use crate::servers::{Pool, Servers};
use crate::speed::Speed;
use crate::{Op, Request, scaled};

/// Servers with all queues and limits before them, for one target or for several.
#[derive(Debug, Clone)]
pub(crate) struct Volume {
    model: SimDevice,
    random: Xoshiro256PlusPlus,
    queue: Option<Pool>,
    bucket: Option<Bucket>,
    link_free_at: u64,
    read_cache: Option<ReadCache>,
    write_cache: Option<WriteCache>,
    servers: Servers,
    speed: Speed,
    writes_done_at: u64,
}

impl Volume {
    /// A volume that is idle at time 0, with targets of these sizes.
    pub(crate) fn new(
        model: &SimDevice,
        target_bytes: &[u64],
        mut random: Xoshiro256PlusPlus,
    ) -> Self {
        Self {
            queue: model.queue_limit.map(Pool::new),
            bucket: model.bucket.map(Bucket::new),
            link_free_at: 0,
            read_cache: model.cache.map(|cache| ReadCache::new(cache, target_bytes)),
            write_cache: model.write_cache.map(WriteCache::new),
            servers: Servers::new(model.servers, model.assignment),
            speed: Speed::new(model, &mut random),
            writes_done_at: 0,
            model: model.clone(),
            random,
        }
    }

    /// When an I/O that arrives now is done.
    pub(crate) fn serve(&mut self, request: &Request, now: u64) -> u64 {
        let admitted = self.queue.as_ref().map_or(now, |queue| now.max(queue.free_at()));
        let done = match request.op {
            Op::Read => {
                let arrived = self.over_link(request.bytes, admitted);
                self.read(request, arrived)
            }
            Op::Write => {
                let arrived = self.over_link(request.bytes, admitted);
                self.write(request, arrived)
            }
            Op::Sync => self.take(admitted.max(self.writes_done_at), self.model.sync_ns.0),
        };
        if let Some(queue) = &mut self.queue {
            queue.occupy(done);
        }
        done
    }

    /// A flush that comes later waits until then.
    pub(crate) fn note_write(&mut self, done: u64) {
        self.writes_done_at = self.writes_done_at.max(done);
    }

    fn read(&mut self, request: &Request, now: u64) -> u64 {
        let cache = self.read_cache.as_mut();
        match cache.and_then(|cache| cache.touch(request).then_some(cache.hit_ns)) {
            Some(hit_ns) => self.take(now, hit_ns),
            None => self.on_server(request, self.model.read_ns.0, now),
        }
    }

    fn write(&mut self, request: &Request, now: u64) -> u64 {
        if let Some(cache) = &mut self.read_cache {
            cache.touch(request);
        }
        let through = self.model.durable_ns.filter(|_| request.durable);
        match &mut self.write_cache {
            Some(cache) if through.is_none() => {
                let slower = self.speed.factor(now, &mut self.random);
                let (wait, hit) = (cache.wait_ns(request.bytes, now, slower), cache.hit_ns());
                self.take(now, hit).saturating_add(wait)
            }
            _ => {
                let extra = through.map_or(0, |time| time.0);
                self.on_server(request, self.model.write_ns.0.saturating_add(extra), now)
            }
        }
    }

    /// Something that needs no server and takes this time.
    fn take(&mut self, now: u64, time: u64) -> u64 {
        let start = self.after_stall(now);
        start.saturating_add(scaled(time, self.speed.of_io(start, &mut self.random)))
    }

    /// A server takes the I/O when it is free.
    fn on_server(&mut self, request: &Request, base_ns: u64, now: u64) -> u64 {
        let free = self.servers.choose(&mut self.random);
        let start = self.after_stall(now.max(free));
        let mean = base_ns.saturating_add(transfer_ns(request.bytes, self.model.bytes_per_s));
        let mut factor = self.speed.of_io(start, &mut self.random);
        if self.model.service == SimService::Exponential {
            let share: f64 = Exp1.sample(&mut self.random);
            factor *= share;
        }
        if let Some(misaligned) = self.model.misaligned {
            let align = misaligned.align_bytes.0;
            let fits = |n: u64| n.is_multiple_of(align);
            if !fits(request.offset) || !fits(request.bytes.into()) {
                factor *= misaligned.factor;
            }
        }
        let done = start.saturating_add(scaled(mean, factor));
        self.servers.occupy(done);
        done
    }

    /// The bucket lets I/Os pass, and the link carries one after the other, as they come; of a read
    /// it is the data that would come back.
    fn over_link(&mut self, bytes: u32, now: u64) -> u64 {
        let passed = self.bucket.as_mut().map_or(now, |bucket| bucket.pass(bytes, now));
        if self.model.link_bytes_per_s.is_none() {
            return passed;
        }
        let transfer = transfer_ns(bytes, self.model.link_bytes_per_s);
        self.link_free_at = passed.max(self.link_free_at).saturating_add(transfer);
        self.link_free_at
    }

    /// The next moment at which the device begins anything.
    fn after_stall(&self, now: u64) -> u64 {
        let Some(stall) = self.model.stall else { return now };
        let (period, length) = (stall.period_ns.0.max(1), stall.length_ns.0);
        let phase = now % period;
        if phase >= period.saturating_sub(length) {
            (now - phase).saturating_add(period)
        } else {
            now
        }
    }
}

/// Time of bytes at a rate; `None` without a rate.
fn transfer_ns(bytes: u32, bytes_per_s: Option<workload::Bytes>) -> u64 {
    bytes_per_s.map_or(0, |rate| u64::from(bytes) * 1_000_000_000 / rate.0.max(1))
}
