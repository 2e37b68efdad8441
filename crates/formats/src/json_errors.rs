//! The fault of a JSON document, in words that name no type of the program.

use serde_json::error::Category;

use crate::one_line::one_line;

/// Phrases of serde for the value that it expects, and their meaning to the writer of the document.
const EXPECTED: [(&str, &str); 11] = [
    ("u8", "a whole number from 0 to 255"),
    ("u32", "a whole number from 0 to 4294967295"),
    ("u64", "a whole number, 0 or above"),
    ("usize", "a whole number, 0 or above"),
    ("f64", "a number"),
    ("a sequence", "a list"),
    ("a map", "an object"),
    ("a string", "a text"),
    ("a boolean", "true or false"),
    ("unit", "null"),
    ("option", "null or a value"),
];

/// Names for the value that was found, by how serde begins to say it.
const FOUND: [(&str, &str); 9] = [
    ("string ", ""),
    ("integer ", ""),
    ("floating point ", ""),
    ("boolean ", ""),
    ("character ", ""),
    ("sequence", "a list"),
    ("map", "an object"),
    ("null", "null"),
    ("unit value", "null"),
];

/// The message of an error, in one line. Where the text is no JSON it says at which line and column; where it is, the
/// place is known by its keys.
pub(crate) fn in_words(error: &serde_json::Error) -> String {
    let said = error.to_string();
    if error.classify() != Category::Data {
        return one_line(&format!("it is not JSON: {said}"));
    }
    let place = format!(" at line {} column {}", error.line(), error.column());
    let said = said.strip_suffix(&place).unwrap_or(&said);
    // An object that is written as a list, whose keys serde counts.
    if said.starts_with("invalid length ") && said.contains(", expected struct ") {
        return "it is a list; it takes an object".to_string();
    }
    let of_kind = said.strip_prefix("invalid type: ").or_else(|| said.strip_prefix("invalid value: "));
    match of_kind.and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((found, expected)) => {
            let known = EXPECTED.iter().find(|(name, _)| *name == expected).map(|(_, words)| *words);
            let expected = if expected.starts_with("struct ") { "an object" } else { known.unwrap_or(expected) };
            one_line(&format!("it is {}; it takes {expected}", found_in_words(found)))
        }
        None => one_line(said),
    }
}

fn found_in_words(found: &str) -> String {
    let known = FOUND.iter().find_map(|(name, words)| Some((found.strip_prefix(name)?, *words)));
    match known {
        Some((value, "")) => value.to_string(),
        Some((_, words)) => words.to_string(),
        None => found.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Document {
        #[serde(rename = "count")]
        _count: u32,
        #[serde(rename = "list")]
        _list: Option<Vec<f64>>,
    }

    #[test]
    fn no_type_of_the_program_is_named() {
        for (text, said) in [
            (r#"{"count": "four"}"#, "it is \"four\"; it takes a whole number from 0 to 4294967295"),
            (r#"{"count": -1}"#, "it is `-1`; it takes a whole number from 0 to 4294967295"),
            (r#"{"count": 1.5}"#, "it is `1.5`; it takes a whole number from 0 to 4294967295"),
            (r#"{"count": 1, "list": {}}"#, "it is an object; it takes a list"),
            (r#"{"count": 1, "list": [true]}"#, "it is `true`; it takes a number"),
            (r#"{"count": null}"#, "it is null; it takes a whole number from 0 to 4294967295"),
            ("{}", "missing field `count`"),
            (r#"{"other": 1}"#, "unknown field `other`, expected `count` or `list`"),
            ("[[1]]", "it is a list; it takes a whole number from 0 to 4294967295"),
            ("7", "it is `7`; it takes an object"),
            (r#"{"count": 1"#, "it is not JSON: EOF while parsing an object at line 1 column 11"),
        ] {
            assert_eq!(in_words(&serde_json::from_str::<Document>(text).unwrap_err()), said, "{text}");
        }
    }
}
