//! What becomes of a queue once it is open: a thread works on it, or the caller has it.

use crate::buffers::BufferPlan;
use crate::error::EngineError;
use crate::job::Job;
use crate::queue::Queue;
use crate::run::Backend;

/// What becomes of a queue, whichever it is.
pub(crate) trait Opened {
    type Output;

    fn open<Q: Queue + 'static>(self, queue: Q, plan: BufferPlan, backend: Backend)
    -> Self::Output;

    fn fail(self, error: EngineError) -> Self::Output;
}

impl Opened for Job {
    type Output = ();

    fn open<Q: Queue + 'static>(self, queue: Q, plan: BufferPlan, backend: Backend) {
        self.run(queue, plan, backend);
    }

    fn fail(self, error: EngineError) {
        Job::fail(self, error);
    }
}

/// The queue, with its kind hidden.
pub(crate) struct Boxed;

impl Opened for Boxed {
    type Output = Result<(Box<dyn Queue>, Backend), EngineError>;

    fn open<Q: Queue + 'static>(
        self,
        queue: Q,
        _plan: BufferPlan,
        backend: Backend,
    ) -> Self::Output {
        Ok((Box::new(queue), backend))
    }

    fn fail(self, error: EngineError) -> Self::Output {
        Err(error)
    }
}

/// Starts a thread of a stream.
pub(crate) fn start_thread(
    stream: &str,
    rank: u32,
    body: impl FnOnce() + Send + 'static,
) -> Result<(), EngineError> {
    // A name must not end the program: characters that the name of a thread cannot have are left
    // out.
    let name: String = stream.chars().filter(|c| !c.is_control()).collect();
    std::thread::Builder::new().name(format!("{name}-{rank}")).spawn(body).map(|_| ()).map_err(
        |source| EngineError::Thread {
            what: "start a thread".to_owned(),
            source,
            remedy: "use fewer threads and a larger depth",
        },
    )
}
