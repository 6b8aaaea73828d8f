//! The columns of figures in a result file.

/// Implements the columns with their titles.
macro_rules! columns {
    ($($name:ident = $title:literal,)*) => {
        /// A column of figures, in the order of version 1.1.0. It follows the three with the kind,
        /// the name, and the access specification.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Column {
            $(#[doc = concat!("`", $title, "`")] $name,)*
        }

        impl Column {
            /// All columns, in the order of the file.
            pub const ALL: [Self; 77] = [$(Self::$name),*];

            /// The heading of the column in a result file.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }
        }
    };
}

columns! {
    Managers = "# Managers",
    Workers = "# Workers",
    Disks = "# Disks",
    Iops = "IOps",
    ReadIops = "Read IOps",
    WriteIops = "Write IOps",
    MibPerS = "MiBps (Binary)",
    ReadMibPerS = "Read MiBps (Binary)",
    WriteMibPerS = "Write MiBps (Binary)",
    MbPerS = "MBps (Decimal)",
    ReadMbPerS = "Read MBps (Decimal)",
    WriteMbPerS = "Write MBps (Decimal)",
    TransactionsPerS = "Transactions per Second",
    ConnectionsPerS = "Connections per Second",
    MeanMs = "Average Response Time",
    ReadMeanMs = "Average Read Response Time",
    WriteMeanMs = "Average Write Response Time",
    TransactionMeanMs = "Average Transaction Time",
    ConnectionMeanMs = "Average Connection Time",
    MaxMs = "Maximum Response Time",
    ReadMaxMs = "Maximum Read Response Time",
    WriteMaxMs = "Maximum Write Response Time",
    TransactionMaxMs = "Maximum Transaction Time",
    ConnectionMaxMs = "Maximum Connection Time",
    Errors = "Errors",
    ReadErrors = "Read Errors",
    WriteErrors = "Write Errors",
    BytesRead = "Bytes Read",
    BytesWritten = "Bytes Written",
    Reads = "Read I/Os",
    Writes = "Write I/Os",
    Connections = "Connections",
    TransactionsPerConnection = "Transactions per Connection",
    RawRead = "Total Raw Read Response Time",
    RawWrite = "Total Raw Write Response Time",
    RawTransaction = "Total Raw Transaction Time",
    RawConnection = "Total Raw Connection Time",
    RawReadMax = "Maximum Raw Read Response Time",
    RawWriteMax = "Maximum Raw Write Response Time",
    RawTransactionMax = "Maximum Raw Transaction Time",
    RawConnectionMax = "Maximum Raw Connection Time",
    RawRun = "Total Raw Run Time",
    StartSector = "Starting Sector",
    MaximumSectors = "Maximum Size",
    Outstanding = "Queue Depth",
    CpuPercent = "% CPU Utilization",
    UserPercent = "% User Time",
    PrivilegedPercent = "% Privileged Time",
    DpcPercent = "% DPC Time",
    InterruptPercent = "% Interrupt Time",
    TicksPerS = "Processor Speed",
    InterruptsPerS = "Interrupts per Second",
    CpuEffectiveness = "CPU Effectiveness",
    PacketsPerS = "Packets/Second",
    PacketErrors = "Packet Errors",
    SegmentsRetransmittedPerS = "Segments Retransmitted/Second",
    To50Us = "0 to 50 uS",
    To100Us = "50 to 100 uS",
    To200Us = "100 to 200 uS",
    To500Us = "200 to 500 uS",
    To1Ms = "0.5 to 1 mS",
    To2Ms = "1 to 2 mS",
    To5Ms = "2 to 5 mS",
    To10Ms = "5 to 10 mS",
    To15Ms = "10 to 15 mS",
    To20Ms = "15 to 20 mS",
    To30Ms = "20 to 30 mS",
    To50Ms = "30 to 50 mS",
    To100Ms = "50 to 100 mS",
    To200Ms = "100 to 200 mS",
    To500Ms = "200 to 500 mS",
    To1S = "0.5 to 1 S",
    To2S = "1 to 2 s",
    To4700Ms = "2 to 4.7 s",
    To5S = "4.7 to 5 s",
    To10S = "5 to 10 s",
    Above10S = " >= 10 s",
}

impl Column {
    /// The columns of the latency bins.
    pub const BINS: [Self; 21] = [
        Self::To50Us,
        Self::To100Us,
        Self::To200Us,
        Self::To500Us,
        Self::To1Ms,
        Self::To2Ms,
        Self::To5Ms,
        Self::To10Ms,
        Self::To15Ms,
        Self::To20Ms,
        Self::To30Ms,
        Self::To50Ms,
        Self::To100Ms,
        Self::To200Ms,
        Self::To500Ms,
        Self::To1S,
        Self::To2S,
        Self::To4700Ms,
        Self::To5S,
        Self::To10S,
        Self::Above10S,
    ];

    /// The column of a title of any version. `MBps` without more is of versions before 1.1.0, and
    /// MiB per second.
    pub(super) fn from_title(title: &str) -> Option<Self> {
        let title = title.trim();
        let old = match title.to_ascii_lowercase().as_str() {
            "mbps" | "mbps (binary)" => Some(Self::MibPerS),
            "read mbps" | "read mbps (binary)" => Some(Self::ReadMibPerS),
            "write mbps" | "write mbps (binary)" => Some(Self::WriteMibPerS),
            _ => None,
        };
        let same = |c: &Self| c.title().trim().eq_ignore_ascii_case(title);
        Self::ALL.into_iter().find(same).or(old)
    }
}
