//! The power that lasers launch for the circuits of a mesh, compared with the budgets of tiles and interposers.

use std::collections::BTreeMap;

use model::LaunchPower;

use super::layout::Mesh;
use super::over_budget::{LaserPlace, OverBudget, TOLERANCE};
use super::routing::Route;
use super::search::LOSS_TOLERANCE_DB;

/// How good paths are: power above budgets first, then power in all, mW.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Launched {
    pub excess_mw: f64,
    pub total_mw: f64,
}

impl Launched {
    /// Whether this is less than the other, by more than rounding.
    pub fn is_below(self, other: Self) -> bool {
        let slack_mw = 1e-12 * (other.excess_mw + other.total_mw);
        if (self.excess_mw - other.excess_mw).abs() > slack_mw {
            return self.excess_mw < other.excess_mw;
        }
        self.total_mw < other.total_mw - slack_mw
    }
}

/// Sums of launched power: by tile and interposer, and in all.
pub(super) fn launched(mesh: &Mesh, power: &LaunchPower, losses_db: &[(u32, f64)]) -> Launched {
    let sums = sums(mesh, power, losses_db);
    let over = |(place, sum_mw): (&LaserPlace, &f64)| (sum_mw - budget_mw(power, *place)).max(0.0);
    Launched {
        excess_mw: sums.iter().map(over).sum(),
        total_mw: losses_db.iter().map(|&(_, loss_db)| power.launch_mw(loss_db)).sum(),
    }
}

/// The first place whose lasers launch more than its budget for these routes.
pub(crate) fn over_budget<'a>(mesh: &Mesh, routes: impl Iterator<Item = &'a Route>) -> Option<OverBudget> {
    let power = mesh.settings().launch_power.as_ref()?;
    let (mut losses_db, mut least_db) = (Vec::new(), Vec::new());
    for Route { cells, .. } in routes {
        let (source, destination) = (*cells.first()?, *cells.last()?);
        losses_db.push((source, mesh.loss_db(mesh.passed(cells)?)));
        least_db.push((source, mesh.least_loss_db(source, destination)));
    }
    let least = sums(mesh, power, &least_db);
    sums(mesh, power, &losses_db).into_iter().find_map(|(place, launch_mw)| {
        let budget_mw = budget_mw(power, place);
        let is_over = launch_mw > budget_mw * (1.0 + TOLERANCE);
        is_over.then(|| OverBudget { place, launch_mw, budget_mw, least_mw: least[&place] })
    })
}

fn sums(mesh: &Mesh, power: &LaunchPower, losses_db: &[(u32, f64)]) -> BTreeMap<LaserPlace, f64> {
    let mut sums = BTreeMap::new();
    if power.max_tile_mw.is_none() && power.max_interposer_mw.is_none() {
        return sums;
    }
    for &(cell, loss_db) in losses_db {
        let (tile, interposer) = mesh.tile_and_interposer(cell);
        for place in [LaserPlace::Tile(tile), LaserPlace::Interposer(interposer)] {
            *sums.entry(place).or_insert(0.0) += power.launch_mw(loss_db);
        }
    }
    sums
}

fn budget_mw(power: &LaunchPower, place: LaserPlace) -> f64 {
    let budget_mw = match place {
        LaserPlace::Tile(_) => power.max_tile_mw,
        LaserPlace::Interposer(_) => power.max_interposer_mw,
    };
    budget_mw.unwrap_or(f64::INFINITY)
}

/// Why a circuit cannot be lit that loses this much, by the limit that forbids it.
pub fn loss_reason(mesh: &Mesh, loss_db: f64) -> String {
    let settings = mesh.settings();
    let limit_db = settings.max_loss_db.unwrap_or(f64::INFINITY);
    let Some(power) = settings.launch_power.filter(|power| power.max_loss_db() < limit_db) else {
        return format!("{loss_db:.2} dB, more than the limit max_loss_db of {limit_db} dB");
    };
    let launch_dbm = power.sensitivity_dbm + power.margin_db + loss_db;
    let limit_dbm = power.sensitivity_dbm + power.margin_db + power.max_loss_db();
    let limit = if power.max_launch_dbm.is_some() { "max_launch_dbm" } else { "any laser may" };
    format!("{loss_db:.2} dB, so that its laser would launch {launch_dbm:.2} dBm, more than {limit}, {limit_dbm}")
}

/// Whether one loss is below another by more than rounding.
pub(super) fn loses_less(one_db: f64, other_db: f64) -> bool {
    one_db < other_db - LOSS_TOLERANCE_DB
}
