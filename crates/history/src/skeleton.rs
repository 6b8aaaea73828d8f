//! A result without its measurements, which are named instead.
//!
//! A result may show less of a measurement than is stored: a sweep leaves out the threads of its
//! cells. The stored one stays whole, and next to its name the result lists what it leaves out.

use std::collections::HashMap;

use serde_json::{Map, Value as Json, json};

use crate::parts::escaped;

const NAME: &str = "measurement";
const LEFT_OUT: &str = "left_out";

/// What a measurement in a result leaves out of the one that is kept; `None` if it says anything
/// else.
///
/// Each is a list: the place as a JSON pointer, and the nothing that is there (null, or an empty
/// list), if any.
pub(crate) fn left_out(kept: &Json, shown: &Json) -> Option<Vec<Json>> {
    // Nearly always, and found without making the name of every place.
    if kept == shown {
        return Some(Vec::new());
    }
    let mut found = Vec::new();
    compare(kept, shown, &mut String::new(), &mut found).then_some(found)
}

fn compare(kept: &Json, shown: &Json, place: &mut String, found: &mut Vec<Json>) -> bool {
    match (kept, shown) {
        (Json::Object(kept), Json::Object(shown)) => {
            shown.keys().all(|name| kept.contains_key(name))
                && kept.iter().all(|(name, kept)| {
                    below(place, &escaped(name), |place| {
                        if let Some(shown) = shown.get(name) {
                            return compare(kept, shown, place, found);
                        }
                        found.push(json!([place]));
                        true
                    })
                })
        }
        (Json::Array(kept), Json::Array(shown)) if kept.len() == shown.len() => {
            kept.iter().zip(shown).enumerate().all(|(n, (kept, shown))| {
                below(place, &n.to_string(), |place| compare(kept, shown, place, found))
            })
        }
        _ if kept == shown => true,
        (_, Json::Null) => {
            found.push(json!([place, null]));
            true
        }
        (Json::Array(_), Json::Array(shown)) if shown.is_empty() => {
            found.push(json!([place, []]));
            true
        }
        _ => false,
    }
}

/// Does something at a place below another.
fn below(place: &mut String, name: &str, mut work: impl FnMut(&mut String) -> bool) -> bool {
    let length = place.len();
    place.push('/');
    place.push_str(name);
    let done = work(place);
    place.truncate(length);
    done
}

/// Puts the names of measurements in the place of those that are kept apart.
pub(crate) fn refer(value: &mut Json, kept: &HashMap<String, Json>) {
    if value.get("schema").and_then(Json::as_str) == Some(results::MEASUREMENT_SCHEMA) {
        let id = value.get("id").and_then(Json::as_str);
        let whole = id.and_then(|id| Some((id, kept.get(id)?)));
        if let Some((id, out)) = whole.and_then(|(id, whole)| Some((id, left_out(whole, value)?))) {
            let mut name = Map::new();
            name.insert(NAME.to_owned(), id.into());
            if !out.is_empty() {
                name.insert(LEFT_OUT.to_owned(), out.into());
            }
            *value = name.into();
        }
        return;
    }
    match value {
        Json::Object(object) => object.values_mut().for_each(|child| refer(child, kept)),
        Json::Array(array) => array.iter_mut().for_each(|child| refer(child, kept)),
        _ => {}
    }
}

/// The skeleton of a result that is a single measurement, as it is kept.
pub(crate) fn reference(id: &str) -> Json {
    json!({ NAME: id })
}

/// Puts the measurements in the place of their names.
pub(crate) fn resolve(value: &mut Json, kept: &HashMap<String, Json>) {
    match value {
        Json::Object(object) => {
            let known = object.keys().all(|name| name == NAME || name == LEFT_OUT);
            let name = if known { object.get(NAME).and_then(Json::as_str) } else { None };
            if let Some(whole) = name.and_then(|id| kept.get(id)) {
                let mut shown = whole.clone();
                for out in object.get(LEFT_OUT).and_then(Json::as_array).into_iter().flatten() {
                    leave_out(&mut shown, out);
                }
                *value = shown;
                return;
            }
            object.values_mut().for_each(|child| resolve(child, kept));
        }
        Json::Array(array) => array.iter_mut().for_each(|child| resolve(child, kept)),
        _ => {}
    }
}

fn leave_out(value: &mut Json, out: &Json) {
    let Some(place) = out.get(0).and_then(Json::as_str) else { return };
    if let Some(nothing) = out.get(1) {
        if let Some(there) = value.pointer_mut(place) {
            *there = nothing.clone();
        }
        return;
    }
    let Some((above, name)) = place.rsplit_once('/') else { return };
    if let Some(Json::Object(object)) = value.pointer_mut(above) {
        object.remove(&name.replace("~1", "/").replace("~0", "~"));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![Just(Json::Null), any::<u8>().prop_map(Json::from)];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
                prop::collection::btree_map("[a-c~/]{1,2}", inner, 0..4)
                    .prop_map(|fields| Json::Object(fields.into_iter().collect())),
            ]
        })
    }

    /// Takes out what the choices say, as they come.
    fn less(value: &Json, choices: &mut impl Iterator<Item = u8>) -> Json {
        match (value, choices.next().unwrap_or(0)) {
            (_, 1) => Json::Null,
            (Json::Array(_), 2) => json!([]),
            (Json::Array(all), _) => all.iter().map(|child| less(child, choices)).collect(),
            (Json::Object(all), _) => {
                let kept = all.iter().filter_map(|(name, child)| {
                    let out = choices.next() == Some(3);
                    (!out).then(|| (name.clone(), less(child, choices)))
                });
                Json::Object(kept.collect())
            }
            (value, _) => value.clone(),
        }
    }

    #[test]
    fn other_figures_are_not_what_is_left_out() {
        let kept = json!({ "a": 1, "b": [1, 2] });
        for shown in [json!({ "a": 2 }), json!({ "c": null }), json!({ "b": [1] }), json!(1)] {
            assert_eq!(left_out(&kept, &shown), None, "{shown}");
        }
    }

    proptest! {
        #[test]
        fn what_shows_less_is_made_from_what_is_kept(
            kept in any_json(),
            choices in prop::collection::vec(0_u8..5, 0..40),
        ) {
            let id = "m";
            let whole = |rest: Json| json!({ "schema": results::MEASUREMENT_SCHEMA, "id": id,
                "rest": rest });
            let shown = whole(less(&kept, &mut choices.into_iter()));
            let kept = HashMap::from([(id.to_owned(), whole(kept))]);
            let result = json!({ "cells": [shown] });
            let mut there = result.clone();
            refer(&mut there, &kept);
            prop_assert_eq!(&there["cells"][0][NAME], id);
            resolve(&mut there, &kept);
            prop_assert_eq!(there, result);
        }

        #[test]
        fn no_text_of_a_store_is_a_panic(value in any_json(), out in any_json(),
            place in "[a-c~/0-9]{0,6}") {
            let kept = HashMap::from([("m".to_owned(), value)]);
            for out in [out, json!([place]), json!([place, null])] {
                let mut there = json!({ NAME: "m", LEFT_OUT: [out] });
                resolve(&mut there, &kept);
            }
        }
    }
}
