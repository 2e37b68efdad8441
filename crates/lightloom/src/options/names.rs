//! Lists of topologies in one text.

use topologies::candidates;

/// Ends of names of files that hold a topology.
pub const TOPOLOGY_FILES: [&str; 4] = [".edgelist", ".csv", ".txt", ".graphml"];

/// Whether a text is taken for a file that holds a topology rather than for a topology's name.
pub fn names_topology_file(text: &str) -> bool {
    let text = text.to_lowercase();
    TOPOLOGY_FILES.iter().any(|end| text.ends_with(end))
}

/// The items of a list such as `ring,circulant:1,5,torus:4x4`.
///
/// Commas separate items and also a topology's parameters: a part that is no topology, no candidate family and no file
/// belongs to the parameters before it. Semicolons always separate.
pub fn split_names(text: &str) -> Vec<String> {
    if text.contains(';') {
        return text.split(';').map(|item| item.trim().to_string()).collect();
    }
    let starts_item = |part: &str| {
        let name = part.split(':').next().unwrap_or_default();
        names_topology_file(part)
            || topologies::REGISTRY.iter().any(|family| family.name() == name)
            || candidates::REGISTRY.iter().any(|family| family.name() == name)
    };
    let mut items: Vec<String> = Vec::new();
    for part in text.split(',').map(str::trim) {
        match items.last_mut() {
            Some(last) if last.contains(':') && !starts_item(part) => {
                last.push(',');
                last.push_str(part);
            }
            _ => items.push(part.to_string()),
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn commas_separate_items_and_parameters() {
        assert_eq!(split_names("ring,circulant:1,5,torus:4x4"), ["ring", "circulant:1,5", "torus:4x4"]);
        assert_eq!(split_names("circulant:1,5,mine.edgelist"), ["circulant:1,5", "mine.edgelist"]);
        assert_eq!(split_names("circulant:1,5;ring"), ["circulant:1,5", "ring"]);
        assert_eq!(split_names("ring"), ["ring"]);
        assert_eq!(split_names(""), [""]);
    }

    proptest! {
        #[test]
        fn no_item_of_a_list_is_lost(items in prop::collection::vec("[a-z0-9:.]{1,6}", 1..5)) {
            prop_assert_eq!(split_names(&items.join(";")), items.clone());
            prop_assert_eq!(split_names(&items.join(",")).join(","), items.join(","));
        }
    }
}
