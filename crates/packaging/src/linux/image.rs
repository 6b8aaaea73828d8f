//! A container image as a tar with an OCI layout: one layer with the program, a user who is not
//! root, and nothing else; no shell, no libraries.

use serde_json::{Value, json};

use crate::linux::arch::Arch;
use crate::linux::contents::{About, LINKS, SUMMARY};
use crate::linux::failure::Failure;
use crate::linux::sums::sha256;
use crate::linux::tree::{Tree, gzip};

/// The user that the program runs as, by the number that images without a shell commonly use.
const USER: u64 = 65532;

/// The directory of the history in the image.
const HOME: &str = "/var/lib/iosonde";

/// The files that the image contains.
fn files(program: &[u8]) -> Tree {
    let mut tree = Tree::default();
    tree.program("usr/bin/iosonde", program);
    for name in LINKS {
        tree.link(&format!("usr/bin/{name}"), "iosonde");
    }
    tree.file(
        "etc/passwd",
        format!("root:x:0:0:root:/:/nonexistent\niosonde:x:{USER}:{USER}::{HOME}:/nonexistent\n"),
    );
    tree.file("etc/group", format!("root:x:0:\niosonde:x:{USER}:\n"));
    tree.directory("data", 0o755, USER);
    tree.directory("tmp", 0o1777, 0);
    tree.directory(&HOME[1..], 0o755, USER);
    tree
}

/// Makes the image as one tar.
pub(crate) fn build(
    about: &About,
    date: &str,
    arch: Arch,
    program: &[u8],
) -> Result<Vec<u8>, Failure> {
    let layer = files(program).tar("", about.date)?;
    let layer_id = format!("sha256:{}", sha256(&layer));
    let mut layout = Tree::default();
    let layer = gzip(&layer)?;
    let kind = |name: &str| format!("application/vnd.oci.image.{name}");
    let layer = blob(&mut layout, &kind("layer.v1.tar+gzip"), layer);
    let config = json!({
        "created": date,
        "architecture": arch.debian(),
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "Env": ["PATH=/usr/bin", format!("HOME={HOME}")],
            "Entrypoint": ["/usr/bin/iosonde"],
            "Cmd": ["--help"],
            "WorkingDir": "/data",
            "Labels": {
                "org.opencontainers.image.title": "iosonde",
                "org.opencontainers.image.description": SUMMARY,
                "org.opencontainers.image.version": about.version,
                "org.opencontainers.image.licenses": "Apache-2.0 OR MIT",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [layer_id]},
        "history": [{"created": date, "created_by": "iosonde package"}],
    });
    let config = blob(&mut layout, &kind("config.v1+json"), config.to_string());
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": kind("manifest.v1+json"),
        "config": config,
        "layers": [layer],
    });
    let mut manifest = blob(&mut layout, &kind("manifest.v1+json"), manifest.to_string());
    manifest["platform"] = json!({"architecture": arch.debian(), "os": "linux"});
    manifest["annotations"] = json!({
        "org.opencontainers.image.ref.name": about.version,
        // By this name, containerd and podman know the image after they have loaded it.
        "io.containerd.image.name": format!("localhost/iosonde:{}", about.version),
    });
    let index = json!({
        "schemaVersion": 2,
        "mediaType": kind("index.v1+json"),
        "manifests": [manifest],
    });
    layout.file("index.json", index.to_string());
    layout.file("oci-layout", json!({"imageLayoutVersion": "1.0.0"}).to_string());
    layout.tar("", about.date)
}

/// Adds a blob under its digest, and describes it.
fn blob(layout: &mut Tree, kind: &str, bytes: impl Into<Vec<u8>>) -> Value {
    let bytes = bytes.into();
    let digest = sha256(&bytes);
    let size = bytes.len();
    layout.file(&format!("blobs/sha256/{digest}"), bytes);
    json!({"mediaType": kind, "digest": format!("sha256:{digest}"), "size": size})
}
