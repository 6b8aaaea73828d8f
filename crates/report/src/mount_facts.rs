//! Facts of a mount that may stay in a redacted copy.
//!
//! Options and sources may contain names of hosts, pools and people. So lists contain what may
//! stay, and everything else is redacted. Their sources: mount(8), ext4(5), xfs(5), btrfs(5),
//! nfs(5), mount.cifs(8), the kernel's documentation of file systems.

/// Options without a value.
const FLAGS: &str = "\
    ac acl allow_other async atime attr2 auto_da_alloc autodefrag bg barrier bsddf cache \
    casesensitive compress compress-force cto datacow datasum dax deduplicated \
    default_permissions delalloc dev diratime dirsync discard efs exec fg filestreams \
    flushoncommit forcegid forceuid fsc grpid hard i_version ikeep inode32 inode64 intr \
    iversion journal_async_commit journal_checksum largeio lazytime lock loop mand \
    mapchars mapposix metacopy migratable nfsvers noac noacl noalign noatime noattr2 \
    noauto_da_alloc nobarrier nobh nobrl nocto nodatacow nodatasum nodelalloc nodev \
    nodiratime nodiscard noexec nofail nogrpid noikeep noinit_itable noinode_cache nointr \
    noiversion nolargeio nolock nomigration nonuma noposix noposixacl noquota norecovery \
    norelatime noresvport noserverino nosharesock nosharecache nosoft nosparse \
    nospace_cache nossd nostrictsync nosuid nosymfollow notreelog nounix nouser_xattr \
    nouuid noxattr posixpaths posix posixacl prjquota pquota quota rdma relatime resvport \
    ro rw serverino sharecache softerr softreval soft space_cache ssd ssd_spread \
    strictatime strictsync suid sync tcp treelog udp unix uquota user_xattr usrquota \
    gquota grpquota volatile wsync xattr zoned";

/// Options whose values are numbers, sizes or times.
const NUMBERS: &str = "\
    acdirmax acdirmin acregmax acregmin actimeo active_logs agcount allocsize bsize \
    closetimeo commit dir_mode dmask echo_interval esize file_mode fmask gid \
    handletimeout init_itable inode_readahead_blks journal_ioprio logbsize \
    logbufs max_batch_time max_connect max_dir_size_kb max_inline max_read metadata_ratio \
    min_batch_time minorversion mode mountport mountvers nconnect nfsvers nr_blocks \
    nr_inodes pagesize port rasize retrans retry rsize shadow-copies size stripe subvolid \
    sunit swidth thread_pool timeo trunkdiscovery uid umask vers wsize";

/// Values that are words of file systems, in options of any name that is listed here or above.
const WORDS: &str = "\
    0 1 active adaptive all always async barrier cluster-off continue crc32 crc32c crc64 \
    default disabled fifo fixed flush inherit integrity journal krb5 krb5i krb5p loose lz4 \
    lzo max mmap never no none noflush normal ntlmssp ntlmsspi ntlmv2 ntlmv2i off on \
    ordered panic pos posix rdma rdma6 remount-ro singleclient strict sync sys tcp tcp6 \
    threaded udp udp6 utf-8 utf8 v1 v2 vfsold vfsv0 vfsv1 virtio within_size writeback \
    writethrough xen yes zlib zstd";

/// Options whose values are words of the list above.
const WORDED: &str = "\
    alloc_mode background_gc cache compress compress-force compression data data_err dax \
    discard discard_unit errors fragment fsync_mode gc_merge huge index integrity \
    iocharset jqfmt local_lock lookupcache metacopy mountproto nfs_export proto \
    redirect_dir sec space_cache trans uuid xino xprtsec";

/// Sources that are words of the kernel, and not names of devices, servers or pools.
const SOURCES: &str = "\
    bpf cgroup cgroup2 composefs configfs debugfs devpts devtmpfs hugetlbfs mqueue none \
    nsfs overlay proc ramfs rootfs securityfs shm sim sysfs tmpfs tracefs udev unknown";

/// Disks whose names are letters after these: `sda1`, `vdb`.
const LETTERED: &[&str] = &["dasd", "hd", "sd", "vd", "xvd"];
/// Devices whose names are numbers after these: `nvme0n1p2`, `dm-3`, `md127`.
const NUMBERED: &[&str] = &[
    "bcache", "dm-", "drbd", "fd", "loop", "md", "mmcblk", "nbd", "nullb", "nvme", "pmem", "ram",
    "rbd", "scm", "sr", "ublkb", "zd", "zram",
];
/// Devices without storage.
const NO_STORAGE: &[&str] = &["full", "null", "root", "zero"];

fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// Whether an option may stay as it is.
pub(crate) fn may_stay(option: &str) -> bool {
    let Some((name, value)) = option.split_once('=') else { return is_in(FLAGS, option) };
    is_in(NUMBERS, name) && is_amount(value)
        || is_in(WORDED, name) && value.split([',', ':']).all(is_worded)
}

/// The name of an option, if it looks like one of a file system.
pub(crate) fn name_of(option: &str) -> Option<&str> {
    let (name, _) = option.split_once('=')?;
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-.".contains(c);
    (name.len() <= 32 && name.chars().all(is_name)).then_some(name)
}

/// Whether the source of a mount may stay: the same on every host.
pub(crate) fn source_may_stay(source: &str) -> bool {
    source.is_empty() || is_in(SOURCES, source)
}

/// Whether a name in /dev is one that the kernel gives.
pub(crate) fn is_kernel_name(name: &str) -> bool {
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let lettered = |rest: &str| {
        let number = rest.trim_start_matches(|c: char| c.is_ascii_lowercase());
        let letters = rest.len() - number.len();
        (1..=3).contains(&letters) && digits(number)
    };
    // `nvme0c1n1p2`: numbers with a letter between them.
    let numbered = |rest: &str| {
        rest.starts_with(|c: char| c.is_ascii_digit())
            && rest
                .split(['b', 'c', 'n', 'p', 'q', 's'])
                .all(|part| part.len() <= 6 && digits(part))
    };
    let after = |prefixes: &[&str], fits: &dyn Fn(&str) -> bool| {
        prefixes.iter().filter_map(|prefix| name.strip_prefix(prefix)).any(fits)
    };
    NO_STORAGE.contains(&name) || after(LETTERED, &lettered) || after(NUMBERED, &numbered)
}

/// A number, which may have a unit or two points: `1048576`, `64k`, `4.2`, `0755`.
fn is_amount(value: &str) -> bool {
    let number = value.trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G', 's', '%']);
    let points = number.matches('.').count();
    is_in(WORDS, value)
        || !number.is_empty()
            && number.len() <= 20
            && points <= 2
            && number.chars().all(|c| c.is_ascii_digit() || c == '.')
}

fn is_worded(value: &str) -> bool {
    is_in(WORDS, value) || !value.is_empty() && value.len() <= 3 && value.parse::<u32>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_host_has_may_stay() {
        for option in [
            "rw",
            "noatime",
            "data=ordered",
            "errors=remount-ro",
            "vers=4.2",
            "rsize=1048576",
            "compress=zstd:3",
            "sec=krb5p",
            "proto=tcp",
            "size=512m",
            "mode=0755",
            "shadow-copies=2",
            "integrity=crc64",
            "deduplicated",
            "space_cache=v2",
            "discard=async",
            "uid=0",
        ] {
            assert!(may_stay(option), "{option}");
        }
        for name in [
            "sda",
            "sdaa12",
            "vdb1",
            "nvme0n1p2",
            "nvme1c3n1",
            "dm-3",
            "md127",
            "mmcblk0p1",
            "null",
        ] {
            assert!(is_kernel_name(name), "{name}");
        }
        assert!(source_may_stay("tmpfs") && source_may_stay("none"));
    }

    #[test]
    fn everything_else_is_taken_for_a_name() {
        for option in [
            "srcaddr=192.0.2.7",
            "prefixpath=erp/2026",
            "volfile-server=gluster1",
            "tank",
            "ACME",
            "addr=10.0.0.1",
            "size=acme",
            "data=erp",
            "lowerdir=/srv/acme",
            "vers=acme",
            "port=filer1",
            "sec=acme:sys",
            "mode=",
            "commit=10.0.0.1",
            "compress=acme",
        ] {
            assert!(!may_stay(option), "{option}");
        }
        for name in ["gpfs01", "gpfs_erp", "sdacme", "acme", "nvmeof-acme", "md-erp", "dm-acme"] {
            assert!(!is_kernel_name(name), "{name}");
        }
        assert_eq!(name_of("srcaddr=192.0.2.7"), Some("srcaddr"));
        assert_eq!(name_of("tank"), None);
        assert_eq!(name_of("Acme Corp=1"), None);
    }
}
