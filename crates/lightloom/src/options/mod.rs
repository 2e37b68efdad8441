//! Planning options: the table that says what there are, and the one reader of what is given for them.
//!
//! ```text
//! text, JSON, TOML, Python ─▶ Value by name ─▶ Given ─▶ TextFabric and TextRequest ─▶ Request
//! ```

mod defaults;
mod names;
mod of_fabrics;
mod of_planning;
mod option;
pub mod rank_list;
mod read;
mod table;
mod value;

pub use names::{TOPOLOGY_FILES, names_topology_file, split_names};
pub use option::{Kind, Part, PlanningOption};
pub use read::Given;
pub use table::{OPTIONS, find};
pub use value::Value;
