//! A Debian package: an `ar` archive of a version, a tar of what Debian is to know, and a tar of
//! the files.

use std::fmt::Write as _;

use crate::linux::arch::Arch;
use crate::linux::contents::{About, SUMMARY, Script, description, scripts};
use crate::linux::failure::{Failure, packing};
use crate::linux::tree::{Node, Tree, gzip};

/// Makes the package as one file.
pub(crate) fn build(about: &About, arch: Arch, files: &Tree) -> Result<Vec<u8>, Failure> {
    let mut control = Tree::default();
    control.file("control", paragraph(about, arch, files));
    for (name, script) in scripts(Script::Debian) {
        control.program(name, script);
    }
    let mut package = ar::Builder::new(Vec::new());
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", gzip(&control.tar("", about.date)?)?),
        ("data.tar.gz", gzip(&files.tar("", about.date)?)?),
    ];
    for (name, bytes) in members {
        let mut header = ar::Header::new(name.into(), bytes.len() as u64);
        header.set_mode(0o100_644);
        header.set_mtime(about.date);
        package.append(&header, &bytes[..]).map_err(packing)?;
    }
    package.into_inner().map_err(packing)
}

/// What `dpkg` shows and decides by.
fn paragraph(about: &About, arch: Arch, files: &Tree) -> String {
    let size: u64 = files.nodes().map(|(_, node)| kibibytes(node)).sum();
    let mut text = format!(
        "Package: iosonde\nVersion: {}-1\nArchitecture: {}\nMaintainer: {}\n\
         Installed-Size: {size}\n\
         Section: utils\nPriority: optional\nDescription: {SUMMARY}\n",
        about.version,
        arch.debian(),
        about.maintainer,
    );
    for line in description().lines() {
        // Writing into a string cannot fail.
        let _ = writeln!(text, " {}", if line.is_empty() { "." } else { line });
    }
    text
}

/// What a path takes on disk, as Debian counts it.
fn kibibytes(node: &Node) -> u64 {
    match node {
        Node::File { bytes, .. } => (bytes.len() as u64).div_ceil(1024),
        Node::Directory { .. } | Node::Link(_) => 1,
    }
}
