//! The systems and processors that packages are made for, and their many names.

use clap::ValueEnum;
use clap::builder::PossibleValue;

/// A processor that packages are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Arch {
    /// x86-64, also called amd64.
    X86,
    /// 64-bit ARM, also called aarch64.
    Arm,
}

/// A system that packages are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum System {
    /// Any Linux: the program is static.
    Linux,
    /// Windows 10 and later.
    Windows,
}

/// What a program is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Platform {
    /// The system that runs the program.
    pub system: System,
    /// The processor that runs the program.
    pub arch: Arch,
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
}

impl Platform {
    pub(crate) const fn new(system: System, arch: Arch) -> Self {
        Self { system, arch }
    }

    /// As the names of files and `--platform` have it.
    pub(crate) fn name(self) -> &'static str {
        match (self.system, self.arch) {
            (System::Linux, Arch::X86) => "x86_64-linux",
            (System::Linux, Arch::Arm) => "aarch64-linux",
            (System::Windows, Arch::X86) => "x86_64-windows",
            (System::Windows, Arch::Arm) => "aarch64-windows",
        }
    }

    /// The target of the Rust compiler. For Linux it is static, with musl as its C library.
    pub(crate) fn rust_target(self) -> &'static str {
        match (self.system, self.arch) {
            (System::Linux, Arch::X86) => "x86_64-unknown-linux-musl",
            (System::Linux, Arch::Arm) => "aarch64-unknown-linux-musl",
            (System::Windows, Arch::X86) => "x86_64-pc-windows-gnu",
            (System::Windows, Arch::Arm) => "aarch64-pc-windows-gnullvm",
        }
    }

    /// The target of zig, by which C is compiled; x86-64 Windows has a compiler of its own.
    pub(crate) fn zig_target(self) -> Option<&'static str> {
        match (self.system, self.arch) {
            (System::Linux, Arch::X86) => Some("x86_64-linux-musl"),
            (System::Linux, Arch::Arm) => Some("aarch64-linux-musl"),
            (System::Windows, Arch::X86) => None,
            (System::Windows, Arch::Arm) => Some("aarch64-windows-gnu"),
        }
    }

    /// The name of the program's file.
    pub(crate) fn program(self) -> &'static str {
        match self.system {
            System::Linux => "iosonde",
            System::Windows => "iosonde.exe",
        }
    }
}

impl ValueEnum for Platform {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [Platform; 4] = [
            Platform::new(System::Linux, Arch::X86),
            Platform::new(System::Linux, Arch::Arm),
            Platform::new(System::Windows, Arch::X86),
            Platform::new(System::Windows, Arch::Arm),
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}
