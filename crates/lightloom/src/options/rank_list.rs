//! GPUs of a fabric, as ranges in a text or as a list of numbers.

use model::{Error, MAX_GPUS, Result};

use super::value::Value;

/// The accepted values, as errors name them.
const ACCEPTS: &str = "GPUs such as 0-15,32-47";

/// The GPUs in their order: `0-15,32-47`, or a list of whole numbers.
///
/// # Errors
/// Anything else, a range whose end is before its begin, more than 65 536 GPUs.
pub fn read(value: &Value, field: &str) -> Result<Vec<u32>> {
    let refuse = |shown: &str| {
        let shown: String = shown.chars().take(60).collect();
        Error::value(field, format!("`{shown}`"), ACCEPTS)
    };
    let items: Vec<(i128, i128)> = match value {
        Value::Text(text) => {
            let number = |digits: &str| {
                let is_number =
                    !digits.is_empty() && digits.len() <= 18 && digits.bytes().all(|it| it.is_ascii_digit());
                digits.parse().ok().filter(|_| is_number)
            };
            let range = |item: &str| {
                let item = item.trim();
                let (first, last) = item.split_once('-').unwrap_or((item, item));
                match (number(first), number(last)) {
                    (Some(first), Some(last)) if first <= last => Ok((first, last)),
                    (Some(first), Some(last)) => Err(Error::value(
                        field,
                        format!("the range `{item}`"),
                        format!("ranges from the lower GPU to the higher, here {last}-{first}"),
                    )),
                    // An empty item is shown with the text around it.
                    _ => Err(refuse(if item.is_empty() { text } else { item })),
                }
            };
            text.split(',').map(range).collect::<Result<_>>()?
        }
        Value::Whole(gpu) => vec![(*gpu, *gpu)],
        Value::List(items) => {
            let one = |item: &Value| if let Value::Whole(gpu) = item { Some((*gpu, *gpu)) } else { None };
            let other = |item: &Value| item.refuse(field, "whole numbers, each a GPU, such as [0, 1, 2, 3]");
            items.iter().map(|item| one(item).ok_or_else(|| other(item))).collect::<Result<_>>()?
        }
        other => return Err(other.refuse(field, ACCEPTS)),
    };
    let mut ranks = Vec::new();
    for (first, last) in items {
        if last - first >= i128::from(MAX_GPUS) || ranks.len() >= MAX_GPUS as usize {
            let named = format!("more than {MAX_GPUS} GPUs");
            return Err(Error::value(field, named, format!("at most {MAX_GPUS}")));
        }
        for gpu in first..=last {
            ranks.push(u32::try_from(gpu).map_err(|_| refuse(&gpu.to_string()))?);
        }
    }
    Ok(ranks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_lists_are_read_in_their_order() {
        let ranks = |value: Value| read(&value, "ranks").unwrap();
        assert_eq!(ranks("5-7, 0,2-2".into()), [5, 6, 7, 0, 2]);
        assert_eq!(ranks(Value::List(vec![Value::Whole(4), Value::Whole(1)])), [4, 1]);
    }

    #[test]
    fn other_values_are_refused_with_what_is_accepted() {
        for text in ["", "1,", "2-1", "-1", "1-2-3", "0x1", "1.5", "99999999999", "0-65536", "a"] {
            let error = read(&text.into(), "ranks").unwrap_err();
            assert_eq!(error.field(), "ranks", "{text}");
        }
        for value in [Value::Whole(-1), Value::Number(1.0), Value::List(vec![Value::Truth(true)])] {
            assert!(read(&value, "ranks").is_err(), "{value:?}");
        }
    }
}
