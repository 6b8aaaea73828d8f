//! The shape of a profile as an XML schema, for editors and other programs.

use super::{Attribute, Content, Element, Occurs, PROFILE};
use crate::xml::Writer;

/// The type of a part of a target in percent.
const PART: &str = "partOfTarget";

/// The schema of profiles, as XSD.
#[must_use]
pub fn schema() -> String {
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let of: [(&str, &dyn std::fmt::Display); 1] =
        [("xmlns:xs", &"http://www.w3.org/2001/XMLSchema")];
    Writer::new(&mut out, 0).with("xs:schema", &of, |w| {
        w.element("xs:annotation", |w| {
            w.text(
                "xs:documentation",
                "A profile as `iosonde diskspd -X` reads and `-Rpxml` writes it. Elements stand \
                 in any order.",
            );
        });
        w.with("xs:simpleType", &[("name", &PART)], |w| range(1, 100, w));
        element(&PROFILE, None, w);
    });
    out
}

/// An element; `once` where its parent takes it as often as it says.
fn element(shape: &Element, most: Option<&str>, w: &mut Writer<'_>) {
    let least = if shape.occurs == Occurs::AtMostOnce { "0" } else { "1" };
    let mut of: Vec<(&str, &dyn std::fmt::Display)> = vec![("name", &shape.name)];
    if let Some(most) = &most {
        of.push(("minOccurs", &least));
        of.push(("maxOccurs", most));
    }
    let simple = simple_name(shape.content);
    if let (Some(name), true) = (&simple, shape.attributes.is_empty()) {
        of.push(("type", name));
        w.empty("xs:element", &of);
        return;
    }
    w.with("xs:element", &of, |w| match shape.content {
        Content::All(children) => complex(shape, w, |w| all(children, w)),
        Content::Choice(children) => complex(shape, w, |w| choice(children, w)),
        content if shape.attributes.is_empty() => restricted(content, w),
        content => w.element("xs:complexType", |w| {
            w.element("xs:simpleContent", |w| {
                let base = simple.as_deref().unwrap_or("xs:unsignedLong");
                let body = |w: &mut Writer<'_>| attributes(shape.attributes, w);
                // A range needs a name where attributes are added.
                let base = if let (Content::Number(1, 100), None) = (content, &simple) {
                    PART
                } else {
                    base
                };
                w.with("xs:extension", &[("base", &base)], body);
            });
        }),
    });
}

fn complex(shape: &Element, w: &mut Writer<'_>, children: impl FnOnce(&mut Writer<'_>)) {
    w.element("xs:complexType", |w| {
        children(w);
        attributes(shape.attributes, w);
    });
}

fn all(children: &[Element], w: &mut Writer<'_>) {
    match children {
        [] => {}
        [only] if only.occurs == Occurs::AtLeastOnce => {
            w.element("xs:sequence", |w| element(only, Some("unbounded"), w));
        }
        children => w.element("xs:all", |w| {
            for child in children {
                element(child, Some("1"), w);
            }
        }),
    }
}

fn choice(children: &[Element], w: &mut Writer<'_>) {
    w.element("xs:choice", |w| {
        for child in children {
            let most = if child.occurs == Occurs::AtLeastOnce { "unbounded" } else { "1" };
            let needed = Element { occurs: Occurs::Once, ..*child };
            element(&needed, Some(most), w);
        }
    });
}

fn attributes(attributes: &[Attribute], w: &mut Writer<'_>) {
    for attribute in attributes {
        let needed = if attribute.required { "required" } else { "optional" };
        w.with("xs:attribute", &[("name", &attribute.name), ("use", &needed)], |w| {
            restricted(attribute.content, w);
        });
    }
}

/// The name of a type that is there without a word.
fn simple_name(content: Content) -> Option<String> {
    let name = match content {
        Content::Text => "xs:string",
        Content::Bool => "xs:boolean",
        Content::Number(0, most) if most == u64::from(u32::MAX) => "xs:unsignedInt",
        Content::Number(0, u64::MAX) => "xs:unsignedLong",
        _ => return None,
    };
    Some(name.to_owned())
}

/// A type that allows certain values only.
fn restricted(content: Content, w: &mut Writer<'_>) {
    w.element("xs:simpleType", |w| match content {
        Content::OneOf(values) => w.with("xs:restriction", &[("base", &"xs:string")], |w| {
            for value in values {
                w.empty("xs:enumeration", &[("value", value)]);
            }
        }),
        Content::Number(least, most) => range(least, most, w),
        other => {
            let base = simple_name(other).unwrap_or_else(|| "xs:string".to_owned());
            w.with("xs:restriction", &[("base", &base)], |_| ());
        }
    });
}

fn range(least: u64, most: u64, w: &mut Writer<'_>) {
    w.with("xs:restriction", &[("base", &"xs:unsignedLong")], |w| {
        w.empty("xs:minInclusive", &[("value", &least)]);
        w.empty("xs:maxInclusive", &[("value", &most)]);
    });
}
