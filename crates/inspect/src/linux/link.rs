//! The way to a device, from the directories on the way to it.

use std::path::{Path, PathBuf};

use super::layers;
use super::tree::Tree;
use crate::{Link, giga_per_s};

/// The link of the disk in `dir`; `None` if its bus shows none.
pub(super) fn link(tree: &Tree, dir: &Path, transport: &str) -> Option<Link> {
    match transport {
        "sata" => sata(tree, dir),
        "sas" => sas(tree, dir),
        "fc" => fc(tree, dir),
        "iscsi" => iscsi(tree, dir),
        "usb" => usb(tree, dir),
        _ if transport.starts_with("nvme") => nvme(tree, dir),
        _ => None,
    }
}

/// The first step of a path that is `word` and a number: `ata3`, `rport-5:0-1`.
fn step(dir: &Path, word: &str) -> Option<String> {
    dir.iter().filter_map(|step| step.to_str()).find_map(|step| {
        let rest = step.strip_prefix(word)?;
        rest.starts_with(|c: char| c.is_ascii_digit()).then(|| step.to_owned())
    })
}

/// The part of a path that ends with the step `name`.
fn up_to(dir: &Path, name: &str) -> PathBuf {
    dir.iter()
        .scan(false, |ended, step| {
            let before = !*ended;
            *ended |= step == name;
            before.then_some(step)
        })
        .collect()
}

fn pcie(tree: &Tree, function: &Path) -> Option<Link> {
    let number = |file: &str| {
        tree.number(function.join(file)).and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0)
    };
    let speed = tree.text(function.join("current_link_speed"))?;
    Some(Link {
        bus: "pcie".to_owned(),
        speed: Some(speed),
        speed_max: tree.text(function.join("max_link_speed")),
        lanes: number("current_link_width"),
        lanes_max: number("max_link_width"),
        ..Link::default()
    })
}

fn nvme(tree: &Tree, dir: &Path) -> Option<Link> {
    let controller = layers::nvme_controllers(tree, dir)
        .into_iter()
        .next()
        .unwrap_or_else(|| dir.join("device"));
    if let Some(link) = pcie(tree, &controller.join("device")) {
        return Some(link);
    }
    let address = tree.text(controller.join("address"))?;
    let transport = tree.text(controller.join("transport")).filter(|t| t != "pcie")?;
    Some(Link {
        bus: transport,
        address: Some(address),
        remote_port: tree.text(controller.join("subsysnqn")),
        state: tree.text(controller.join("state")),
        ..Link::default()
    })
}

fn sata(tree: &Tree, dir: &Path) -> Option<Link> {
    let port = step(dir, "ata")?;
    let number = port.strip_prefix("ata")?;
    let known = |file: &str| {
        let text = tree.text(format!("sys/class/ata_link/link{number}/{file}"))?;
        giga_per_s(&text).map(|_| text)
    };
    let errors = tree.text(format!("sys/class/ata_device/dev{number}.0/spdn_cnt"));
    let link = Link {
        bus: "sata".to_owned(),
        speed: known("sata_spd"),
        speed_max: known("hw_sata_spd_limit"),
        lowered: errors.and_then(|text| text.parse().ok()),
        ..Link::default()
    };
    (link.speed.is_some() || link.lowered.is_some()).then_some(link)
}

fn sas(tree: &Tree, dir: &Path) -> Option<Link> {
    let end = step(dir, "end_device-")?;
    let port = up_to(dir, &end).parent()?.to_owned();
    let phys: Vec<PathBuf> = tree
        .entries(&port)
        .into_iter()
        .filter_map(|entry| {
            let name = entry.file_name()?.to_str()?.to_owned();
            name.starts_with("phy-").then(|| entry.join("sas_phy").join(name))
        })
        .collect();
    let slowest = |file: &str| {
        let rates = phys.iter().filter_map(|phy| {
            let text = tree.text(phy.join(file))?;
            giga_per_s(&text).map(|rate| (rate, text))
        });
        rates.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, text)| text)
    };
    let device = format!("sys/class/sas_device/{end}");
    let address = tree.text(format!("{device}/sas_address"));
    let link = Link {
        bus: "sas".to_owned(),
        speed: slowest("negotiated_linkrate"),
        speed_max: slowest("maximum_linkrate"),
        lanes: u32::try_from(phys.len()).ok().filter(|count| *count > 0),
        remote_port: address,
        ..Link::default()
    };
    (link.speed.is_some() || link.remote_port.is_some()).then_some(link)
}

fn fc(tree: &Tree, dir: &Path) -> Option<Link> {
    let remote = step(dir, "rport-")?;
    let host = step(dir, "host")?;
    let of_host = |file: &str| tree.text(format!("sys/class/fc_host/{host}/{file}"));
    let of_remote = |file: &str| tree.text(format!("sys/class/fc_remote_ports/{remote}/{file}"));
    let fastest = of_host("supported_speeds").and_then(|list| {
        let speeds = list.split(',').filter_map(|text| {
            let text = text.trim();
            giga_per_s(text).map(|speed| (speed, text.to_owned()))
        });
        speeds.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, text)| text)
    });
    Some(Link {
        bus: "fc".to_owned(),
        speed: of_host("speed").filter(|text| giga_per_s(text).is_some()),
        speed_max: fastest,
        local_port: of_host("port_name"),
        remote_port: of_remote("port_name"),
        state: of_remote("port_state"),
        ..Link::default()
    })
}

fn iscsi(tree: &Tree, dir: &Path) -> Option<Link> {
    let session = step(dir, "session")?;
    let number = session.strip_prefix("session")?;
    let of_session = |file: &str| tree.text(format!("sys/class/iscsi_session/{session}/{file}"));
    let of_connection =
        |file: &str| tree.text(format!("sys/class/iscsi_connection/connection{number}:0/{file}"));
    Some(Link {
        bus: "iscsi".to_owned(),
        local_port: of_session("initiatorname"),
        remote_port: of_session("targetname"),
        address: of_connection("persistent_address").or_else(|| of_connection("address")),
        state: of_session("state"),
        ..Link::default()
    })
}

/// The device of the USB that the disk is in: the nearest directory upwards that has a speed.
fn usb(tree: &Tree, dir: &Path) -> Option<Link> {
    let device = dir
        .ancestors()
        .take_while(|path| {
            path.iter().any(|step| step.to_str().is_some_and(|s| s.starts_with("usb")))
        })
        .find(|path| tree.number(path.join("speed")).is_some())?;
    let version = tree.text(device.join("version"));
    // The version that the device keeps to says what it could do at least.
    let most = version.as_deref().and_then(|version| match version.split('.').next()? {
        "3" => Some("5000"),
        "2" => Some("480"),
        _ => None,
    });
    let unit = |speed: &str| format!("{speed} Mbit/s");
    Some(Link {
        bus: "usb".to_owned(),
        speed: tree.text(device.join("speed")).map(|speed| unit(&speed)),
        speed_max: most.map(unit),
        ..Link::default()
    })
}
