//! Enumerations whose values have names on the command line and in JSON.

use strum::VariantArray;

use crate::{Result, unknown_name};

/// The value of that name, of an enumeration that derives its values and their names with strum; `field` is what
/// messages call it.
///
/// # Errors
/// An unknown name.
pub fn value_named<T>(field: &'static str, name: &str) -> Result<T>
where
    T: VariantArray + Copy + Into<&'static str>,
{
    let names = || T::VARIANTS.iter().map(|&value| -> &'static str { value.into() });
    match names().position(|known| known == name) {
        Some(index) => Ok(T::VARIANTS[index]),
        None => Err(unknown_name(field, name, names())),
    }
}

/// Gives enumerations that derive strum's `VariantArray` and `IntoStaticStr` their `ALL`, `name` and `parse`; each is
/// written with the field that messages call it by.
#[macro_export]
macro_rules! named {
    ($($enumeration:ident of $field:literal),+ $(,)?) => {$(
        impl $enumeration {
            /// All values, the default first.
            pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

            /// The name in the command line and in JSON.
            pub fn name(self) -> &'static str {
                self.into()
            }

            /// The value of that name.
            ///
            /// # Errors
            /// An unknown name.
            pub fn parse(name: &str) -> $crate::Result<Self> {
                $crate::value_named($field, name)
            }
        }
    )+};
}
