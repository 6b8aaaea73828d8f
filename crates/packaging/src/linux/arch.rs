//! The two processors that packages are made for, and their many names.

use clap::ValueEnum;

/// A processor that packages are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Arch {
    /// The processor x86-64.
    #[value(name = "x86_64", alias = "amd64")]
    X86,
    /// The processor 64-bit ARM.
    #[value(name = "aarch64", alias = "arm64")]
    Arm,
}

impl Arch {
    /// The processor of this machine, if packages are made for it.
    pub(crate) fn of_this_machine() -> Option<Self> {
        match std::env::consts::ARCH {
            "x86_64" => Some(Self::X86),
            "aarch64" => Some(Self::Arm),
            _ => None,
        }
    }

    /// As the kernel, Rust and RPM call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::X86 => "x86_64",
            Self::Arm => "aarch64",
        }
    }

    /// As Debian and container images call it.
    pub(crate) fn debian(self) -> &'static str {
        match self {
            Self::X86 => "amd64",
            Self::Arm => "arm64",
        }
    }

    /// The target of the Rust compiler: static, with musl as its C library.
    pub(crate) fn rust_target(self) -> String {
        format!("{}-unknown-linux-musl", self.name())
    }
}
