//! Instructions of the kernel's BPF machine (`Documentation/bpf/standardization` of the kernel).

/// A register. The first holds what a call returns; 1 to 5 hold its arguments and are lost by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Register(u8);

pub(crate) const R0: Register = Register(0);
pub(crate) const R1: Register = Register(1);
pub(crate) const R2: Register = Register(2);
pub(crate) const R3: Register = Register(3);
pub(crate) const R4: Register = Register(4);
pub(crate) const R5: Register = Register(5);
pub(crate) const R6: Register = Register(6);
pub(crate) const R7: Register = Register(7);
pub(crate) const R8: Register = Register(8);
pub(crate) const R9: Register = Register(9);
/// R10: the end of the stack, which grows downwards. It is read-only.
pub(crate) const STACK: Register = Register(10);

/// The size of a load or store.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Width {
    Four,
    Eight,
}

/// Functions of the kernel, by their numbers in `linux/bpf.h`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Helper {
    MapLookup = 1,
    MapUpdate = 2,
    MapDelete = 3,
    Time = 5,
    Processor = 8,
    CurrentProcess = 14,
}

/// A place in the program that jumps lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Label(usize);

/// A program that is being written.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    instructions: Vec<[u8; 8]>,
    /// The instruction that each label precedes; `None` until it is placed.
    labels: Vec<Option<usize>>,
    jumps: Vec<(usize, Label)>,
}

fn instruction(code: u8, to: Register, from: Register, (offset, value): (i16, i32)) -> [u8; 8] {
    // Bit fields are laid out from the other end on big-endian machines.
    let registers =
        if cfg!(target_endian = "big") { to.0 << 4 | from.0 } else { from.0 << 4 | to.0 };
    let [o0, o1] = offset.to_ne_bytes();
    let [v0, v1, v2, v3] = value.to_ne_bytes();
    [code, registers, o0, o1, v0, v1, v2, v3]
}

impl Assembler {
    fn add(&mut self, code: u8, to: Register, from: Register, rest: (i16, i32)) {
        self.instructions.push(instruction(code, to, from, rest));
    }

    pub(crate) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Puts the label before the next instruction.
    pub(crate) fn place(&mut self, label: Label) {
        let here = self.instructions.len();
        if let Some(place) = self.labels.get_mut(label.0) {
            *place = Some(here);
        }
    }

    pub(crate) fn copy(&mut self, to: Register, from: Register) {
        self.add(0xbf, to, from, (0, 0));
    }

    /// Copies 32 bits; the upper half becomes zero.
    pub(crate) fn copy_half(&mut self, to: Register, from: Register) {
        self.add(0xbc, to, from, (0, 0));
    }

    pub(crate) fn set(&mut self, to: Register, value: i32) {
        self.add(0xb7, to, R0, (0, value));
    }

    pub(crate) fn add_value(&mut self, to: Register, value: i32) {
        self.add(0x07, to, R0, (0, value));
    }

    pub(crate) fn add_register(&mut self, to: Register, from: Register) {
        self.add(0x0f, to, from, (0, 0));
    }

    pub(crate) fn subtract(&mut self, to: Register, from: Register) {
        self.add(0x1f, to, from, (0, 0));
    }

    pub(crate) fn multiply_by(&mut self, to: Register, value: i32) {
        self.add(0x27, to, R0, (0, value));
    }

    pub(crate) fn and_value(&mut self, to: Register, value: i32) {
        self.add(0x57, to, R0, (0, value));
    }

    pub(crate) fn shift_left(&mut self, to: Register, bits: i32) {
        self.add(0x67, to, R0, (0, bits));
    }

    pub(crate) fn shift_right(&mut self, to: Register, bits: i32) {
        self.add(0x77, to, R0, (0, bits));
    }

    pub(crate) fn or(&mut self, to: Register, from: Register) {
        self.add(0x4f, to, from, (0, 0));
    }

    pub(crate) fn load(&mut self, width: Width, to: Register, from: Register, offset: i16) {
        let code = match width {
            Width::Four => 0x61,
            Width::Eight => 0x79,
        };
        self.add(code, to, from, (offset, 0));
    }

    pub(crate) fn store(&mut self, width: Width, to: Register, offset: i16, from: Register) {
        let code = match width {
            Width::Four => 0x63,
            Width::Eight => 0x7b,
        };
        self.add(code, to, from, (offset, 0));
    }

    /// Adds 8 bytes to memory; other processors may do so at the same time.
    pub(crate) fn add_to_memory(&mut self, to: Register, offset: i16, from: Register) {
        self.add(0xdb, to, from, (offset, 0));
    }

    /// Counts up by one what only this processor writes. A reader that sees the new count also sees
    /// what was stored before it. The second register is lost, and holds the count.
    pub(crate) fn publish_next(&mut self, to: Register, offset: i16, count: Register) {
        if cfg!(any(target_arch = "x86_64", target_arch = "s390x")) {
            // These machines keep stores in order.
            self.add_value(count, 1);
            self.store(Width::Eight, to, offset, count);
        } else {
            // An addition that gives back what was there is a full barrier.
            self.set(count, 1);
            self.add(0xdb, to, count, (offset, 1));
        }
    }

    /// Puts a number of 64 bits into a register.
    pub(crate) fn set_long(&mut self, to: Register, value: u64) {
        self.long(to, R0, (low(value), low(value >> 32)));
    }

    /// Puts a map into a register, by the number of its file.
    pub(crate) fn set_map(&mut self, to: Register, map: i32) {
        self.long(to, R1, (map, 0));
    }

    /// Puts the address of a map's first value into a register.
    pub(crate) fn set_map_value(&mut self, to: Register, map: i32) {
        self.long(to, R2, (map, 0));
    }

    /// The only instruction of two words; the second register says what the value is.
    fn long(&mut self, to: Register, meaning: Register, (first, second): (i32, i32)) {
        self.add(0x18, to, meaning, (0, first));
        self.add(0, R0, R0, (0, second));
    }

    pub(crate) fn call(&mut self, helper: Helper) {
        self.add(0x85, R0, R0, (0, helper as i32));
    }

    pub(crate) fn jump(&mut self, label: Label) {
        self.jump_by(0x05, (R0, R0), 0, label);
    }

    /// Jumps if all 64 bits are equal.
    pub(crate) fn jump_if_same(&mut self, left: Register, right: Register, label: Label) {
        self.jump_by(0x1d, (left, right), 0, label);
    }

    pub(crate) fn jump_if_zero(&mut self, register: Register, label: Label) {
        self.jump_by(0x15, (register, R0), 0, label);
    }

    pub(crate) fn jump_unless_zero(&mut self, register: Register, label: Label) {
        self.jump_by(0x55, (register, R0), 0, label);
    }

    /// Jumps if all 64 bits, without a sign, are at least this value.
    pub(crate) fn jump_if_at_least(&mut self, register: Register, value: i32, label: Label) {
        self.jump_by(0x35, (register, R0), value, label);
    }

    /// Jumps if the lower 32 bits are this value.
    pub(crate) fn jump_if(&mut self, register: Register, value: u32, label: Label) {
        self.jump_by(0x16, (register, R0), low(u64::from(value)), label);
    }

    fn jump_by(&mut self, code: u8, (left, right): (Register, Register), value: i32, label: Label) {
        self.jumps.push((self.instructions.len(), label));
        self.add(code, left, right, (0, value));
    }

    pub(crate) fn exit(&mut self) {
        self.set(R0, 0);
        self.add(0x95, R0, R0, (0, 0));
    }

    /// The program; none if a jump leads nowhere or too far.
    pub(crate) fn finish(mut self) -> Option<Vec<[u8; 8]>> {
        for (at, label) in self.jumps {
            let place = self.labels.get(label.0).copied().flatten()?;
            // Counted from the instruction after the jump.
            let distance = isize::try_from(place).ok()? - isize::try_from(at).ok()? - 1;
            let bytes = i16::try_from(distance).ok()?.to_ne_bytes();
            self.instructions.get_mut(at)?.get_mut(2..4)?.copy_from_slice(&bytes);
        }
        Some(self.instructions)
    }
}

/// The lower 32 bits, with their sign bit.
fn low(value: u64) -> i32 {
    let [a, b, c, d, ..] = value.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}
