//! `iosonde service`: tasks that Windows starts.

use clap::{Args, Subcommand};
use jobs::{ScheduledTask, TaskAccount, TaskRequest, WeeklyTime, remove_task};

use crate::exit::{Failure, Outcome, print};
use crate::usage::parse_words;

/// `iosonde service`
#[derive(Debug, Subcommand)]
pub(crate) enum ServiceCommand {
    /// Let the Task Scheduler of Windows start a command: `baseline` once a week, `agent --join`
    /// and `serve` when Windows starts. A task of the same name is replaced
    Install(InstallArgs),
    /// Remove a task; what it measured stays
    Remove {
        /// The name of the task, as `install` printed it after `\iosonde\`
        #[arg(value_name = "NAME")]
        name: String,
    },
}

/// `iosonde service install`
#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// The command with its flags, which come last
    #[arg(
        value_name = "COMMAND",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub command: Vec<String>,

    /// Name of the task [default: that of the command]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// Day and time of a baseline; it starts up to four hours later, so that hosts with one storage
    /// differ
    #[arg(long, value_name = "DAY TIME", default_value = "Sun 03:00")]
    pub weekly: WeeklyTime,

    /// Run the task as local-service, network-service or system. It needs the right to write to
    /// the directory that is measured
    #[arg(long, value_name = "ACCOUNT", default_value = "local-service")]
    pub account: TaskAccount,

    /// Print the task as XML instead, as `schtasks /create /xml` reads it
    #[arg(long)]
    pub print: bool,
}

pub(crate) fn service(command: &ServiceCommand) -> Result<Outcome, Failure> {
    print(&match command {
        ServiceCommand::Install(InstallArgs { command, name, weekly, account, print }) => {
            parse_words(command)?;
            let (name, command) = (name.clone(), command.clone());
            let request = TaskRequest { name, account: *account, weekly: *weekly, command };
            let task = ScheduledTask::new(&request)?;
            if *print { task.definition() } else { task.install()? }
        }
        ServiceCommand::Remove { name } => remove_task(name)?,
    })?;
    Ok(Outcome::Done)
}
