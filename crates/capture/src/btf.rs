//! The kernel's description of its own types (BTF): where a field of a structure is.
//!
//! Reads the file `/sys/kernel/btf/vmlinux` as bytes. `Documentation/bpf/btf.rst` of the kernel
//! describes them: a header, records of types that refer to each other by number, and names.

use std::collections::BTreeMap;

/// The first two bytes, in the order of this machine.
const MAGIC: u16 = 0xeb9f;
/// Fields that are looked at for one; a kernel's structures have hundreds. Damaged ones may contain
/// themselves.
const LOOKS_MAX: u32 = 65_536;
/// Structures without a name inside each other; a kernel has three.
const DEPTH_MAX: u32 = 16;

const ARRAY: u32 = 3;
const POINTER: u32 = 2;
const STRUCT: u32 = 4;
const UNION: u32 = 5;
const ENUM: u32 = 6;
const TYPEDEF: u32 = 8;
const PROTOTYPE: u32 = 13;

/// What is wrong with a description of types.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BtfError {
    /// It does not begin as such a description does.
    #[error("it does not begin as a description of types does")]
    NotBtf,
    /// It ends in the middle, or refers to what is outside of it.
    #[error("it is cut off or damaged")]
    Damaged,
    /// It lacks a type, a field or a value.
    #[error("it does not have `{0}`")]
    Lacks(String),
}

/// A type: where its record is, and what its head says.
#[derive(Debug, Clone, Copy)]
struct Type {
    name: u32,
    kind: u32,
    /// Fields hold a size in bits above bit 24 of their offset.
    has_bit_fields: bool,
    count: u32,
    /// A size, or the number of another type.
    value: u32,
    /// Where the data after the head begin.
    at: usize,
}

/// The types of one kernel, from its BTF data.
#[derive(Debug)]
pub struct Btf<'a> {
    bytes: &'a [u8],
    names: &'a [u8],
    /// The type with the number 1 is the first.
    types: Vec<Type>,
    /// Numbers of structures and typedefs by name.
    structures: BTreeMap<&'a [u8], u32>,
    typedefs: BTreeMap<&'a [u8], u32>,
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let end = at.checked_add(4)?;
    bytes.get(at..end)?.try_into().ok().map(u32::from_ne_bytes)
}

/// The length of what follows the head of a type; none of a kind that is not known.
fn data_length(kind: u32, count: u32) -> Option<usize> {
    let count = count as usize;
    match kind {
        // Pointers, forward declarations, typedefs, qualifiers, functions, floats, tags.
        2 | 7..=12 | 16 | 18 => Some(0),
        // Integers, variables, declaration tags.
        1 | 14 | 17 => Some(4),
        ARRAY => Some(12),
        // Structures, unions, sections, values of 64 bits: three words each.
        4 | 5 | 15 | 19 => Some(count * 12),
        // Values, parameters: two words each.
        ENUM | PROTOTYPE => Some(count * 8),
        _ => None,
    }
}

impl<'a> Btf<'a> {
    /// Reads a description.
    ///
    /// # Errors
    /// It is not one, or is damaged.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, BtfError> {
        let magic = bytes.get(..2).and_then(|b| b.try_into().ok()).map(u16::from_ne_bytes);
        if magic != Some(MAGIC) {
            return Err(BtfError::NotBtf);
        }
        let section = |offset_at: usize| -> Option<&'a [u8]> {
            let (head, offset, length) =
                (word(bytes, 4)?, word(bytes, offset_at)?, word(bytes, offset_at + 4)?);
            let begin = (head as usize).checked_add(offset as usize)?;
            bytes.get(begin..begin.checked_add(length as usize)?)
        };
        let (data, names) = section(8).zip(section(16)).ok_or(BtfError::Damaged)?;
        let mut btf = Self {
            bytes: data,
            names,
            types: Vec::new(),
            structures: BTreeMap::new(),
            typedefs: BTreeMap::new(),
        };
        btf.read_types().ok_or(BtfError::Damaged)?;
        Ok(btf)
    }

    fn read_types(&mut self) -> Option<()> {
        let mut at = 0;
        while at < self.bytes.len() {
            let info = word(self.bytes, at + 4)?;
            let (name, value) = (word(self.bytes, at)?, word(self.bytes, at + 8)?);
            let (kind, count) = (info >> 24 & 31, info & 0xffff);
            let found =
                Type { name, kind, has_bit_fields: info >> 31 == 1, count, value, at: at + 12 };
            let end = (at + 12).checked_add(data_length(kind, count)?)?;
            self.bytes.get(at..end)?;
            self.types.push(found);
            let number = u32::try_from(self.types.len()).ok()?;
            match kind {
                STRUCT => self.structures.entry(self.name(name)?).or_insert(number),
                TYPEDEF => self.typedefs.entry(self.name(name)?).or_insert(number),
                _ => &mut 0,
            };
            at = end;
        }
        Some(())
    }

    fn name(&self, at: u32) -> Option<&'a [u8]> {
        self.names.get(at as usize..)?.split(|byte| *byte == 0).next()
    }

    fn get(&self, number: u32) -> Option<&Type> {
        self.types.get((number as usize).checked_sub(1)?)
    }

    /// The number of a typedef.
    ///
    /// # Errors
    /// The kernel has no typedef of this name.
    pub fn typedef(&self, name: &str) -> Result<u32, BtfError> {
        let found = self.typedefs.get(name.as_bytes());
        found.copied().ok_or_else(|| BtfError::Lacks(name.to_owned()))
    }

    /// Where a field of a structure begins, in bytes; fields of structures without a name inside it
    /// count as its own.
    ///
    /// # Errors
    /// The structure or its field is not there.
    pub fn offset(&self, structure: &str, field: &str) -> Result<i16, BtfError> {
        let lacks = || BtfError::Lacks(format!("{structure}.{field}"));
        let number = self.structures.get(structure.as_bytes()).ok_or_else(lacks)?;
        let bits = self.bits(*number, field.as_bytes(), (0, &mut 0)).ok_or_else(lacks)?;
        i16::try_from(bits / 8).ok().filter(|_| bits.is_multiple_of(8)).ok_or_else(lacks)
    }

    fn bits(&self, number: u32, field: &[u8], (depth, looks): (u32, &mut u32)) -> Option<u32> {
        let structure = self.get(number).filter(|t| matches!(t.kind, STRUCT | UNION))?;
        (0..structure.count as usize).find_map(|index| {
            *looks += 1;
            if *looks > LOOKS_MAX || depth > DEPTH_MAX {
                return None;
            }
            let at = structure.at + index * 12;
            let (name, kind) = (word(self.bytes, at)?, word(self.bytes, at + 4)?);
            let offset = word(self.bytes, at + 8)?;
            let offset = if structure.has_bit_fields { offset & 0x00ff_ffff } else { offset };
            match self.name(name)? {
                found if found == field => Some(offset),
                b"" => offset.checked_add(self.bits(kind, field, (depth + 1, looks))?),
                _ => None,
            }
        })
    }

    /// The value of a name in any enumeration of 32 bits.
    ///
    /// # Errors
    /// No enumeration of the kernel has this name.
    pub fn value(&self, name: &str) -> Result<u32, BtfError> {
        let enumerations = self.types.iter().filter(|t| t.kind == ENUM);
        let found = enumerations.into_iter().find_map(|e| {
            (0..e.count as usize).find_map(|index| {
                let at = e.at + index * 8;
                let is_it = self.name(word(self.bytes, at)?)? == name.as_bytes();
                if is_it { word(self.bytes, at + 4) } else { None }
            })
        });
        found.ok_or_else(|| BtfError::Lacks(name.to_owned()))
    }

    /// Which argument of a tracepoint is a pointer to this structure: 0 is the first after the one
    /// that the kernel keeps for itself. Versions of the kernel differ in the arguments.
    ///
    /// # Errors
    /// The tracepoint is not there, or no argument of it is such a pointer.
    pub fn argument(&self, tracepoint: &str, structure: &str) -> Result<usize, BtfError> {
        let typedef = self.typedef(tracepoint)?;
        let lacks = || BtfError::Lacks(format!("{tracepoint}({structure})"));
        let follow = |number, kind| self.get(number).filter(|t| t.kind == kind);
        let target = |number, kind| follow(number, kind).map(|t| t.value);
        let prototype = target(typedef, TYPEDEF)
            .and_then(|pointer| follow(target(pointer, POINTER)?, PROTOTYPE))
            .ok_or_else(lacks)?;
        let is_it = |index: &usize| {
            let parameter = word(self.bytes, prototype.at + index * 8 + 4);
            let pointed = parameter.and_then(|number| target(number, POINTER));
            let pointed = pointed.and_then(|number| follow(number, STRUCT));
            pointed.and_then(|t| self.name(t.name)) == Some(structure.as_bytes())
        };
        (1..prototype.count as usize).find(is_it).map(|index| index - 1).ok_or_else(lacks)
    }
}
