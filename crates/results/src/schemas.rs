//! The published schemas, as the program prints them: the files of `docs/schema`, put together.
//!
//! The code could describe itself (`schema_of`), and tests make it do so, to compare. A program
//! that carried all of that code would be a megabyte larger.

use std::sync::LazyLock;

use flate2::read::DeflateDecoder;
use serde_json::{Map, Value};

/// All files by their names, packed by `build.rs`. A new kind has none until the test that compares
/// them with the code writes it.
static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/schemas.deflate"));

static FILES: LazyLock<Map<String, Value>> =
    LazyLock::new(|| serde_json::from_reader(DeflateDecoder::new(PACKED)).unwrap_or_default());

/// What is computed from results or stands alone: the names of the schemas, and the commands that
/// print such documents.
pub const COMPUTED: [(&str, &str); 4] = [
    ("comparison", "`iosonde history compare --json`"),
    ("trend", "`iosonde history trend --json`"),
    ("drift", "`iosonde history drift --json`"),
    ("inspection", "`iosonde inspect --json`"),
];

/// The JSON Schema of a document by its name, such as `measurement`. It refers to nothing outside
/// itself.
///
/// `None` if no document has this name.
#[must_use]
pub fn published_schema(name: &str) -> Option<Value> {
    let mut root = file(name)?;
    root.remove("$defs");
    let mut whole = Whole { name, wanted: Vec::new() };
    whole.adopt(name, root.values_mut());
    let mut definitions = Map::new();
    while let Some((file, definition)) = whole.wanted.pop() {
        if definitions.contains_key(&definition) {
            continue;
        }
        let mut says = find(&file, &definition)?;
        whole.adopt(&file, [&mut says]);
        definitions.insert(definition, says);
    }
    if !definitions.is_empty() {
        root.insert("$defs".to_owned(), definitions.into());
    }
    Some(root.into())
}

fn file(name: &str) -> Option<Map<String, Value>> {
    FILES.get(name)?.as_object().cloned()
}

/// A definition of a file: one of those that it lists, or all of it, which its title names.
fn find(name: &str, definition: &str) -> Option<Value> {
    let mut file = file(name)?;
    let listed = file.remove("$defs");
    if file.get("title").and_then(Value::as_str) != Some(definition) {
        return listed?.as_object_mut()?.remove(definition);
    }
    file.remove("title");
    file.remove("$schema");
    Some(file.into())
}

/// A schema while it is put together.
struct Whole<'a> {
    name: &'a str,
    /// Files, and the definitions in them that are referred to.
    wanted: Vec<(String, String)>,
}

impl Whole<'_> {
    /// Turns the references in values of a file into such within the schema.
    fn adopt<'v>(&mut self, file: &str, values: impl IntoIterator<Item = &'v mut Value>) {
        for value in values {
            match value {
                Value::Object(fields) => {
                    if let Some(Value::String(reference)) = fields.get_mut("$ref") {
                        *reference = self.refer(file, reference);
                    }
                    self.adopt(file, fields.values_mut());
                }
                Value::Array(values) => self.adopt(file, values),
                _ => {}
            }
        }
    }

    fn refer(&mut self, from: &str, reference: &str) -> String {
        let (path, listed) = reference.split_once('#').unwrap_or((reference, ""));
        let file_name = path.strip_suffix(".json").unwrap_or(from);
        let definition = match listed.strip_prefix("/$defs/") {
            Some(name) => name.to_owned(),
            None if file_name == self.name => return "#".to_owned(),
            None => file(file_name)
                .and_then(|file| file.get("title")?.as_str().map(str::to_owned))
                .unwrap_or_default(),
        };
        let within = format!("#/$defs/{definition}");
        self.wanted.push((file_name.to_owned(), definition));
        within
    }
}
