//! The shape of a profile's elements: which exist, how often, and what they may contain.
//!
//! It accepts and refuses what DiskSpd's published schema does. Elements may be in any order.

mod schema;

use roxmltree::{Document, Node};

pub use schema::schema;

use super::Wrong;

/// The most faults that are collected.
const FAULTS_MAX: usize = 20;

/// How often an element is in its parent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Occurs {
    Once,
    AtMostOnce,
    AtLeastOnce,
}

/// What an element or an attribute contains.
#[derive(Clone, Copy)]
enum Content {
    Text,
    Bool,
    Number(u64, u64),
    OneOf(&'static [&'static str]),
    /// Each of these as often as it says.
    All(&'static [Element]),
    /// Exactly one of these elements.
    Choice(&'static [Element]),
}

#[derive(Clone, Copy)]
struct Element {
    name: &'static str,
    occurs: Occurs,
    content: Content,
    attributes: &'static [Attribute],
}

struct Attribute {
    name: &'static str,
    required: bool,
    content: Content,
}

const U32: Content = Content::Number(0, u32::MAX as u64);
const U64: Content = Content::Number(0, u64::MAX);
const PERCENT: Content = Content::Number(0, 100);

const fn element(name: &'static str, occurs: Occurs, content: Content) -> Element {
    Element { name, occurs, content, attributes: &[] }
}

const fn one(name: &'static str, content: Content) -> Element {
    element(name, Occurs::Once, content)
}

const fn opt(name: &'static str, content: Content) -> Element {
    element(name, Occurs::AtMostOnce, content)
}

const fn many(name: &'static str, content: Content) -> Element {
    element(name, Occurs::AtLeastOnce, content)
}

const fn with(element: Element, attributes: &'static [Attribute]) -> Element {
    Element { attributes, ..element }
}

const PROFILE: Element = one(
    "Profile",
    Content::All(&[
        opt("Progress", U32),
        opt("ExperimentFlags", U32),
        opt("ResultFormat", Content::OneOf(&["text", "xml"])),
        opt("Verbose", Content::Bool),
        opt("VerboseStats", Content::Bool),
        opt("PrecreateFiles", Content::OneOf(&PRECREATE)),
        opt("ETW", Content::All(&ETW)),
        one("TimeSpans", Content::All(&[many("TimeSpan", Content::All(&TIME_SPAN))])),
    ]),
);

/// The values that `PrecreateFiles` may have.
pub(super) const PRECREATE: [&str; 3] =
    ["UseMaxSize", "CreateOnlyFilesWithConstantSizes", "CreateOnlyFilesWithConstantOrZeroSizes"];

const ETW: [Element; 12] = [
    opt("Process", Content::Bool),
    opt("Thread", Content::Bool),
    opt("ImageLoad", Content::Bool),
    opt("DiskIO", Content::Bool),
    opt("MemoryPageFaults", Content::Bool),
    opt("MemoryHardFaults", Content::Bool),
    opt("Network", Content::Bool),
    opt("Registry", Content::Bool),
    opt("UsePagedMemory", Content::Bool),
    opt("UsePerfTimer", Content::Bool),
    opt("UseSystemTimer", Content::Bool),
    opt("UseCyclesCounter", Content::Bool),
];

const TIME_SPAN: [Element; 15] = [
    opt("CompletionRoutines", Content::Bool),
    opt("MeasureLatency", Content::Bool),
    opt("CalculateIopsStdDev", Content::Bool),
    opt("DisableAffinity", Content::Bool),
    opt("GroupAffinity", Content::Bool),
    opt("RandomWriteData", Content::Bool),
    opt("Duration", U32),
    opt("Warmup", U32),
    opt("Cooldown", U32),
    opt("ThreadCount", U32),
    opt("RequestCount", U32),
    opt("IoBucketDuration", U32),
    opt("RandSeed", U32),
    opt("Affinity", Content::Choice(&AFFINITY)),
    one("Targets", Content::All(&[many("Target", Content::All(&TARGET))])),
];

const AFFINITY: [Element; 2] = [
    many("AffinityAssignment", U32),
    with(
        many("AffinityGroupAssignment", Content::All(&[])),
        &[
            Attribute { name: "Group", required: true, content: Content::Number(0, 65_535) },
            Attribute { name: "Processor", required: true, content: Content::Number(0, 255) },
        ],
    ),
];

const TARGET: [Element; 32] = [
    one("Path", Content::Text),
    opt("BlockSize", U32),
    opt("StrideSize", U64),
    opt("InterlockedSequential", Content::Bool),
    opt("BaseFileOffset", U64),
    opt("SequentialScan", Content::Bool),
    opt("RandomAccess", Content::Bool),
    opt("TemporaryFile", Content::Bool),
    opt("UseLargePages", Content::Bool),
    opt("RequestCount", U32),
    opt("Random", U64),
    opt("RandomRatio", Content::Number(1, 99)),
    opt("DisableAllCache", Content::Bool),
    opt("DisableLocalCache", Content::Bool),
    opt("DisableOSCache", Content::Bool),
    opt("WriteThrough", Content::Bool),
    opt("MemoryMappedIo", Content::Bool),
    opt("FlushType", Content::OneOf(&FLUSH)),
    opt("WriteBufferContent", Content::All(&WRITE_BUFFER)),
    opt("BurstSize", U32),
    opt("ThinkTime", U32),
    with(
        opt("Throughput", U32),
        &[Attribute { name: "unit", required: false, content: Content::OneOf(&["IOPS", "BPMS"]) }],
    ),
    opt("ThreadsPerFile", U32),
    opt("FileSize", U64),
    opt("MaxFileSize", U64),
    opt("WriteRatio", PERCENT),
    opt("ParallelAsyncIO", Content::Bool),
    opt("ThreadStride", U64),
    opt("IOPriority", U32),
    opt("Weight", U32),
    opt("Distribution", Content::Choice(&DISTRIBUTION)),
    opt("ThreadTargets", Content::All(&[many("ThreadTarget", Content::All(&THREAD_TARGET))])),
];

/// The values that `FlushType` may have.
pub(super) const FLUSH: [&str; 3] = ["ViewOfFile", "NonVolatileMemory", "NonVolatileMemoryNoDrain"];

const WRITE_BUFFER: [Element; 2] = [
    one("Pattern", Content::OneOf(&["sequential", "zero", "random"])),
    opt(
        "RandomDataSource",
        Content::All(&[one("SizeInBytes", U64), opt("FilePath", Content::Text)]),
    ),
];

const IO: [Attribute; 1] = [Attribute { name: "IO", required: true, content: PERCENT }];

const DISTRIBUTION: [Element; 2] = [
    opt("Percent", Content::All(&[with(many("Range", Content::Number(1, 100)), &IO)])),
    opt("Absolute", Content::All(&[with(many("Range", U64), &IO)])),
];

const THREAD_TARGET: [Element; 2] = [one("Thread", U32), opt("Weight", U32)];

/// What keeps a document from being a profile; nothing where it is one.
pub(super) fn check(document: &Document<'_>) -> Vec<Wrong> {
    let mut checker = Checker { document, wrong: Vec::new() };
    let root = document.root_element();
    if is_named(root, PROFILE.name) {
        checker.element(root, &PROFILE);
    } else {
        let name = root.tag_name().name();
        checker.fault(
            root,
            format!("the outermost element is `{name}`; a profile begins with `Profile`"),
        );
    }
    checker.wrong
}

/// Whether a node is an element of this name, in no namespace.
fn is_named(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name && node.tag_name().namespace().is_none()
}

struct Checker<'a> {
    document: &'a Document<'a>,
    wrong: Vec<Wrong>,
}

impl Checker<'_> {
    fn fault(&mut self, node: Node<'_, '_>, what: String) {
        if self.wrong.len() < FAULTS_MAX {
            self.wrong.push(Wrong::at(self.document, node, what));
        }
    }

    fn element(&mut self, node: Node<'_, '_>, shape: &Element) {
        self.attributes(node, shape);
        match shape.content {
            Content::All(children) | Content::Choice(children) => {
                self.children(node, shape, children);
            }
            simple => {
                if let Some(child) = node.children().find(Node::is_element) {
                    let what = format!("`{}` contains no elements", shape.name);
                    self.fault(child, what);
                } else if let Some(what) = wrong_value(&text_of(node), simple) {
                    self.fault(node, format!("`{}` {what}", shape.name));
                }
            }
        }
    }

    fn attributes(&mut self, node: Node<'_, '_>, shape: &Element) {
        for attribute in node.attributes() {
            // Where a schema is found, and the like.
            if attribute.namespace() == Some("http://www.w3.org/2001/XMLSchema-instance") {
                continue;
            }
            let name = attribute.name();
            let known =
                shape.attributes.iter().find(|a| a.name == name && attribute.namespace().is_none());
            let what = match known {
                None => Some("is unknown".to_owned()),
                Some(known) => wrong_value(attribute.value(), known.content),
            };
            if let Some(what) = what {
                self.fault(node, format!("attribute `{name}` of `{}` {what}", shape.name));
            }
        }
        for attribute in shape.attributes.iter().filter(|a| a.required) {
            if node.attribute(attribute.name).is_none() {
                self.fault(
                    node,
                    format!("`{}` lacks the attribute `{}`", shape.name, attribute.name),
                );
            }
        }
    }

    fn children(&mut self, node: Node<'_, '_>, parent: &Element, shapes: &[Element]) {
        let mut counts = vec![0usize; shapes.len()];
        for child in node.children() {
            if child.is_text() && !child.text().unwrap_or_default().trim().is_empty() {
                self.fault(child, format!("`{}` contains text", parent.name));
            }
            if !child.is_element() {
                continue;
            }
            let Some(index) = shapes.iter().position(|shape| is_named(child, shape.name)) else {
                let name = child.tag_name().name();
                self.fault(child, format!("`{}` contains no `{name}`", parent.name));
                continue;
            };
            counts[index] += 1;
            let (count, shape) = (counts[index], &shapes[index]);
            if count == 2 && shape.occurs != Occurs::AtLeastOnce {
                self.fault(child, format!("`{}` occurs twice in `{}`", shape.name, parent.name));
            }
            if count == 1 || shape.occurs == Occurs::AtLeastOnce {
                self.element(child, shape);
            }
        }
        if matches!(parent.content, Content::Choice(_)) {
            let kinds = counts.iter().filter(|&&count| count > 0).count();
            if kinds != 1 {
                let names: Vec<&str> = shapes.iter().map(|shape| shape.name).collect();
                let what = format!("`{}` contains one of {}", parent.name, names.join(" and "));
                self.fault(node, what);
            }
            return;
        }
        for (shape, count) in shapes.iter().zip(counts) {
            if count == 0 && shape.occurs != Occurs::AtMostOnce {
                self.fault(node, format!("`{}` lacks `{}`", parent.name, shape.name));
            }
        }
    }
}

/// All text of an element; comments divide it.
pub(super) fn text_of(node: Node<'_, '_>) -> String {
    node.children().filter(Node::is_text).filter_map(|child| child.text()).collect()
}

/// What is wrong with a value; `None` if it is right.
fn wrong_value(text: &str, content: Content) -> Option<String> {
    match content {
        Content::Bool if boolean(text).is_none() => {
            Some(format!("is `{text}`; write true, false, 1 or 0"))
        }
        Content::Number(least, most) => match number(text) {
            Some(value) if (least..=most).contains(&value) => None,
            _ => Some(format!("is `{text}`; write a number from {least} to {most}")),
        },
        Content::OneOf(values) if !values.contains(&text) => {
            Some(format!("is `{text}`; write {}", values.join(" or ")))
        }
        _ => None,
    }
}

/// The blanks that do not count around a value.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n', '\r'])
}

/// A truth value as XML has it.
pub(super) fn boolean(text: &str) -> Option<bool> {
    match trim(text) {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// A number that is not negative.
pub(super) fn number(text: &str) -> Option<u64> {
    trim(text).parse().ok()
}
