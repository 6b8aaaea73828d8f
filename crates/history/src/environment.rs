//! The set-ups that measurements were made on: each is stored once, however many measurements were
//! made on it.

use inspect::Storage;
use results::Environment;
use serde_json::Value as Json;

use crate::connection::Connection;
use crate::error::HistoryError;
use crate::value::{Row, Value, values};

/// The columns that describe a target.
const STORAGE: &str = "environment_storage (environment, position, target, path, kind, layers, \
                       disks, device, vendor, model, firmware, serial, transport, driver, \
                       scheduler, queue_depth, nr_requests, rotational, write_cache, \
                       device_bytes, logical_block_bytes, physical_block_bytes, minimum_io_bytes, \
                       optimal_io_bytes, max_io_bytes, partition, partition_start_bytes, \
                       file_system, mount_point, mount_source, mount_options, file_system_bytes, \
                       file_system_block_bytes)";

/// The number of the row of an environment, which is added if it is new.
pub(crate) fn number_of(
    connection: &Connection,
    environment: &Environment,
    document: &Json,
) -> Result<i64, HistoryError> {
    let text = document.to_string();
    let hash = format!("{:016x}", fnv_1a(text.as_bytes()));
    // A server lets others delete results meanwhile, and with them set-ups that nothing was
    // measured on any more.
    let hold = if connection.as_sqlite().is_some() { "" } else { " FOR KEY SHARE" };
    let sql =
        format!("SELECT number, document FROM environments WHERE hash = $1 ORDER BY number{hold}");
    let read = |row: &mut Row| Ok((row.take::<i64>()?, row.take::<String>()?));
    let same = connection.query(&sql, values![&hash], read)?;
    if let Some((number, _)) = same.into_iter().find(|(_, there)| *there == text) {
        return Ok(number);
    }
    let host = environment.host.as_ref();
    let sql = "INSERT INTO environments (hash, hostname, os, kernel, cpu_model, cpus, \
               memory_bytes, virtualization, clocksource, document) VALUES ($1, $2, $3, $4, $5, \
               $6, $7, $8, $9, $10)";
    let values = values![
        hash,
        host.map(|h| &h.hostname),
        host.map(|h| &h.os),
        host.map(|h| &h.kernel),
        host.map(|h| &h.cpu_model),
        host.map(|h| h.cpus).filter(|n| *n > 0),
        host.map(|h| h.memory_bytes).filter(|n| *n > 0),
        host.and_then(|h| h.virtualization.as_ref()),
        host.and_then(|h| h.clocksource.as_ref()),
        text,
    ];
    let number = connection.insert_numbered(sql, values)?.unwrap_or_default();
    let rows = environment.storage.iter().enumerate();
    connection.insert(STORAGE, rows.map(|(position, s)| row(number, position, s)).collect())?;
    Ok(number)
}

fn row(environment: i64, position: usize, storage: &Storage) -> Vec<Value> {
    let device = storage.devices.first();
    let system = storage.file_system.as_ref();
    let partition = storage.partition.as_ref();
    let kind = serde_json::to_value(storage.kind).ok();
    let kind = kind.as_ref().and_then(Json::as_str).unwrap_or_default();
    vec![
        environment.into(),
        (position as u64).into(),
        storage.target.display().to_string().into(),
        storage.path.display().to_string().into(),
        kind.into(),
        storage.layers.join(" ").into(),
        (storage.devices.len() as u64).into(),
        device.map(|d| &d.name).into(),
        device.and_then(|d| d.vendor.as_ref()).into(),
        device.and_then(|d| d.model.as_ref()).into(),
        device.and_then(|d| d.firmware.as_ref()).into(),
        device.and_then(|d| d.serial.as_ref()).into(),
        device.and_then(|d| d.transport.as_ref()).into(),
        device.and_then(|d| d.driver.as_ref()).into(),
        device.and_then(|d| d.scheduler.as_ref()).into(),
        device.and_then(|d| d.queue_depth).into(),
        device.and_then(|d| d.nr_requests).into(),
        device.and_then(|d| d.rotational).into(),
        device.and_then(|d| d.write_cache.as_ref()).into(),
        device.map(|d| d.size_bytes).into(),
        device.and_then(|d| d.logical_block_bytes).into(),
        device.and_then(|d| d.physical_block_bytes).into(),
        device.and_then(|d| d.minimum_io_bytes).into(),
        device.and_then(|d| d.optimal_io_bytes).into(),
        device.and_then(|d| d.max_io_bytes).into(),
        partition.map(|p| &p.name).into(),
        partition.map(|p| p.start_bytes).into(),
        system.map(|s| &s.kind).into(),
        system.map(|s| s.mount_point.display().to_string()).into(),
        system.map(|s| &s.source).into(),
        system.map(|s| s.options.join(",")).into(),
        system.map(|s| s.total_bytes).into(),
        system.map(|s| s.block_bytes).into(),
    ]
}

/// A short name for bytes (FNV-1a, 64 bits).
pub(crate) fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
