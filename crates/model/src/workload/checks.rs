//! Checks of the parts of a workload.

use std::collections::BTreeSet;

use super::parts::{Over, Ranks, Work, WorkloadParts};
use crate::{Collective, Error, MAX_GPUS, Rank, Result, units};

/// Checks the ranks, the mesh, the groups and the operations.
///
/// # Errors
/// The first that is outside its range, or does not go with the others.
pub(super) fn check_mesh(parts: &WorkloadParts) -> Result<()> {
    let ranks = parts.ranks;
    if !(1..=MAX_GPUS).contains(&ranks) {
        return Err(Error::value("workload.ranks", ranks, format!("1 to {MAX_GPUS}")));
    }
    let sizes: Vec<u64> = parts.mesh.iter().map(|axis| u64::from(axis.size)).collect();
    let product = sizes.iter().try_fold(1u64, |product, size| product.checked_mul(*size));
    if !sizes.is_empty() && product != Some(u64::from(ranks)) {
        let shown: Vec<String> = sizes.iter().map(u64::to_string).collect();
        let reason = format!("its axes are {}; they must multiply to the {ranks} ranks", shown.join(" × "));
        return Err(Error::malformed("workload.mesh", reason));
    }
    let mut names = BTreeSet::new();
    for axis in &parts.mesh {
        check_name("workload.mesh", &axis.name, &mut names)?;
    }
    let mut names = BTreeSet::new();
    for group in &parts.groups {
        check_name("workload.groups", &group.name, &mut names)?;
        check_ranks(&format!("workload.groups.{}", short(&group.name)), ranks, &group.ranks)?;
    }
    let mut names = BTreeSet::new();
    for matrix in &parts.matrices {
        check_name("workload.matrices", &matrix.name, &mut names)?;
    }
    for (field, flops) in [("model_flops", parts.model_flops), ("peak_flops", parts.peak_flops)] {
        if let Some(flops) = flops.filter(|flops| !(flops.is_finite() && *flops > 0.0 && *flops < 1e40)) {
            let given = format!("{flops:e}");
            return Err(Error::value(&format!("workload.{field}"), given, "a number above 0 and below 1e40"));
        }
    }
    Ok(())
}

fn check_name<'a>(field: &str, name: &'a str, names: &mut BTreeSet<&'a str>) -> Result<()> {
    const TAKEN: [&str; 3] = ["compute", "sends", "reconfiguration"];
    if name.is_empty() || name.len() > 100 || name.chars().any(char::is_control) {
        return Err(Error::malformed(field, "a name must be one line of 1 to 100 bytes"));
    }
    if TAKEN.contains(&name) || !names.insert(name) {
        return Err(Error::malformed(field, format!("the name `{}` is taken", short(name))));
    }
    Ok(())
}

fn check_ranks(field: &str, ranks: u32, list: &[Rank]) -> Result<()> {
    if list.is_empty() {
        return Err(Error::malformed(field, "it names no rank"));
    }
    let mut seen = BTreeSet::new();
    match list.iter().find(|&&rank| rank >= ranks || !seen.insert(rank)) {
        Some(rank) if *rank >= ranks => {
            Err(Error::malformed(field, format!("it names rank {rank}; ranks are 0 to {}", ranks - 1)))
        }
        Some(rank) => Err(Error::malformed(field, format!("it names rank {rank} twice"))),
        None => Ok(()),
    }
}

/// Checks what a node does; the number of ranks that it names. `field` names a key of the node.
///
/// # Errors
/// The first key that is outside its range, or names what there is not.
pub(super) fn check_work(parts: &WorkloadParts, work: &Work, field: &dyn Fn(&str) -> String) -> Result<usize> {
    let listed = |ranks: &Ranks| match ranks {
        Ranks::List(list) => check_ranks(&field("ranks"), parts.ranks, list).map(|()| list.len()),
        Ranks::Group(group) if *group >= parts.groups.len() => {
            Err(Error::malformed(field("ranks"), "it names a group that does not exist"))
        }
        _ => Ok(1),
    };
    match work {
        Work::Compute { ranks, duration_s } => {
            units::time_from_f64(&field("duration_s"), *duration_s)?;
            listed(ranks)
        }
        Work::Collective { over, size_bytes, .. } => {
            units::size_in_range(&field("size_bytes"), *size_bytes)?;
            let named = match over {
                Over::Axis { axis, within } => {
                    let Some(found) = parts.mesh.get(*axis) else {
                        return Err(Error::malformed(field("axis"), "it names an axis that the mesh does not have"));
                    };
                    if found.size < 2 {
                        return Err(Error::malformed(
                            field("axis"),
                            format!("`{}` has one rank; a collective needs at least two", short(&found.name)),
                        ));
                    }
                    let named = listed(within)?;
                    if *within != Ranks::All && parts.groups_over(over).is_empty() {
                        let reason = format!("these ranks hold no whole group of axis `{}`", short(&found.name));
                        return Err(Error::malformed(field("ranks"), reason));
                    }
                    Ok(named)
                }
                Over::Groups(groups) => check_groups(parts, groups, field),
            }?;
            check_matrix(parts, work, field)?;
            Ok(named)
        }
        Work::Send { pairs, size_bytes } => {
            units::size_in_range(&field("size_bytes"), *size_bytes)?;
            let (sources, destinations): (Vec<Rank>, Vec<Rank>) = pairs.iter().copied().unzip();
            check_ranks(&field("source"), parts.ranks, &sources)?;
            check_ranks(&field("destination"), parts.ranks, &destinations)?;
            if let Some((rank, _)) = pairs.iter().find(|(source, destination)| source == destination) {
                return Err(Error::malformed(field("destination"), format!("rank {rank} sends to itself")));
            }
            Ok(2 * pairs.len())
        }
    }
}

/// Checks that the matrix of a collective is one of its kind, groups and size.
fn check_matrix(parts: &WorkloadParts, work: &Work, field: &dyn Fn(&str) -> String) -> Result<()> {
    let Work::Collective { collective, over, size_bytes, matrix: Some(used), .. } = work else { return Ok(()) };
    let Some(named) = parts.matrices.get(used.matrix) else {
        return Err(Error::malformed(field("matrix"), "it names a matrix that does not exist"));
    };
    let (name, field) = (short(&named.name), field("matrix"));
    if *collective != Collective::AllToAll {
        let reason = format!("`{name}` goes with an all-to-all, and this is one of {}", collective.name());
        return Err(Error::malformed(field, reason));
    }
    let size = match over {
        Over::Axis { axis, .. } => parts.mesh[*axis].size as usize,
        Over::Groups(groups) => parts.groups[groups[0]].ranks.len(),
    };
    let places = named.matrix.rows().len();
    if places != size {
        let reason = format!("`{name}` is of {places} ranks, and the groups have {size}");
        return Err(Error::malformed(field, reason));
    }
    let bytes = named.matrix.buffer_bytes();
    if bytes != *size_bytes {
        let reason = format!("the busiest rank of `{name}` has {bytes} bytes, and `size_bytes` is {size_bytes}");
        return Err(Error::malformed(field, reason));
    }
    Ok(())
}

fn check_groups(parts: &WorkloadParts, groups: &[usize], field: &dyn Fn(&str) -> String) -> Result<usize> {
    let field = field("group");
    let mut seen = BTreeSet::new();
    let mut size = None;
    for &group in groups {
        let Some(group) = parts.groups.get(group) else {
            return Err(Error::malformed(field, "it names a group that does not exist"));
        };
        let ranks = &group.ranks;
        if ranks.len() < 2 {
            let reason = format!("`{}` has one rank; a collective needs at least two", short(&group.name));
            return Err(Error::malformed(field, reason));
        }
        if *size.get_or_insert(ranks.len()) != ranks.len() {
            return Err(Error::malformed(field, "groups that run at the same time must have the same number of ranks"));
        }
        if let Some(rank) = ranks.iter().find(|&&rank| !seen.insert(rank)) {
            let reason =
                format!("rank {rank} is in two of the groups; groups that run at the same time must be disjoint");
            return Err(Error::malformed(field, reason));
        }
    }
    if groups.is_empty() { Err(Error::malformed(field, "it names no group")) } else { Ok(groups.len()) }
}

/// A name as part of a message.
pub(super) fn short(name: &str) -> String {
    name.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(60).collect()
}
