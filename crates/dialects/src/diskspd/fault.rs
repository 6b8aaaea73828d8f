//! What can be wrong with one word of a command line.

use thiserror::Error;

use super::lex::SizeError;

/// What can be wrong with an option.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Fault {
    /// DiskSpd does not have this option.
    #[error("there is no such option")]
    UnknownOption,
    /// An option follows the first target.
    #[error("options come before all targets")]
    OptionAfterTarget,
    /// The command line names no target.
    #[error("name a target: a file, a device, or `#1` or `C:` with `--drive`")]
    NoTarget,
    /// A size is not written as DiskSpd reads it.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// The block does not fit 32 bits.
    #[error("a block must be smaller than 4294967295 bytes")]
    BlockTooLarge,
    /// A number that must be above 0.
    #[error("write a number above 0")]
    NotPositive,
    /// A number that must not be negative.
    #[error("write a number that is not negative")]
    Negative,
    /// A list of processors cannot be read.
    #[error(
        "write processors with commas between, `g` and a number before those of a group: \
         `-a0,1,g1,0`"
    )]
    AffinitySyntax,
    /// A list of processors without an end.
    #[error("the list of processors ends too early: a processor must follow")]
    AffinityIncomplete,
    /// The number of a processor group is too large.
    #[error("groups are 0 to 65535")]
    AffinityGroupRange,
    /// The number of a processor is too large.
    #[error("processors of a group are 0 to 255")]
    AffinityCpuRange,
    /// `-B` is given twice.
    #[error("the start is given twice")]
    BaseTwice,
    /// Something else than a length follows the start of `-B`.
    #[error("write `-B<start>` or `-B<start>:<length>`")]
    BaseSeparator,
    /// Start and length do not fit 64 bits.
    #[error("start and length together do not fit 64 bits")]
    BaseOverflow,
    /// The end is given twice.
    #[error("the end is given twice, by `-f<size>` or by the length of `-B`")]
    MaxTwice,
    /// A hint that does not exist.
    #[error("write `-f<size>`, or the hints `r`, `s` and `t`")]
    Hint,
    /// An event of the kernel that does not exist.
    #[error(
        "write q, c, s or p, or one of PROCESS, THREAD, IMAGE_LOAD, DISK_IO, MEMORY_PAGE_FAULTS, \
         MEMORY_HARD_FAULTS, NETWORK, REGISTRY"
    )]
    Etw,
    /// A rate cannot be read.
    #[error("write bytes in a millisecond, or I/Os in a second with an `i` after them: `-g100i`")]
    Throughput,
    /// Cache or write-through was said before.
    #[error("an option before it already chose the caches")]
    OldUncached,
    /// A priority that does not exist.
    #[error("write 1, 2 or 3")]
    Priority,
    /// A flush that does not exist.
    #[error("write v, n or i")]
    Flush,
    /// Random I/O is asked for twice.
    #[error("random I/O is asked for twice")]
    RandomTwice,
    /// The share of `-rs` is given twice.
    #[error("the share of random I/O is given twice")]
    RatioTwice,
    /// The share of random I/O is out of range.
    #[error("the share of random I/O is 1 to 100 percent")]
    Ratio,
    /// The alignment is 0.
    #[error("the alignment must be above 0")]
    AlignmentZero,
    /// `-r` and `-s` exclude each other.
    #[error("sequential and random I/O exclude each other; for a mix use `-rs<percent>` alone")]
    RandomAndSequential,
    /// Sequential I/O is asked for twice.
    #[error("sequential I/O is asked for twice")]
    StrideTwice,
    /// A distribution that does not exist.
    #[error("write `-rdpct` or `-rdabs` and pairs: `-rdpct90/10:5/20`")]
    DistributionType,
    /// A slice has no share of the I/Os.
    #[error("each pair begins with a share of the I/Os in percent")]
    DistributionIo,
    /// A slice's share of the I/Os is out of range.
    #[error("a share of the I/Os is 0 to 100 percent")]
    DistributionIoRange,
    /// No slash follows the share of a slice.
    #[error("write a slash between the share of the I/Os and the part of the target")]
    DistributionSlash,
    /// The extent of a slice is not a number.
    #[error("after the slash, write a part of the target in percent")]
    DistributionTarget,
    /// The extent of a slice is out of range.
    #[error("a part of the target is 1 to 100 percent")]
    DistributionTargetRange,
    /// A slice has no length.
    #[error("a part of the target must be longer than 0")]
    DistributionZero,
    /// Something follows a pair of share and extent.
    #[error("after a pair comes a colon or nothing, not `{0}`")]
    DistributionTrailing(String),
    /// A format that does not exist.
    #[error("write text or xml, or p before it to see only the profile")]
    Format,
    /// A cache mode that does not exist.
    #[error("write b, h, m, r, u or w; d and s of diskspd-for-linux are u and w")]
    CacheUnknown,
    /// Two cache modes exclude each other.
    #[error(
        "the option chooses the caches twice; b, r and u (and `-S` alone, which is u) exclude \
         each other"
    )]
    CacheConflict,
    /// Write-through is asked for twice.
    #[error("the option asks for write-through twice")]
    WriteThroughConflict,
    /// Mapping together with what excludes it.
    #[error("the option asks for mapped I/O (m) twice, or together with u, which it excludes")]
    MappedConflict,
    /// `h` includes `u` and `w`, and is given with others.
    #[error("h is u and w together: give it alone")]
    UncachedConflict,
    /// The distance between threads is 0.
    #[error("the distance of threads must be above 0")]
    ThreadStrideZero,
    /// A verbosity that does not exist.
    #[error("write `-v` or `-vs`")]
    Verbose,
    /// The share of writes is missing.
    #[error("write a share of writes in percent; reads alone are `-w0`")]
    WriteMissing,
    /// The share of writes is out of range.
    #[error("the share of writes is 0 to 100 percent")]
    WriteRange,
    /// An event has no name.
    #[error("write `-ys`, `-yf`, `-yr`, `-yp` or `-ye` and the name of an event")]
    Event,
    /// The seed cannot be read.
    #[error("a seed is a number")]
    Seed,
    /// The content of writes cannot be read.
    #[error("write `-Z`, `-Zr`, or a size above 0 and perhaps a file: `-Z1M,data.bin`")]
    Content,
    /// The content of writes is said as in diskspd-for-linux.
    #[error(
        "z and s are of diskspd-for-linux: write `-Z` for zeros, and nothing for counting bytes"
    )]
    ContentOfLinux,
    /// A second profile is named.
    #[error("one profile is read at a time")]
    ProfileTwice,
    /// Options that are not allowed with a profile.
    #[error("`-X` goes with -:, -C, -d, -R, -v, -W and -z only: everything else is in the profile")]
    BesideProfile,
}
