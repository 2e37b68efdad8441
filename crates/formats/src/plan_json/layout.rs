//! The layout of a plan's JSON: a key of the plan, a topology and a step each on one line.

use std::io::{Result, Write};

use serde_json::ser::Formatter;

/// Objects and lists by depth: the plan itself, its lists of objects, and what is within them.
#[derive(Default)]
pub(super) struct Rows {
    depth: usize,
}

/// Depth of the plan's own keys.
const PLAN: usize = 1;
/// Depth of the items of its lists, topologies and steps.
const LIST: usize = 2;

impl Formatter for Rows {
    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.depth += 1;
        writer.write_all(b"{")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        let separator: &[u8] = match (self.depth, first) {
            (PLAN, true) => b"\n  ",
            (PLAN, false) => b",\n  ",
            (_, true) => b"",
            (_, false) => b", ",
        };
        writer.write_all(separator)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        writer.write_all(b": ")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.depth -= 1;
        writer.write_all(if self.depth == 0 { b"\n}" } else { b"}" })
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.depth += 1;
        writer.write_all(b"[")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        let separator: &[u8] = match (self.depth, first) {
            (LIST, true) => b"\n    ",
            (LIST, false) => b",\n    ",
            (_, true) => b"",
            (_, false) => b",",
        };
        writer.write_all(separator)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.depth -= 1;
        writer.write_all(if self.depth == PLAN { b"\n  ]" } else { b"]" })
    }
}
