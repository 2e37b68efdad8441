//! What pickles share: results are taken apart into plain values, and made of them again by the constructors that check.

use ::simulate::{CircuitTotal, CircuitUse, GpuTimes};
use model::{Digit, Error, Translations};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use pyo3::{Borrowed, PyTypeInfo, intern};

use crate::input_error::CoreResult;

/// What `__reduce__` gives: the function that makes the object, and its arguments.
pub type Reduced<'py, T> = (Bound<'py, PyAny>, T);

/// Stride and radix.
pub type DigitTuple = (u32, u32);

/// The static method that makes an object of a class from its parts.
pub fn of_parts<T: PyTypeInfo>(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let class: Bound<'_, PyType> = py.get_type::<T>();
    class.getattr(intern!(py, "_of_parts"))
}

/// The digits of a symmetry.
pub fn digits(symmetry: &Translations) -> Vec<DigitTuple> {
    symmetry.digits().iter().map(|digit| (digit.stride, digit.radix)).collect()
}

/// The symmetry of so many ranks with these digits.
pub fn translations(ranks: u32, digits: Vec<DigitTuple>) -> CoreResult<Translations> {
    let digits = digits.into_iter().map(|(stride, radix)| Digit { stride, radix }).collect();
    Ok(Translations::new(ranks, digits)?)
}

/// Entries as words of 64 bits, little end first.
pub struct Packed(pub Vec<u8>);

impl<'py> IntoPyObject<'py> for Packed {
    type Target = PyBytes;
    type Output = Bound<'py, PyBytes>;
    type Error = std::convert::Infallible;

    fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Self::Error> {
        Ok(PyBytes::new(py, &self.0))
    }
}

impl<'py> FromPyObject<'_, 'py> for Packed {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(object.cast::<PyBytes>()?.as_bytes().to_vec()))
    }
}

/// What can be written as words.
pub trait Words: Sized {
    /// How many words an entry takes.
    const COUNT: usize;

    /// The words of an entry.
    fn words(&self) -> Vec<u64>;

    /// The entry of so many words, if it is one.
    fn of(words: &[u64]) -> Option<Self>;
}

/// Entries as bytes.
pub fn packed<T: Words>(entries: &[T]) -> Packed {
    Packed(entries.iter().flat_map(Words::words).flat_map(u64::to_le_bytes).collect())
}

/// The entries that were packed.
///
/// # Errors
/// Other bytes.
pub fn unpacked<T: Words>(bytes: &[u8]) -> CoreResult<Vec<T>> {
    let (words, rest) = bytes.as_chunks::<8>();
    let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let whole = rest.is_empty() && words.len().is_multiple_of(T::COUNT);
    let entries: Option<Vec<T>> = whole.then(|| words.chunks_exact(T::COUNT).map(T::of).collect()).flatten();
    Ok(entries.ok_or_else(|| Error::value("pickle", format!("{} bytes", bytes.len()), "what Lightloom pickled"))?)
}

impl Words for CircuitUse {
    const COUNT: usize = 9;

    fn words(&self) -> Vec<u64> {
        let ends = [self.src, self.dst, self.circuit].map(u64::from);
        let amounts = [self.bytes, self.packets, self.first_fs, self.last_fs, self.busy_fs, self.queue_bytes];
        [&ends[..], &amounts].concat()
    }

    fn of(words: &[u64]) -> Option<Self> {
        let &[src, dst, circuit, bytes, packets, first_fs, last_fs, busy_fs, queue_bytes] = words else { return None };
        let [src, dst, circuit] = narrow([src, dst, circuit])?;
        Some(Self { src, dst, circuit, bytes, packets, first_fs, last_fs, busy_fs, queue_bytes })
    }
}

impl Words for CircuitTotal {
    const COUNT: usize = 7;

    fn words(&self) -> Vec<u64> {
        let ends = [self.src, self.dst, self.circuit].map(u64::from);
        [&ends[..], &[self.bytes, self.busy_fs, self.utilisation.to_bits(), self.queue_bytes]].concat()
    }

    fn of(words: &[u64]) -> Option<Self> {
        let &[src, dst, circuit, bytes, busy_fs, utilisation, queue_bytes] = words else { return None };
        let [src, dst, circuit] = narrow([src, dst, circuit])?;
        Some(Self { src, dst, circuit, bytes, busy_fs, utilisation: f64::from_bits(utilisation), queue_bytes })
    }
}

impl Words for GpuTimes {
    const COUNT: usize = 8;

    fn words(&self) -> Vec<u64> {
        let optional = [self.first_send_fs, self.last_sent_fs, self.last_received_fs];
        let optional = optional.iter().flat_map(|time| [u64::from(time.is_some()), time.unwrap_or_default()]);
        [u64::from(self.gpu), self.ready_fs].into_iter().chain(optional).collect()
    }

    fn of(words: &[u64]) -> Option<Self> {
        let &[gpu, ready_fs, sends, first_send, sent, last_sent, receives, last_received] = words else { return None };
        let time = |is_there: u64, time: u64| (is_there != 0).then_some(time);
        Some(Self {
            gpu: u32::try_from(gpu).ok()?,
            ready_fs,
            first_send_fs: time(sends, first_send),
            last_sent_fs: time(sent, last_sent),
            last_received_fs: time(receives, last_received),
        })
    }
}

/// Words that are numbers of 32 bits.
fn narrow(words: [u64; 3]) -> Option<[u32; 3]> {
    let narrow = words.map(|word| u32::try_from(word).ok());
    let [Some(first), Some(second), Some(third)] = narrow else { return None };
    Some([first, second, third])
}
