//! The programs that the kernel runs: one where an I/O completes, which writes a record, and for
//! single processes one where an I/O gets its request.
//!
//! The kernel keeps the time at which an I/O arrived in its request, so nothing need be remembered
//! from there to its completion.

use crate::assembler::{
    Assembler, Helper, Label, R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, Register, STACK, Width,
};
use crate::btf::{Btf, BtfError};
use crate::record::RECORD;

/// Where the counters of the programs are in their map, in bytes: I/Os whose process could not be
/// noted, completions without bytes, and writes without a process or cgroup of ours that are
/// completed twice.
pub(crate) const UNNOTED_AT: i16 = 0;
pub(crate) const EMPTY_AT: i16 = 8;
pub(crate) const TWICE_AT: i16 = 16;
/// I/Os of other processes or cgroups: a number and bytes for each operation.
pub(crate) const OTHERS_AT: i16 = 24;
/// How many operations of other processes are counted apart.
pub(crate) const OPERATIONS: u8 = 16;
/// Bytes of all counters together.
pub(crate) const COUNTERS: u32 = 24 + 16 * OPERATIONS as u32;

/// Each processor has its own ring, so that none waits for another. Its value in the map begins
/// with how many records were written, how many found no room, and, in another cache line, how many
/// were read.
pub(crate) const WRITTEN_AT: i16 = 0;
pub(crate) const FULL_AT: i16 = 8;
pub(crate) const READ_AT: i16 = 64;
/// Where the records of a ring begin, after its counters.
pub(crate) const RECORDS_AT: i16 = 128;
/// Levels of cgroups above that of an I/O that are looked at.
const CGROUP_LEVELS: usize = 16;
/// The bits of a request's flags that hold its operation.
const OPERATION: i32 = 0xff;

const COMPLETE: &str = "btf_trace_block_rq_complete";
const BEGIN: [&str; 2] = ["btf_trace_block_getrq", "btf_trace_block_bio_frontmerge"];

/// The maps of the programs, by the files that stand for them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Maps {
    pub(crate) rings: i32,
    /// Records in each ring: a power of two.
    pub(crate) slots: u32,
    pub(crate) counters: i32,
    /// What belongs to the processes, by the address of the I/O; without, everybody's I/O counts.
    pub(crate) chosen: Option<i32>,
}

/// Which I/Os the programs record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice<'a> {
    /// The devices as the kernel numbers them, in the order of the trace.
    pub(crate) devices: &'a [u32],
    /// The processes whose I/Os are recorded; empty for all.
    pub(crate) processes: &'a [u32],
    /// The number of a cgroup, whose children count, too.
    pub(crate) cgroup: Option<u64>,
}

/// A program, and the tracepoint that starts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) instructions: Vec<[u8; 8]>,
    /// The number of the tracepoint's type.
    pub(crate) tracepoint: u32,
}

/// Makes the programs for a kernel, in the order in which they are to be started.
///
/// # Errors
/// The kernel lacks a field or a tracepoint.
pub(crate) fn programs(
    btf: &Btf<'_>,
    maps: Maps,
    choice: Choice<'_>,
) -> Result<Vec<Program>, BtfError> {
    let mut programs = Vec::new();
    if let Some(chosen) = maps.chosen {
        for tracepoint in BEGIN {
            let slot = slot(btf.argument(tracepoint, "bio")?);
            let code = begin(slot, (chosen, maps.counters), choice.processes);
            programs.push(assembled(btf, code, tracepoint)?);
        }
    }
    programs.push(assembled(btf, complete(btf, maps, choice)?, COMPLETE)?);
    Ok(programs)
}

fn assembled(btf: &Btf<'_>, code: Assembler, tracepoint: &str) -> Result<Program, BtfError> {
    let too_long = || BtfError::Lacks("room for so many devices in one program".to_owned());
    let instructions = code.finish().ok_or_else(too_long)?;
    Ok(Program { instructions, tracepoint: btf.typedef(tracepoint)? })
}

/// Where an argument is in what a program is given.
fn slot(argument: usize) -> i16 {
    i16::try_from(argument * 8).unwrap_or(0)
}

/// Follows pointers from structure to structure.
fn follow(
    code: &mut Assembler,
    btf: &Btf<'_>,
    (to, from): (Register, Register),
    path: &[(&str, &str)],
) -> Result<(), BtfError> {
    let mut from = from;
    for (structure, field) in path {
        code.load(Width::Eight, to, from, btf.offset(structure, field)?);
        from = to;
    }
    Ok(())
}

/// The program that runs when an I/O completes, and records it.
fn complete(btf: &Btf<'_>, maps: Maps, choice: Choice<'_>) -> Result<Assembler, BtfError> {
    let mut code = Assembler::default();
    let request = btf.argument(COMPLETE, "request")?;
    let (known, leave, other) = (code.label(), code.label(), code.label());
    code.load(Width::Eight, R7, R1, slot(request));
    // The request, its error, its bytes.
    code.load(Width::Eight, R9, R1, slot(request + 2));
    code.copy_half(R9, R9);
    find_device(&mut code, btf, choice.devices, (known, leave))?;
    code.place(known);
    let is_filtered = choice.cgroup.is_some() || maps.chosen.is_some();
    count_if_empty(&mut code, btf, (maps, is_filtered), leave)?;
    if let Some(cgroup) = choice.cgroup {
        leave_unless_in(&mut code, btf, cgroup, other)?;
    }
    if let Some(chosen) = maps.chosen {
        follow(&mut code, btf, (R6, R7), &[("request", "bio")])?;
        leave_unless_chosen(&mut code, chosen, other);
    }
    write_record(&mut code, btf, maps, leave)?;
    code.place(leave);
    code.exit();
    // The kernel refuses a program with a part that nothing leads to.
    if is_filtered {
        code.place(other);
        count_other(&mut code, btf, maps.counters)?;
        code.exit();
    }
    Ok(code)
}

/// Writes the record of the request in register 7 into the ring of this processor. The kernel lets
/// no program interrupt itself, so nobody else writes there.
fn write_record(
    code: &mut Assembler,
    btf: &Btf<'_>,
    maps: Maps,
    leave: Label,
) -> Result<(), BtfError> {
    let full = code.label();
    code.call(Helper::Time);
    code.copy(R6, R0);
    code.call(Helper::Processor);
    code.store(Width::Four, STACK, -4, R0);
    code.set_map(R1, maps.rings);
    code.copy(R2, STACK);
    code.add_value(R2, -4);
    code.call(Helper::MapLookup);
    code.jump_if_zero(R0, leave);
    code.load(Width::Eight, R1, R0, WRITTEN_AT);
    code.load(Width::Eight, R2, R0, READ_AT);
    code.copy(R3, R1);
    code.subtract(R3, R2);
    let slots = i32::try_from(maps.slots).unwrap_or(1);
    code.jump_if_at_least(R3, slots, full);
    code.copy(R5, R1);
    code.and_value(R5, slots - 1);
    code.multiply_by(R5, i32::try_from(RECORD).unwrap_or(0));
    code.add_register(R5, R0);
    code.store(Width::Eight, R5, RECORDS_AT + 8, R6);
    for (width, field, at) in [
        (Width::Eight, "start_time_ns", 0),
        (Width::Eight, "__sector", 16),
        (Width::Four, "cmd_flags", 24),
        (Width::Four, "rq_flags", 36),
    ] {
        code.load(width, R4, R7, btf.offset("request", field)?);
        code.store(width, R5, RECORDS_AT + at, R4);
    }
    code.store(Width::Four, R5, RECORDS_AT + 28, R9);
    code.store(Width::Four, R5, RECORDS_AT + 32, R8);
    code.publish_next(R0, WRITTEN_AT, R1);
    code.exit();
    code.place(full);
    code.set(R2, 1);
    code.add_to_memory(R0, FULL_AT, R2);
    Ok(())
}

/// Puts the place of the request's device in the list into register 8.
fn find_device(
    code: &mut Assembler,
    btf: &Btf<'_>,
    devices: &[u32],
    (known, leave): (Label, Label),
) -> Result<(), BtfError> {
    // Kernels before 5.17 have the disk in the request.
    if btf.offset("request", "rq_disk").is_ok() {
        follow(code, btf, (R1, R7), &[("request", "rq_disk")])?;
    } else {
        follow(code, btf, (R1, R7), &[("request", "q"), ("request_queue", "disk")])?;
    }
    code.load(Width::Four, R2, R1, btf.offset("gendisk", "major")?);
    code.load(Width::Four, R3, R1, btf.offset("gendisk", "first_minor")?);
    code.shift_left(R2, 20);
    code.or(R2, R3);
    for (place, device) in (0..).zip(devices) {
        code.set(R8, place);
        code.jump_if(R2, *device, known);
    }
    code.jump(leave);
    Ok(())
}

/// Leaves to there if the I/O is charged to another cgroup than this one and those below it.
fn leave_unless_in(
    code: &mut Assembler,
    btf: &Btf<'_>,
    cgroup: u64,
    leave: Label,
) -> Result<(), BtfError> {
    let inside = code.label();
    let path = [("request", "bio"), ("bio", "bi_blkg"), ("blkcg_gq", "blkcg")];
    follow(code, btf, (R1, R7), &path)?;
    let (css, number) = (btf.offset("blkcg", "css")?, btf.offset("kernfs_node", "id")?);
    code.add_value(R1, i32::from(css));
    code.set_long(R3, cgroup);
    for level in 0..CGROUP_LEVELS {
        if level > 0 {
            follow(code, btf, (R1, R1), &[("cgroup_subsys_state", "parent")])?;
            code.jump_if_zero(R1, leave);
        }
        let path = [("cgroup_subsys_state", "cgroup"), ("cgroup", "kn")];
        follow(code, btf, (R2, R1), &path)?;
        code.load(Width::Eight, R2, R2, number);
        code.jump_if_same(R2, R3, inside);
    }
    code.jump(leave);
    code.place(inside);
    Ok(())
}

/// Leaves to there unless the I/O, whose address is in register 6, was chosen when it began.
fn leave_unless_chosen(code: &mut Assembler, chosen: i32, leave: Label) {
    code.store(Width::Eight, STACK, -8, R6);
    for helper in [Helper::MapLookup, Helper::MapDelete] {
        code.set_map(R1, chosen);
        code.copy(R2, STACK);
        code.add_value(R2, -8);
        code.call(helper);
        if matches!(helper, Helper::MapLookup) {
            code.jump_if_zero(R0, leave);
        }
    }
}

/// A completion without bytes that is not a flush is a caller who waited for one: it is counted. If
/// only some I/O is recorded, it is recorded as the flush, which itself belongs to no one.
fn count_if_empty(
    code: &mut Assembler,
    btf: &Btf<'_>,
    (maps, is_filtered): (Maps, bool),
    leave: Label,
) -> Result<(), BtfError> {
    let continues = code.label();
    code.jump_unless_zero(R9, continues);
    code.load(Width::Four, R1, R7, btf.offset("request", "cmd_flags")?);
    code.and_value(R1, OPERATION);
    code.jump_if(R1, btf.value("REQ_OP_FLUSH")?, continues);
    count(code, maps.counters, EMPTY_AT);
    if !is_filtered {
        code.jump(leave);
    }
    code.place(continues);
    Ok(())
}

/// Counts an I/O of another process or cgroup by its operation, so that all that the kernel counts
/// can be compared with all that the program saw. What has no bytes is counted already.
fn count_other(code: &mut Assembler, btf: &Btf<'_>, counters: i32) -> Result<(), BtfError> {
    let (once, done) = (code.label(), code.label());
    let flush = btf.value("REQ_OP_FLUSH")?;
    code.load(Width::Four, R4, R7, btf.offset("request", "cmd_flags")?);
    code.and_value(R4, OPERATION);
    code.jump_if(R4, flush, once);
    code.jump_if_zero(R9, done);
    if let Ok(bit) = btf.value("__RQF_FLUSH_SEQ") {
        code.load(Width::Four, R5, R7, btf.offset("request", "rq_flags")?);
        code.and_value(R5, 1_i32.checked_shl(bit).unwrap_or(0));
        code.jump_if_zero(R5, once);
        count(code, counters, TWICE_AT);
    }
    code.place(once);
    code.jump_if_at_least(R4, i32::from(OPERATIONS), done);
    code.multiply_by(R4, 16);
    code.set_map_value(R1, counters);
    code.add_register(R1, R4);
    code.set(R2, 1);
    code.add_to_memory(R1, OTHERS_AT, R2);
    code.add_to_memory(R1, OTHERS_AT + 8, R9);
    code.place(done);
    Ok(())
}

/// Writes the code that adds one to a counter.
fn count(code: &mut Assembler, counters: i32, at: i16) {
    code.set_map_value(R1, counters);
    code.set(R2, 1);
    code.add_to_memory(R1, at, R2);
}

/// Where an I/O gets its request, in the process that asks for it: notes the I/O if it is one of
/// these processes. Otherwise an old note about the same memory is removed.
fn begin(slot: i16, (chosen, counters): (i32, i32), processes: &[u32]) -> Assembler {
    let mut code = Assembler::default();
    let (ours, full) = (code.label(), code.label());
    code.load(Width::Eight, R6, R1, slot);
    code.store(Width::Eight, STACK, -8, R6);
    code.call(Helper::CurrentProcess);
    code.shift_right(R0, 32);
    for process in processes {
        code.jump_if(R0, *process, ours);
    }
    let key = |code: &mut Assembler| {
        code.set_map(R1, chosen);
        code.copy(R2, STACK);
        code.add_value(R2, -8);
    };
    key(&mut code);
    code.call(Helper::MapDelete);
    code.exit();
    code.place(ours);
    code.set(R1, 1);
    code.store(Width::Eight, STACK, -16, R1);
    key(&mut code);
    code.copy(R3, STACK);
    code.add_value(R3, -16);
    code.set(R4, 0);
    code.call(Helper::MapUpdate);
    code.jump_unless_zero(R0, full);
    code.exit();
    code.place(full);
    count(&mut code, counters, UNNOTED_AT);
    code.exit();
    code
}
