//! Building, packing and trying: everything that needs Linux.

mod arch;
mod commands;
mod compile;
mod contents;
mod deb;
mod dist;
mod failure;
mod image;
mod licences;
mod manifests;
mod packages;
mod rpm_file;
mod sbom;
mod sums;
mod tree;
mod trial;

pub(crate) use commands::main;
