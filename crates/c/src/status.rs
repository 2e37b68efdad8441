//! The status of a call, and the message for its caller when it failed.

use std::any::Any;
use std::ffi::c_char;

use model::Error;

/// The status of a call; the first three are the exit statuses of the command line.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LightloomStatus {
    /// The call succeeded.
    Done = 0,
    /// Something that is no fault of what was given; please report it.
    Failed = 1,
    /// The input is wrong, as the error says.
    WrongInput = 2,
    /// Nothing like it is kept.
    NotFound = 3,
}

/// A fault: text that ends with a zero, cut where it is longer.
#[repr(C)]
pub struct LightloomError {
    /// The field that is wrong, such as `gpus`; empty where no field is.
    pub field: [c_char; 64],
    /// One line that names the field, the value and what is accepted.
    pub message: [c_char; 1024],
}

/// Why a call did not do what it is for.
#[derive(Debug)]
pub enum Failure {
    /// The input, or the result made of it, is refused.
    Core(Error),
    /// Nothing is kept under that key.
    NotFound,
    /// A panic, with what it said.
    Panic(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

impl Failure {
    /// The failure that a panic is.
    pub fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let said = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
        Self::Panic(said.unwrap_or("it panicked").to_string())
    }

    /// The status that the caller is told.
    pub fn status(&self) -> LightloomStatus {
        match self {
            Self::Core(Error::Rejected { .. }) | Self::Panic(_) => LightloomStatus::Failed,
            Self::Core(_) => LightloomStatus::WrongInput,
            Self::NotFound => LightloomStatus::NotFound,
        }
    }

    /// The failure in words.
    pub fn error(&self) -> LightloomError {
        let (field, message) = match self {
            Self::Core(error) => (error.field(), error.to_string()),
            Self::NotFound => {
                ("", "the fabric keeps no plan for this collective and size yet; make one first".to_string())
            }
            Self::Panic(said) => ("", format!("a fault of Lightloom, please report it: {said}")),
        };
        LightloomError { field: cut(&on_one_line(field)), message: cut(&on_one_line(&message)) }
    }
}

/// The text with its control characters escaped: a value may hold any character.
fn on_one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// The text as C has it, cut between characters where it is too long.
fn cut<const N: usize>(text: &str) -> [c_char; N] {
    let mut cut = [0; N];
    let mut end = text.len().min(N - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    for (place, byte) in cut.iter_mut().zip(text[..end].bytes().filter(|byte| *byte != 0)) {
        *place = byte.cast_signed() as c_char;
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(text: &[c_char]) -> Vec<u8> {
        text.iter().map(|byte| *byte as u8).take_while(|byte| *byte != 0).collect()
    }

    #[test]
    fn text_is_cut_between_characters_and_ends_with_a_zero() {
        assert_eq!(bytes_of(&cut::<4>("abc")), b"abc");
        assert_eq!(bytes_of(&cut::<4>("abcd")), b"abc");
        assert_eq!(bytes_of(&cut::<4>("aaé")), b"aa");
        assert_eq!(bytes_of(&cut::<4>("a\0b")), b"ab");
        assert_eq!(bytes_of(&cut::<4>("")), b"");
    }

    #[test]
    fn messages_are_of_one_line() {
        let error = Failure::from(Error::value("window", "\n\u{1b}[2J", "a time")).error();
        assert_eq!(bytes_of(&error.message), b"window: \\n\\u{1b}[2J is not accepted; it takes a time");
    }

    #[test]
    fn panics_and_refusals_are_told_apart() {
        let panic = std::panic::catch_unwind(|| panic!("at {}", 1)).expect_err("it panics");
        let failure = Failure::of_panic(panic.as_ref());
        assert_eq!(failure.status(), LightloomStatus::Failed);
        assert!(String::from_utf8_lossy(&bytes_of(&failure.error().message)).ends_with("report it: at 1"));
        let refused = Failure::from(Error::value("gpus", 1, "at least 2"));
        assert_eq!(refused.status(), LightloomStatus::WrongInput);
        assert_eq!(bytes_of(&refused.error().field), b"gpus");
    }
}
