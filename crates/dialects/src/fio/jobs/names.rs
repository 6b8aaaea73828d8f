//! The names of fio's options, which distinguish a job file from an `.ini` file of another program.

use super::parse::Job;

/// fio's options, as its manual has them; other names for the same are among them.
const NAMES: &str = "\
    name description loops numjobs jobname kb_base unit_base clocksource gtod_reduce gtod_cpu \
     runtime timeout time_based startdelay ramp_time exec_prerun exec_postrun stonewall wait_for \
     wait_for_previous exitall exitall_on_error exit_what directory filename filename_format \
     unique_filename opendir lockfile nrfiles openfiles file_service_type ioscheduler \
     create_serialize create_fsync create_on_open create_only allow_file_create \
     allow_mounted_write pre_read unlink unlink_each_loop zonemode zonerange zonesize zoneskip \
     read_beyond_wp max_open_zones job_max_open_zones zone_reset_threshold zone_reset_frequency \
     direct buffered atomic readwrite rw rw_sequencer unified_rw_reporting randrepeat \
     allrandrepeat randseed fallocate fadvise_hint write_hint offset file_offset offset_align \
     offset_increment number_ios fsync fdatasync write_barrier sync_file_range overwrite \
     end_fsync fsync_on_close rwmixread rwmixwrite rwmixcycle random_distribution \
     percentage_random norandommap softrandommap random_generator use_os_rand bs blocksize \
     blocksize_range bsrange bssplit blocksize_unaligned bs_unaligned bs_is_seq_rand blockalign \
     ba random_align zero_buffers refill_buffers scramble_buffers buffer_compress_percentage \
     buffer_compress_chunk buffer_pattern dedupe_percentage dedupe_mode dedupe_global \
     dedupe_working_set_percentage sync iomem mem iomem_align mem_align hugepage-size \
     hugepage_size size io_size io_limit filesize file_size file_append fill_device fill_fs \
     ioengine iodepth iodepth_batch iodepth_batch_submit iodepth_batch_complete \
     iodepth_batch_complete_min iodepth_batch_complete_max iodepth_low serialize_overlap \
     io_submit_mode thinktime thinktime_spin thinktime_blocks thinktime_blocks_type \
     thinktime_iotime rate rate_min rate_iops rate_iops_min rate_process rate_cycle \
     rate_ignore_thinktime latency_target latency_window latency_percentile latency_run \
     max_latency job_start_clock_id cpuload cpuchunks cpumode read_iolog write_iolog iolog_off \
     replay_no_stall replay_time_scale replay_redirect replay_align replay_scale replay_skip \
     merge_blktrace_file thread nice prio prioclass cmdprio cmdprio_percentage cmdprio_class \
     cmdprio_split cpumask cpus_allowed cpus_allowed_policy numa_cpu_nodes numa_mem_policy cgroup \
     cgroup_weight cgroup_nodelete uid gid flow_id flow flow_sleep steadystate ss \
     steadystate_duration ss_dur steadystate_ramp_time ss_ramp steadystate_check_interval verify \
     do_verify verifysort verifysort_nr verify_offset verify_interval verify_pattern verify_fatal \
     verify_dump verify_async verify_async_cpus verify_backlog verify_backlog_batch verify_only \
     verify_header_seed verify_state_save verify_state_load experimental_verify trim_percentage \
     trim_verify_zero trim_backlog trim_backlog_batch group_reporting new_group stats \
     per_job_logs write_bw_log write_lat_log write_hist_log write_iops_log log_entries \
     log_avg_msec log_hist_msec log_hist_coarseness log_max_value log_window_value log_offset \
     log_prio log_issue_time log_compression log_compression_cpus log_store_compressed \
     log_unix_epoch log_alternate_epoch log_alternate_epoch_clock_id block_error_percentiles \
     bwavgtime iopsavgtime disk_util disable_lat disable_clat disable_slat disable_bw \
     disable_bw_measurement lat_percentiles clat_percentiles slat_percentiles percentile_list \
     significant_figures continue_on_error ignore_error error_dump profile hipri hipri_percentage \
     fixedbufs nonvectored force_async registerfiles sqthread_poll sqthread_poll_cpu cmd_type \
     md_per_io_size pi_act pi_chk uncached nowait userspace_reap libaio_vectored rwf_write_hint \
     output output-format eta status-interval invalidate include hostname port protocol interface \
     ttl nodelay pingpong window_size mss clustername rbdname pool clientname busy_poll volume \
     brick namenode chunk_size readfua writefua stat_type";

/// Why a file is not a job file: most names of its options are not fio's.
pub(super) fn foreign(jobs: &[Job]) -> Option<String> {
    let known = |name: &str| NAMES.split_whitespace().any(|known| known == name);
    let mut names: Vec<&str> =
        jobs.iter().flat_map(|job| job.options.keys()).map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let others: Vec<&str> = names.iter().copied().filter(|name| !known(name)).collect();
    let first = others.first().filter(|_| others.len() * 2 > names.len())?;
    let (others, all) = (others.len(), names.len());
    Some(format!("{others} of the {all} names in it are not options of fio, `{first}` for one"))
}
