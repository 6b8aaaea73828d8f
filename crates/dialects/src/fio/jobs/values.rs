//! Placeholders in the value of an option: `${VARIABLE}`, fio's keywords, and placeholders of
//! templates.

use super::Environment;

/// Keywords of fio whose value is a number of the machine.
const KEYWORDS: [&str; 3] = ["$mb_memory", "$ncpus", "$pagesize"];

/// An option with the values of its variables in it; otherwise what is wrong with it, and what to
/// do.
pub(super) fn filled_in(option: &str, environment: Environment<'_>) -> Result<String, String> {
    if let Some(placeholder) = placeholder(option) {
        return Err(format!(
            "`{option}` has the placeholder `{placeholder}`: this is not a fio job but a template \
             of one; fill it in first"
        ));
    }
    if let Some(keyword) = KEYWORDS.into_iter().find(|keyword| option.contains(keyword)) {
        return Err(format!(
            "`{option}`: `{keyword}` is a keyword of fio for a number of the machine, which \
             iosonde does not know; write the number"
        ));
    }
    let (mut filled, mut rest) = (String::new(), option);
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else { break };
        let value = (environment.variable)(name)
            .filter(|value| !value.trim().is_empty())
            .ok_or_else(|| {
                format!(
                    "`{option}`: the environment variable `{name}` is not set or is empty; set it \
                     (`{name}=… iosonde …`), or write its value into the file"
                )
            })?;
        filled.push_str(before);
        filled.push_str(&value);
        rest = after;
    }
    Ok(filled + rest)
}

/// Whether a path would be read back as something else.
pub(super) fn is_literal(path: &str) -> bool {
    !path.contains("${")
        && placeholder(path).is_none()
        && !KEYWORDS.into_iter().any(|keyword| path.contains(keyword))
}

/// The first `@NAME@` or `{{NAME}}` of a text.
fn placeholder(text: &str) -> Option<&str> {
    ["@", "{{"].into_iter().find_map(|begin| {
        let end = if begin == "@" { "@" } else { "}}" };
        text.match_indices(begin).find_map(|(at, _)| {
            let name = text.get(at + begin.len()..)?;
            let length = name.find(end)?;
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '.';
            let inner = name.get(..length)?.trim();
            let whole = at..at + begin.len() + length + end.len();
            (!inner.is_empty() && inner.chars().all(is_name)).then(|| text.get(whole))?
        })
    })
}
