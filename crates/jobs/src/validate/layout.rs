//! Which files a simulated database has on the targets that were named.

use std::path::{Path, PathBuf};

use integrity::{Plan, Role};
use workload::Bytes;

use super::FilePlan;
use crate::conduct::JobError;

/// The files that are made in a directory.
const DATA_FILE: &str = "iosonde.mdx";
const AREA_FILE: &str = "iosonde.dbx";
const LOG_FILE: &str = "iosonde.ldx";
/// SQLIOSim's rule for the log: half of the data, and no more than this.
const LOG_BYTES_MAX: u64 = 50 << 20;
const LOG_BYTES_MIN: u64 = 8 << 20;

/// Where data and log go, and how large they are.
#[derive(Debug, Clone, Copy)]
pub struct ValidateTargets<'a> {
    /// Where data files are: directories, files or block devices.
    pub data: &'a [PathBuf],
    /// The size of the data files.
    pub size: Option<Bytes>,
    /// Whether the database has a log.
    pub has_log: bool,
    /// Where the log is; `None` if the first directory is.
    pub log: Option<&'a Path>,
    /// The size of the log; `None` takes SQLIOSim's rule.
    pub log_size: Option<Bytes>,
    /// They are on other hosts: all are directories, and those hosts say whether they are there.
    pub elsewhere: bool,
}

impl ValidateTargets<'_> {
    /// The size of a data file.
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        self.size.map_or_else(engine::usual_size_bytes, |size| size.0)
    }

    /// The files of a database on these places.
    ///
    /// # Errors
    /// A place is missing, or nobody knows where the log is to be.
    pub fn files(&self, plan: &Plan) -> Result<Vec<FilePlan>, JobError> {
        if self.data.is_empty() {
            let text = "name a directory on the storage, a file or a block device";
            return Err(JobError::Usage(text.to_owned()));
        }
        if !self.elsewhere {
            self.check_directories()?;
        }
        let place = |target: &PathBuf| self.in_directory(target, DATA_FILE);
        let file = |target: &PathBuf| FilePlan::new(place(target), self.size, Role::Data);
        let mut files: Vec<FilePlan> = self.data.iter().map(file).collect();
        if self.has_log {
            let log = self.log(plan)?;
            let area = self.area(plan, &log);
            files.push(log);
            files.extend(area);
        }
        Ok(files)
    }

    /// A file that is to be made needs a directory.
    fn check_directories(&self) -> Result<(), JobError> {
        let targets = self.data.iter().map(|target| ("TARGET", target.as_path()));
        for (name, path) in targets.chain(self.log.map(|log| ("--log", log))) {
            let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
            let missing = directory.filter(|d| !path.exists() && !d.is_dir());
            let Some(directory) = missing else { continue };
            return Err(JobError::Usage(format!(
                "{name} `{}` does not exist, and neither does the directory `{}`: correct the \
                 name, or make a directory with `mkdir -p`",
                path.display(),
                directory.display()
            )));
        }
        Ok(())
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.elsewhere || path.is_dir()
    }

    fn in_directory(&self, path: &Path, name: &str) -> PathBuf {
        if self.is_directory(path) { path.join(name) } else { path.to_owned() }
    }

    fn directory(&self) -> Option<&Path> {
        self.data.iter().find(|target| self.is_directory(target)).map(PathBuf::as_path)
    }

    fn log(&self, plan: &Plan) -> Result<FilePlan, JobError> {
        let path = match (self.log, self.directory()) {
            (Some(log), _) => self.in_directory(log, LOG_FILE),
            (None, Some(directory)) => directory.join(LOG_FILE),
            (None, None) => return Err(JobError::Usage(self.no_place_for_log())),
        };
        let least = LOG_BYTES_MIN.max(u64::from(plan.threads) << 20);
        let usual = (self.data_bytes() / 2).clamp(least, LOG_BYTES_MAX.max(least));
        let size = self.log_size.unwrap_or(Bytes(usual));
        Ok(FilePlan::new(path, Some(size), Role::Log))
    }

    fn no_place_for_log(&self) -> String {
        match self.data.iter().find(|target| !target.exists()) {
            Some(missing) => format!(
                "TARGET `{}` does not exist. If you mean a directory, make it first with \
                 `mkdir`. If you mean a new test file, name where the log is with `--log`",
                missing.display()
            ),
            None => "no TARGET is a directory, so name where the log is with `--log`".to_owned(),
        }
    }

    /// The file of pages that are written twice, where the plan has such: in the first directory,
    /// or next to the log.
    fn area(&self, plan: &Plan, log: &FilePlan) -> Option<FilePlan> {
        let pages = u64::from(plan.doublewrite_pages) * u64::from(plan.threads);
        let size = Bytes((pages * u64::from(plan.page_bytes)).max(LOG_BYTES_MIN));
        let directory = self.directory().or(log.path.parent()).unwrap_or(Path::new("."));
        let area = || FilePlan::new(directory.join(AREA_FILE), Some(size), Role::Doublewrite);
        (pages > 0).then(area)
    }
}
