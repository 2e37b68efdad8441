//! The delay of a hop where fibres have lengths, or pairs of GPUs delays of their own, by code of its own.

use model::{Plan, Topology};

/// The hop delay on a topology, s: the fabric's and light through its longest fibre, or the largest of the pairs that
/// its circuits join.
pub(crate) fn hop_s(plan: &Plan, topology: &Topology) -> f64 {
    let shape = &plan.fabric.shape;
    let symmetry = topology.symmetry();
    if let Some(pairs) = shape.pairs() {
        let all =
            symmetry.elements().into_iter().flat_map(|shift| topology.links().iter().map(move |link| (shift, link)));
        let ends = all.map(|(shift, link)| [link.src, link.dst].map(|rank| symmetry.apply(shift, rank)));
        return ends.fold(plan.fabric.hop_delay_s, |largest_s, [src, dst]| largest_s.max(pairs.hop_delay_s(src, dst)));
    }
    let Some(positions) = shape.positions() else { return plan.fabric.hop_delay_s };
    let place = |rank: u32| positions.place_m(shape.subset().map_or(rank, |gpus| gpus[rank as usize]));
    let length_m = |from: [f64; 3], to: [f64; 3]| (0..3).fold(0.0_f64, |far, axis| far.hypot(from[axis] - to[axis]));
    let mut longest_m = 0.0_f64;
    for link in topology.links() {
        for shift in symmetry.elements() {
            let [from, to] = [link.src, link.dst].map(|rank| place(symmetry.apply(shift, rank)));
            let metres = match positions.switch_m() {
                None => length_m(from, to),
                Some(switch) => length_m(from, switch) + length_m(to, switch),
            };
            longest_m = longest_m.max(metres);
        }
    }
    plan.fabric.hop_delay_s + longest_m * positions.delay_s_per_m()
}
