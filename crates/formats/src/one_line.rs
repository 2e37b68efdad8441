//! Outside text in messages.

/// Outside text as part of a message: no line breaks, no more than it takes to recognise it.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect()
}
