//! How a circuit of a configuration is named in what is found.

use model::LightPath;

/// A circuit's name in messages: its configuration, counted from 1, and its ports.
pub(super) fn at(index: usize, path: &LightPath) -> String {
    format!("configuration {}, circuit {} → {}", index + 1, path.connection.ingress, path.connection.egress)
}
