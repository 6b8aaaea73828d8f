//! A package for Fedora, RHEL, SUSE and the like.

use rpm::{BuildConfig, CompressionWithLevel, FileOptions, PackageBuilder};

use crate::linux::arch::Arch;
use crate::linux::contents::{About, SUMMARY, Script, description, scripts};
use crate::linux::failure::{Failure, because};
use crate::linux::tree::{Node, Tree};

/// Makes the package as one file.
pub(crate) fn build(about: &About, arch: Arch, files: &Tree) -> Result<Vec<u8>, Failure> {
    let date = u32::try_from(about.date)
        .map_err(|_| because(format!("RPM cannot store the date {}", about.date)))?;
    let config =
        BuildConfig::default().compression(CompressionWithLevel::Gzip(9)).source_date(date);
    let licence = "Apache-2.0 OR MIT";
    let mut builder = PackageBuilder::new("iosonde", &about.version, licence, arch.name(), SUMMARY);
    builder
        .using_config(config)
        .release("1")
        .description(description())
        .packager(about.maintainer.clone())
        .build_host("localhost");
    for (path, node) in files.nodes() {
        let path = format!("/{path}");
        match node {
            Node::Directory { .. } if is_ours(&path) => {
                builder.with_dir_entry(FileOptions::dir(path))?;
            }
            // The directories of the system belong to the system's packages.
            Node::Directory { .. } => {}
            Node::File { bytes, mode } => {
                let options = FileOptions::new(&path).permissions(*mode);
                let options = match path.as_str() {
                    _ if path.ends_with("/copyright") => options.license(),
                    _ if path.starts_with("/usr/share/doc/") => options.doc(),
                    _ if path.starts_with("/etc/") => options.config().noreplace(),
                    _ => options,
                };
                builder.with_file_contents(bytes.clone(), options)?;
            }
            Node::Link(to) => {
                builder.with_symlink(FileOptions::symlink(path, to))?;
            }
        }
    }
    for (name, script) in scripts(Script::Rpm) {
        match name {
            "post" => builder.post_install_script(script),
            "preun" => builder.pre_uninstall_script(script),
            _ => builder.post_uninstall_script(script),
        };
    }
    let mut bytes = Vec::new();
    builder.build()?.write(&mut bytes)?;
    Ok(bytes)
}

/// Whether a directory is of this package alone.
fn is_ours(path: &str) -> bool {
    path.split('/').any(|part| part == "iosonde")
}
