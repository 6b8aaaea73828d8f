//! The logical processors and where each is.

/// A logical processor that is online. What the system does not say is 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Processor {
    /// Number of the logical processor, as the kernel counts.
    pub cpu: u32,
    /// The core it is in, by its number in the socket.
    pub core: u32,
    /// Number of the socket that it is in.
    pub socket: u32,
    /// The number of the NUMA node.
    pub node: u32,
    /// How fast it is next to others of the machine: the kernel's capacity, 1024 for the fastest; 0
    /// where all are alike.
    pub capacity: u32,
}

/// The logical processors, and how their speed is chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Processors {
    /// Those that are online, by number.
    pub online: Vec<Processor>,
    /// The name of what chooses their frequency, such as `performance`; absent if nothing does.
    pub governor: Option<String>,
}
