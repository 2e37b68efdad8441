pub mod one_by_one;
