//! fio's options, as its manual has them, and what each means for a load.
//!
//! This one table decides what becomes of an option that iosonde cannot express: one that changes
//! the load refuses the job, because the rest is another load; one that does not is a note.

/// What an option means for a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionKind {
    /// A part of the load that iosonde expresses.
    Expressed,
    /// A part of the load that iosonde cannot express.
    Load,
    /// The same, of a job that writes.
    Writes,
    /// It changes how the load is made or when it ends, but not the load.
    Note,
    /// It changes neither.
    Silent,
}

/// Every option of fio; other names for the same are among them.
const OPTIONS: [(OptionKind, &str); 5] = [
    (
        OptionKind::Expressed,
        "ioengine rw readwrite bs blocksize bssplit ba blockalign random_align rwmixread \
         rwmixwrite random_distribution percentage_random iodepth numjobs size filesize file_size \
         offset file_offset nrfiles directory filename filename_format file_service_type direct \
         buffered runtime timeout time_based ramp_time rate rate_iops rate_process thinktime \
         thinktime_blocks fsync fdatasync sync zero_buffers refill_buffers scramble_buffers \
         buffer_compress_percentage buffer_compress_chunk cpus_allowed prio prioclass randseed \
         stonewall wait_for_previous kb_base",
    ),
    (
        OptionKind::Load,
        "bsrange blocksize_range bs_is_seq_rand blocksize_unaligned bs_unaligned rw_sequencer \
         zonemode zonerange zonesize zoneskip read_beyond_wp max_open_zones job_max_open_zones \
         zone_reset_threshold zone_reset_frequency offset_align offset_increment startdelay \
         wait_for iodepth_batch_complete iodepth_batch_complete_min iodepth_low io_submit_mode \
         thinktime_blocks_type thinktime_iotime rate_ignore_thinktime latency_target flow \
         read_iolog merge_blktrace_file trim_percentage experimental_verify pre_read opendir \
         lockfile cmdprio cmdprio_percentage cmdprio_class cmdprio_split cpumask create_only \
         profile include",
    ),
    (
        OptionKind::Writes,
        "write_barrier sync_file_range dedupe_percentage buffer_pattern fill_device fill_fs \
         file_append verify verify_backlog verify_only",
    ),
    (
        OptionKind::Note,
        "loops number_ios io_size io_limit end_fsync fsync_on_close create_fsync atomic \
         iodepth_batch iodepth_batch_submit iodepth_batch_complete_max serialize_overlap \
         thinktime_spin rate_min rate_iops_min rate_cycle max_latency steadystate ss \
         steadystate_duration ss_dur steadystate_ramp_time ss_ramp steadystate_check_interval \
         cgroup cgroup_weight cgroup_nodelete nice uid gid numa_cpu_nodes numa_mem_policy \
         cpus_allowed_policy exec_prerun exec_postrun exitall_on_error exit_what openfiles unlink \
         unlink_each_loop unique_filename hipri hipri_percentage fixedbufs nonvectored \
         force_async registerfiles sqthread_poll sqthread_poll_cpu cmd_type md_per_io_size pi_act \
         pi_chk uncached nowait userspace_reap libaio_vectored rwf_write_hint write_hint \
         ioscheduler cpuload cpuchunks cpumode continue_on_error ignore_error error_dump hostname \
         port protocol interface ttl nodelay pingpong window_size mss clustername rbdname pool \
         clientname busy_poll volume brick namenode chunk_size readfua writefua stat_type",
    ),
    (
        OptionKind::Silent,
        "name description jobname unit_base clocksource gtod_reduce gtod_cpu job_start_clock_id \
         thread group_reporting new_group stats unified_rw_reporting output output-format eta \
         status-interval per_job_logs write_bw_log write_lat_log write_hist_log write_iops_log \
         log_entries log_avg_msec log_hist_msec log_hist_coarseness log_max_value \
         log_window_value log_offset log_prio log_issue_time log_compression \
         log_compression_cpus log_store_compressed log_unix_epoch log_alternate_epoch \
         log_alternate_epoch_clock_id block_error_percentiles bwavgtime iopsavgtime disk_util \
         disable_lat disable_clat disable_slat disable_bw disable_bw_measurement lat_percentiles \
         clat_percentiles slat_percentiles percentile_list significant_figures invalidate \
         exitall randrepeat allrandrepeat use_os_rand random_generator norandommap softrandommap \
         rwmixcycle fallocate fadvise_hint create_serialize create_on_open allow_file_create \
         allow_mounted_write overwrite iomem mem iomem_align mem_align hugepage-size \
         hugepage_size write_iolog iolog_off latency_window latency_percentile latency_run \
         flow_id flow_sleep replay_no_stall replay_time_scale replay_redirect replay_align \
         replay_scale replay_skip dedupe_mode dedupe_global dedupe_working_set_percentage \
         trim_verify_zero trim_backlog trim_backlog_batch verifysort verifysort_nr verify_offset \
         verify_interval verify_pattern verify_fatal verify_dump verify_async verify_async_cpus \
         verify_backlog_batch verify_header_seed verify_state_save verify_state_load do_verify",
    ),
];

/// Values that ask for nothing, besides 0.
const USUAL: [&str; 11] = [
    "loops=1",
    "iodepth_batch=1",
    "iodepth_batch_submit=1",
    "iodepth_batch_complete=1",
    "iodepth_batch_complete_min=1",
    "zonemode=none",
    "lockfile=none",
    "io_submit_mode=inline",
    "thinktime_blocks_type=complete",
    "cpus_allowed_policy=split",
    "continue_on_error=none",
];

/// What to do instead of an option that refuses the job.
const REMEDIES: [(&str, &str); 7] = [
    ("bsrange", "list the sizes with `bssplit`"),
    ("read_iolog", "`iosonde replay` replays a recorded load"),
    ("merge_blktrace_file", "`iosonde replay` replays a recorded load"),
    ("latency_target", "`iosonde knee --latency-target` searches for such a depth"),
    ("offset_increment", "write a job with its own `offset` for each clone"),
    ("verify", "`do_verify=0` leaves the writes alone, and `iosonde validate` verifies a storage"),
    ("verify_backlog", "`do_verify=0` leaves the writes alone"),
];

/// The kind of an option; `None` if fio has no such option.
pub(super) fn kind(name: &str) -> Option<OptionKind> {
    let has = |names: &str| names.split_whitespace().any(|known| known == name);
    OPTIONS.iter().find(|(_, names)| has(names)).map(|(kind, _)| *kind)
}

/// Whether an option asks for nothing, as `verify=0` does.
pub(super) fn is_off(name: &str, value: &str) -> bool {
    value == "0" || USUAL.contains(&format!("{name}={value}").as_str())
}

/// What to do instead of an option that refuses the job.
pub(super) fn remedy(name: &str) -> &'static str {
    let own = REMEDIES.iter().find(|(of, _)| *of == name).map(|(_, remedy)| *remedy);
    own.unwrap_or("remove it to measure the load without it")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_option_has_one_kind_and_each_remedy_an_option() {
        let all: Vec<&str> = OPTIONS.iter().flat_map(|(_, n)| n.split_whitespace()).collect();
        let different: BTreeSet<&&str> = all.iter().collect();
        assert_eq!(all.len(), different.len());
        for (name, _) in REMEDIES {
            let changes_the_load = [OptionKind::Load, OptionKind::Writes].map(Some);
            assert!(changes_the_load.contains(&kind(name)), "{name}");
        }
    }
}
