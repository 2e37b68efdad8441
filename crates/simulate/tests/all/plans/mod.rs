pub mod by_hand;
pub mod fabric;
pub mod planned;
