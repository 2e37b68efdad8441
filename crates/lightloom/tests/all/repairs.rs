//! Plans repaired after single faults: [`repair`] returns only what `verify` accepts, which knows nothing of repairs.

use std::sync::Arc;

use collectives::Options;
use lightloom::{Repaired, Request, Workload, plan, repair, verify_plan};
use model::{Collective, Fault, Faults, Initial, Plan, Shape, Topology};
use planners::{Cache, KeptCircuits};
use proptest::prelude::*;

use crate::faults::fabric;

fn request(gpus: u32, ports: u32, collective: Collective, size_bytes: u64, cache: &Arc<Cache>) -> Request {
    crate::faults::request(fabric(gpus, ports, Faults::default(), Initial::Free), collective, size_bytes, cache)
}

fn planned(gpus: u32, ports: u32, collective: Collective, size_bytes: u64) -> Plan {
    plan(&request(gpus, ports, collective, size_bytes, &Arc::default())).unwrap()
}

fn repaired(before: &Plan, faults: &[Fault]) -> model::Result<Repaired> {
    repair(before, &faults.iter().copied().collect())
}

/// Every single fault of a fabric.
fn every_fault(gpus: u32, ports: u32) -> Vec<Fault> {
    let mut all: Vec<Fault> = (0..ports).map(Fault::Switch).collect();
    for gpu in 0..gpus {
        all.push(Fault::Gpu(gpu));
        all.extend((0..ports).map(|port| Fault::Transmitter { gpu, port }));
        all.extend((0..ports).map(|port| Fault::Receiver { gpu, port }));
        all.extend((gpu + 1..gpus).map(|other| Fault::Link(gpu, other)));
        all.extend((0..gpus).filter(|&other| other != gpu).map(|other| Fault::OneWay(gpu, other)));
    }
    all
}

/// Time over that of a plan made anew; `None` where there is none of either.
fn over_anew(before: &Plan, faults: &[Fault]) -> Option<f64> {
    let found = match repaired(before, faults) {
        Ok(found) => found,
        Err(error) => {
            assert_eq!(error.field(), "failed", "{faults:?}: {error}");
            return None;
        }
    };
    assert!(verify_plan(&found.plan).passed());
    assert_eq!(found.plan.collective(), before.collective());
    assert!(found.plan.bound.seconds <= found.plan.total_s());
    for fault in faults {
        assert!(found.plan.fabric.shape.faults().all().contains(fault));
    }
    Some(found.plan.total_s() / plan(&found.request).unwrap().total_s())
}

/// Single faults of 16 GPUs, each 31st of all, on one to four ports and for every collective.
#[test]
#[ignore = "large: make test-large"]
fn single_faults_are_repaired_in_about_the_time_of_a_plan_made_anew() {
    let mut ratios = Vec::new();
    for ports in 1..=4 {
        for (skipped, &collective) in Collective::ALL.iter().enumerate() {
            let before = planned(16, ports, collective, 4 << 20);
            for fault in every_fault(16, ports).into_iter().skip(skipped).step_by(31) {
                let ratio = over_anew(&before, &[fault]);
                assert!(ratio.is_none_or(|ratio| ratio < 2.0), "{collective:?} on {ports} ports, {fault}: {ratio:?}");
                ratios.extend(ratio);
            }
        }
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!(mean <= 1.05 && ratios.len() > 400, "{mean} over {} faults", ratios.len());
}

/// A ring has pairs that no circuit joins, for any GPU: exchanging two roles moves at most their four circuits.
#[test]
fn a_dead_link_of_a_ring_changes_the_circuits_of_two_roles_and_no_time() {
    let mut asked = request(16, 1, Collective::AllGather, 64 << 20, &Arc::default());
    asked.planner = Some("bvn".into());
    let before = plan(&asked).unwrap();
    let links = before.topologies[before.steps[0].topology].expanded();
    let found =
        repaired(&before, &[Fault::Link(links[0].src.min(links[0].dst), links[0].src.max(links[0].dst))]).unwrap();
    assert!((found.plan.total_s() / before.total_s() - 1.0).abs() < 1e-12);
    assert!(!found.is_anew && found.circuits.kept >= 12 && found.circuits.kept + found.circuits.new == 16);
}

#[test]
fn faults_that_do_not_concern_a_plan_leave_it_as_it_is() {
    let before = planned(16, 2, Collective::AllGather, 1 << 20);
    let joined = |src: u32, dst: u32| {
        before.topologies.iter().any(|on| on.expanded().iter().any(|link| (link.src, link.dst) == (src, dst)))
    };
    let unused = (1..16).find(|&dst| !joined(0, dst)).unwrap();
    let found = repaired(&before, &[Fault::OneWay(0, unused)]).unwrap();
    assert_eq!(found.plan.steps, before.steps);
    assert_eq!(found.circuits.new, 0);
    assert!(verify_plan(&found.plan).passed());
}

#[test]
fn faults_add_up() {
    let before = planned(8, 2, Collective::AllReduce, 1 << 20);
    let first = repaired(&before, &[Fault::Transmitter { gpu: 3, port: 1 }]).unwrap();
    let second = repaired(&first.plan, &[Fault::Gpu(5)]).unwrap();
    let third = repaired(&second.plan, &[Fault::Gpu(0), Fault::Link(1, 7)]).unwrap();
    assert_eq!(third.plan.fabric.shape.faults().to_string(), "gpu:0,gpu:5,port:3.1,link:1-7");
    assert_eq!(third.plan.fabric.shape.subset(), Some(&[1, 2, 3, 4, 6, 7][..]));
    assert!(second.is_anew && third.is_anew && !first.is_anew && verify_plan(&third.plan).passed());
}

#[test]
fn a_root_that_fails_is_refused_and_others_keep_it() {
    let mut asked = request(8, 2, Collective::Broadcast, 1 << 20, &Arc::default());
    let options = Options { root: Some(5), ..Options::default() };
    asked.workload = Workload::Collective { collective: Collective::Broadcast, algorithm: None, options };
    let before = plan(&asked).unwrap();
    let refused = repaired(&before, &[Fault::Gpu(5)]).err().unwrap().to_string();
    assert!(refused.ends_with("it takes faults that leave GPU 5, the root of the collective"), "{refused}");
    let found = repaired(&before, &[Fault::Gpu(2)]).unwrap();
    assert_eq!(found.plan.chunks.root(), Some(4));
    assert_eq!(found.plan.fabric.shape.gpu_of(4), 5);
}

#[test]
fn circuits_are_kept_where_the_most_alike_topology_has_them() {
    let shape = Shape::new(4, &[], 2).unwrap();
    let topology = |links: &[(u32, u32, u32)]| {
        let links = links.iter().map(|&(src, dst, count)| model::Link { src, dst, count });
        Topology::new("given", model::Translations::trivial(4), links).unwrap()
    };
    let before = [topology(&[(0, 1, 2), (1, 2, 1)]), topology(&[(2, 3, 1)])];
    let own = [topology(&[(0, 1, 1), (1, 3, 1), (2, 3, 1)])];
    assert_eq!(KeptCircuits::of((&shape, &own), (&shape, &before)), KeptCircuits { kept: 1, new: 2 });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(24)))]

    #[test]
    fn several_faults_are_repaired_or_refused_as_planning_refuses_them(
        ports in 1_u32..4, collective in prop::sample::select(Collective::ALL), log_size in 10_u32..28,
        chosen in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
    ) {
        let all = every_fault(10, ports);
        let faults: Vec<Fault> = chosen.iter().map(|one| all[one.index(all.len())]).collect();
        over_anew(&planned(10, ports, collective, 1 << log_size), &faults);
    }
}
