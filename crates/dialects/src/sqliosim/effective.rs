//! A configuration with what a command line sets in it.

use super::{Command, Configuration, DataFile};

/// The size of data files that SQLIOSim's own configuration proposes, in MiB.
const DATA_MB: i64 = 4096;
/// Logs have half the size of the data, in these bounds, in MiB.
const LOG_MB: (i64, i64) = (2, 50);

fn log_mb(data_mb: i64) -> i64 {
    (data_mb / 2).clamp(LOG_MB.0, LOG_MB.1)
}

impl Configuration {
    /// Sets what the command line says: it takes precedence over the configuration.
    pub fn set(&mut self, command: &Command) {
        if let Some(seconds) = command.seconds {
            self.general.test_cycle_duration_s = seconds.into();
            self.general.test_cycles = 1;
        }
        let size = command.size_mb.map(i64::from);
        for file in &mut self.files {
            let Some(size) = size else { break };
            let stays = file.max_size_mb == Some(file.initial_size_mb);
            file.initial_size_mb = if file.log_file { log_mb(size) } else { size };
            let least = file.initial_size_mb;
            file.max_size_mb =
                file.max_size_mb.map(|most| if stays { least } else { most.max(least) });
        }
        if !command.directories.is_empty() {
            let configured = self.files.iter().find(|f| !f.log_file).map(|f| f.initial_size_mb);
            let size = size.or(configured).unwrap_or(DATA_MB);
            self.files = files_in(&command.directories, size);
        }
    }
}

/// A data file and a log in each directory.
fn files_in(directories: &[String], data_mb: i64) -> Vec<DataFile> {
    let named = directories.iter().flat_map(|directory| {
        [("mdx", data_mb, false), ("ldx", log_mb(data_mb), true)].map(|file| (directory, file))
    });
    (1..)
        .zip(named)
        .map(|(number, (directory, (extension, initial_size_mb, log_file)))| DataFile {
            number,
            file_name: inside(directory, &format!("sqliosim.{extension}")),
            initial_size_mb,
            max_size_mb: Some(initial_size_mb),
            log_file,
            ..DataFile::default()
        })
        .collect()
}

/// A file in a directory, written as the directory is.
fn inside(directory: &str, name: &str) -> String {
    let windows = directory.contains('\\') || directory.ends_with(':');
    let mark = if windows { '\\' } else { '/' };
    format!("{}{mark}{name}", directory.trim_end_matches(['/', '\\']))
}
