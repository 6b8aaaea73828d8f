//! DiskSpd's command lines and profiles with whatever somebody may write, and what we write read
//! again.

use std::fmt::Write as _;

use dialects::diskspd::command::{Call, Reading, parse};
use dialects::diskspd::profile::{
    CacheMode, Distribution, DistributionKind, DistributionRange, Etw, FlushType, Precreate,
    Processor, Profile, ProfileError, ResultFormat, Target, ThreadTarget, Throughput, TimeSpan,
    WriteContent, read,
};
use dialects::diskspd::rules;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

/// Words as somebody may mistype them: mostly options, with values that nearly are.
fn word() -> impl Strategy<Value = String> {
    let value = "[0-9gikKMTb:,/x. r-]{0,8}";
    prop_oneof![
        ("[-\u{2013}][a-zA-Z?:]", value).prop_map(|(option, value)| option + &value),
        ("-rd(pct|abs)", "[0-9/:KMGTb]{0,30}").prop_map(|(option, value)| option + &value),
        ("-a", "[0-9g,]{0,20}").prop_map(|(option, value)| option + &value),
        "-(S|f|e|y|R|N|Z)[a-zA-Z0-9,]{0,6}",
        "[a-z*#:.0-9]{1,6}",
        any::<String>(),
    ]
}

fn distribution() -> impl Strategy<Value = Distribution> {
    let percent =
        vec((0u32..=100, 1u64..=100), 1..5).prop_map(|pairs| (DistributionKind::Percent, pairs));
    let absolute =
        vec((0u32..=100, 1u64..), 1..5).prop_map(|pairs| (DistributionKind::Absolute, pairs));
    prop_oneof![percent, absolute].prop_map(|(kind, pairs)| {
        let range = |(io_percent, extent)| DistributionRange { io_percent, extent };
        let mut ranges: Vec<_> = pairs.into_iter().map(range).collect();
        // What is left of the I/Os is given to a last slice when it is read.
        let io: u32 = ranges.iter().map(|r| r.io_percent).sum();
        if io < 100 {
            ranges.push(DistributionRange { io_percent: 100 - io, extent: 1 });
        }
        Distribution { kind, ranges }
    })
}

fn content() -> impl Strategy<Value = WriteContent> {
    let file = of("[ -~äß]{1,20}");
    prop_oneof![
        Just(WriteContent::Counting),
        Just(WriteContent::Zero),
        (any::<u64>(), file).prop_map(|(bytes, file)| WriteContent::Random { bytes, file }),
    ]
}

fn throughput() -> impl Strategy<Value = Throughput> {
    let value = 1u32..;
    (any::<bool>(), value)
        .prop_map(|(iops, n)| if iops { Throughput::Iops(n) } else { Throughput::BytesPerMs(n) })
}

fn flush() -> impl Strategy<Value = FlushType> {
    use FlushType::{NonVolatileMemory, NonVolatileMemoryNoDrain, ViewOfFile};
    select(vec![ViewOfFile, NonVolatileMemory, NonVolatileMemoryNoDrain])
}

fn cache() -> impl Strategy<Value = CacheMode> {
    use CacheMode::{Cached, DisableLocalCache, DisableOsCache};
    select(vec![Cached, DisableLocalCache, DisableOsCache])
}

prop_compose! {
    fn order()(
        step in of(1u64..), percent in 0u32..=100, slices in of(distribution()), shared: bool,
            parallel: bool,
        stride: u64, base: u64, max: u64, create in of(any::<u64>()), hints: [bool; 4],
    ) -> Target {
        Target {
            step_bytes: Some(step.unwrap_or(65_536)),
            random_percent: percent,
            distribution: slices,
            interlocked: shared && percent == 0,
            parallel_async: parallel,
            thread_stride_bytes: stride,
            base_offset_bytes: base,
            max_offset_bytes: max,
            create_bytes: create,
            sequential_scan: hints[0],
            random_access: hints[1],
            temporary: hints[2],
            large_pages: hints[3],
            ..Target::default()
        }
    }
}

prop_compose! {
    fn target()(
        order in order(), path in "[ \
            -~äß&<>]{0,30}", block: u32, cache in cache(), flags: [bool; 2], flush in of(flush()),
        content in content(), burst in of(any::<u32>()), think in of(any::<u32>()),
            limit in of(throughput()),
        numbers: [u32; 4], write in 0u32..=100, threads in vec((any::<u32>(), any::<u32>()), 0..3),
    ) -> Target {
        Target {
            path,
            block_bytes: block,
            cache,
            write_through: flags[0],
            memory_mapped: flags[1],
            flush,
            write_content: content,
            burst_ios: burst,
            think_ms: think,
            throughput: limit,
            threads_per_file: numbers[0],
            outstanding: numbers[1],
            write_percent: write,
            io_priority: numbers[2],
            weight: numbers[3],
            thread_targets: threads.into_iter()
                .map(|(thread, weight)| ThreadTarget { thread, weight }).collect(),
            ..order
        }
    }
}

prop_compose! {
    fn span()(
        targets in vec(target(), 1..3), numbers: [u32; 7], flags: [bool; 5],
        processors in vec((0u32..65_536, 0u32..256), 0..4),
    ) -> TimeSpan {
        TimeSpan {
            targets,
            duration_s: numbers[0],
            warmup_s: numbers[1],
            cooldown_s: numbers[2],
            seed: numbers[3],
            thread_count: numbers[4],
            request_count: numbers[5],
            affinity: processors.into_iter().map(|(group, cpu)| Processor { group, cpu }).collect(),
            disable_affinity: flags[0],
            random_write_data: flags[1],
            completion_routines: flags[2],
            measure_latency: flags[3],
            iops_std_dev: flags[4],
            io_bucket_ms: numbers[6],
        }
    }
}

prop_compose! {
    fn profile()(
        time_spans in vec(span(), 1..3), progress: u32, flags: u32, xml: bool, verbose: [bool; 2],
        precreate in of(select(vec![Precreate::UseMaxSize, Precreate::ConstantSizes,
            Precreate::ConstantOrZeroSizes])),
        traced in of(any::<[bool; 12]>()),
    ) -> Profile {
        Profile {
            time_spans,
            progress,
            experiment_flags: flags,
            result_format: if xml { ResultFormat::Xml } else { ResultFormat::Text },
            verbose: verbose[0],
            verbose_stats: verbose[1],
            precreate,
            etw: traced.map(|t| Etw {
                process: t[0], thread: t[1], image_load: t[2], disk_io: t[3],
                    memory_page_faults: t[4],
                memory_hard_faults: t[5], network: t[6], registry: t[7], use_paged_memory: t[8],
                use_perf_timer: t[9], use_system_timer: t[10], use_cycles_counter: t[11],
            }),
            ..Profile::default()
        }
    }
}

proptest! {
    #[test]
    fn no_command_line_panics(words in vec(word(), 0..8), lenient: bool, clock: u32) {
        match parse(&words, Reading { clock, lenient }) {
            Ok(Call::Profile(line)) => {
                prop_assert!(rules::check(&line.profile).violations.is_empty());
                let mut text = String::new();
                line.profile.write_text(&mut text);
                line.profile.write_xml(&mut text, 0);
            }
            Ok(Call::Xml(call)) => {
                let _ = call.profile(b"<Profile/>");
            }
            Ok(_) => {}
            Err(error) => prop_assert!(!error.lines().is_empty()),
        }
    }

    #[test]
    fn what_is_taken_is_read_again_from_its_xml(words in vec(word(), 1..8)) {
        if let Ok(Call::Profile(line)) = parse(&words, Reading::default()) {
            let mut xml = String::new();
            line.profile.write_xml(&mut xml, 0);
            let again = read(xml.as_bytes()).map_err(|e| e.to_string());
            prop_assert!(again.is_ok(), "{words:?}: {again:?}\n{xml}");
        }
    }

    #[test]
    fn a_profile_survives_its_xml(profile in profile()) {
        let mut xml = String::new();
        profile.write_xml(&mut xml, 0);
        let again = read(xml.as_bytes());
        prop_assert_eq!(again.as_ref(), Ok(&profile), "{}", xml);
    }

    #[test]
    fn no_bytes_panic_as_profile(bytes in vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes);
    }

    #[test]
    fn no_spoiled_profile_panics(profile in profile(),
        cuts in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut xml = String::new();
        profile.write_xml(&mut xml, 0);
        let mut bytes = xml.into_bytes();
        for (at, byte) in cuts {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Err(ProfileError::Shape(wrong)) = read(&bytes) {
            prop_assert!(!wrong.is_empty() && wrong.len() <= 20);
        }
    }
}

#[test]
fn what_would_need_much_memory_is_refused_before() {
    let too_much = |bytes: &[u8]| {
        assert!(matches!(read(bytes), Err(ProfileError::TooMuch(_))), "{}", bytes.len());
    };
    too_much("<a>".repeat(1 << 20).as_bytes());
    too_much(&vec![b' '; 64 << 20]);
    let mut attributes = String::new();
    for n in 0..100_000 {
        let _ = write!(attributes, " a{n}=''");
    }
    too_much(format!("<Profile{attributes}/>").as_bytes());
    let entities = r#"<!DOCTYPE p [<!ENTITY a "aaaaaaaaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><Profile>&b;</Profile>"#;
    assert!(matches!(read(entities.as_bytes()), Err(ProfileError::Malformed(_))));
    let many = "<Profile>".to_owned() + &"<a/>".repeat(1_000_000) + "</Profile>";
    let error = read(many.as_bytes()).unwrap_err().to_string();
    assert!(error.len() < 10_000, "{error}");
}
