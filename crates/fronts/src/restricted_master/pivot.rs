//! One pivot of the restricted master: which variable enters, which leaves, and the change of basis.

use super::{Basic, RestrictedMaster, ZERO};

/// The variable that leaves the basis: the one at a position, or the key path of an arc.
#[derive(Debug, Clone, Copy)]
enum Leaving {
    Position(usize),
    Key(u32),
}

/// Pivot elements below this would spoil the inverse.
const SMALLEST_PIVOT: f64 = 1e-9;

/// The weight of a path's gain against a slack's. Slacks that enter early leave again: counting paths
/// alike takes three to eight times the pivots on random pairs without symmetry (64 GPUs, degree 4 and 6).
const PATHS_FIRST: f64 = 4.0;

impl RestrictedMaster {
    /// The slack or path that would lower the load fastest; after a long stall the first one (Bland 1977),
    /// so that a cycle is left.
    pub(super) fn entering(&self, tolerance: f64) -> Option<Basic> {
        let first = self.stalled > 2 * self.rows + 100;
        let prices: Vec<f64> = self.inverse.row(self.load_position).iter().map(|value| -value).collect();
        let mut best = (0.0, None);
        for (row, price) in prices.iter().enumerate() {
            if -price > ZERO && -price > best.0 {
                best = (-price, Some(Basic::Slack(row as u32)));
                if first {
                    return best.1;
                }
            }
        }
        let lengths: Vec<f64> = (0..self.key.len()).map(|arc| self.key_length(arc, &prices)).collect();
        for (index, column) in self.columns.iter().enumerate() {
            if self.is_basic[index] {
                continue;
            }
            let gain = lengths[column.arc as usize] - column.length(&prices);
            if gain > tolerance && PATHS_FIRST * gain > best.0 {
                best = (PATHS_FIRST * gain, Some(Basic::Path(index as u32)));
                if first {
                    return best.1;
                }
            }
        }
        best.1
    }

    fn arc_of(&self, variable: Basic) -> Option<usize> {
        if let Basic::Path(path) = variable { Some(self.columns[path as usize].arc as usize) } else { None }
    }

    /// Brings `entering` into the basis. False when no acceptable pivot exists.
    pub(super) fn pivot(&mut self, entering: Basic) -> bool {
        let column = self.working_column(entering);
        let mut change = self.inverse.times(&column);
        let arc = self.arc_of(entering);
        // The rate at which each key's share falls: what its arc's other shares and the entering one gain.
        let key_change: Vec<f64> = self
            .others
            .iter()
            .enumerate()
            .map(|(index, others)| {
                let lost: f64 = others.iter().map(|&position| change[position as usize]).sum();
                f64::from(u8::from(arc == Some(index))) - lost
            })
            .collect();
        let Some((leaving, step)) = self.leaving(&change, &key_change) else { return false };
        for (value, change) in self.values.iter_mut().zip(&change) {
            *value -= step * change;
        }
        for (share, change) in self.key_share.iter_mut().zip(&key_change) {
            *share -= step * change;
        }
        self.stalled = if step * change[self.load_position] > ZERO { 0 } else { self.stalled + 1 };
        let position = match leaving {
            Leaving::Position(position) => position,
            Leaving::Key(of) if self.others[of as usize].is_empty() => {
                // Only the entering path can push out the only path of an arc; the basis keeps its columns.
                let Basic::Path(path) = entering else { return false };
                self.is_basic[self.key[of as usize] as usize] = false;
                self.is_basic[path as usize] = true;
                self.key[of as usize] = path;
                self.key_share[of as usize] = step;
                return true;
            }
            Leaving::Key(of) => {
                let position = self.exchange_key(of as usize);
                change[position] = key_change[of as usize];
                position
            }
        };
        self.replace(position, entering, step, &change);
        true
    }

    /// The basic variable that reaches zero first and the step to it; among near ties the one with the
    /// largest pivot element (Harris 1973).
    fn leaving(&self, change: &[f64], key_change: &[f64]) -> Option<(Leaving, f64)> {
        let positions = (0..self.rows)
            .filter(|&position| position != self.load_position)
            .map(|position| (Leaving::Position(position), self.values[position], change[position]));
        let keys = (0..self.key.len()).map(|arc| (Leaving::Key(arc as u32), self.key_share[arc], key_change[arc]));
        let candidates: Vec<(Leaving, f64, f64)> =
            positions.chain(keys).filter(|&(_, _, change)| change > SMALLEST_PIVOT).collect();
        let reach = candidates.iter().map(|&(_, value, change)| (value.max(0.0) + ZERO) / change).reduce(f64::min)?;
        let mut best: Option<(Leaving, f64, f64)> = None;
        for (leaving, value, change) in candidates {
            let ratio = value.max(0.0) / change;
            if ratio <= reach && best.is_none_or(|(_, _, largest)| change > largest) {
                best = Some((leaving, ratio, change));
            }
        }
        best.map(|(leaving, step, _)| (leaving, step))
    }

    /// Makes the other basic path of `arc` with the largest share its key. The old key takes its position,
    /// which is returned.
    fn exchange_key(&mut self, arc: usize) -> usize {
        let others = &self.others[arc];
        let mut position = others[0] as usize;
        for &other in others {
            if self.values[other as usize] > self.values[position] {
                position = other as usize;
            }
        }
        // With the new key, position's column turns into its negative and it is taken from the other
        // columns of the arc; the inverse changes in this one row.
        self.inverse.negate_sum(position, others);
        if let Basic::Path(path) = self.basis[position] {
            self.basis[position] = Basic::Path(self.key[arc]);
            self.key[arc] = path;
        }
        std::mem::swap(&mut self.values[position], &mut self.key_share[arc]);
        position
    }

    /// The pivot proper: `entering` takes `position`, whose variable has just reached zero.
    fn replace(&mut self, position: usize, entering: Basic, step: f64, change: &[f64]) {
        if let Basic::Path(path) = self.basis[position] {
            let arc = self.columns[path as usize].arc as usize;
            self.is_basic[path as usize] = false;
            self.others[arc].retain(|&other| other as usize != position);
        }
        self.inverse.replace(position, change);
        self.basis[position] = entering;
        self.values[position] = step;
        if let Basic::Path(path) = entering {
            self.is_basic[path as usize] = true;
            self.others[self.columns[path as usize].arc as usize].push(position as u32);
        }
    }
}
