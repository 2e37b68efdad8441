//! Numbers of things in words.

use std::fmt::Display;

/// `1 port`, `2 ports`, `3 topologies`, `4 switches`, `2 matrices`: the number, and the noun in the singular or the
/// plural.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    if count == N::from(1) {
        return format!("{count} {noun}");
    }
    if let Some(stem) = noun.strip_suffix("ix") {
        return format!("{count} {stem}ices");
    }
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{count} {stem}ies"),
        _ if noun.ends_with("ch") => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        assert_eq!(counted(1, "port"), "1 port");
        assert_eq!(counted(0, "port"), "0 ports");
        assert_eq!(counted(2, "reconfiguration"), "2 reconfigurations");
        assert_eq!(counted(3, "topology"), "3 topologies");
        assert_eq!(counted(4, "switch"), "4 switches");
        assert_eq!(counted(2, "matrix"), "2 matrices");
        assert_eq!(counted(2, "delay"), "2 delays");
    }
}
