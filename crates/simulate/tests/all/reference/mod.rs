pub mod one_by_one;
pub mod packets;
