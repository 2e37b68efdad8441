//! Paths of least launched power, where shortest paths are not they.

use lightloom_optics::mesh::{Mesh, MeshSettings, route};
use lightloom_optics::{Circuit, Grid};
use model::LaunchPower;

fn mesh(change: impl FnOnce(&mut MeshSettings)) -> Mesh {
    let mut settings = MeshSettings::of(Grid::new("mzis", 2, 3).unwrap()).unwrap();
    settings.launch_power = Some(LaunchPower::of(0.0));
    change(&mut settings);
    Mesh::new(settings).unwrap()
}

fn circuits(pairs: &[(u32, u32)]) -> Vec<Circuit> {
    pairs.iter().map(|&(source, destination)| Circuit { source, destination }).collect()
}

fn total_mw(mesh: &Mesh, pairs: &[(u32, u32)]) -> f64 {
    let power = mesh.settings().launch_power.unwrap();
    let routing = route(mesh, &circuits(pairs), 0).unwrap();
    let losses = routing.routes.iter().map(|route| mesh.loss_db(mesh.passed(&route.as_ref().unwrap().cells).unwrap()));
    losses.map(|loss_db| power.launch_mw(loss_db)).sum()
}

#[test]
fn two_circuits_that_want_one_waveguide_take_the_ways_that_launch_least() {
    // Rows 0 1 2 and 3 4 5, a place each way; a step loses 0.65 dB. Both circuits want the waveguide from 1 to 2.
    let step_mw = |steps: i32| 10_f64.powf(0.065 * f64::from(steps));
    // One of them goes around: 0 3 4 5 2 takes four steps, next to one step of the other; 1 4 5 2 would take three,
    // next to two.
    let ways_mw = [step_mw(4) + step_mw(1), step_mw(2) + step_mw(3)];
    let least_mw = ways_mw[0].min(ways_mw[1]);
    for pairs in [[(0, 2), (1, 2)], [(1, 2), (0, 2)]] {
        assert!((total_mw(&mesh(|_| ()), &pairs) - least_mw).abs() < 1e-9);
    }
}

#[test]
fn a_budget_that_no_way_keeps_to_is_said_with_the_sum() {
    // The best ways are two steps from tile 0 and three from tile 1.
    let three_mw = 10_f64.powf(0.195);
    let over = |max_tile_mw: f64| {
        let mesh = mesh(|settings| settings.launch_power.as_mut().unwrap().max_tile_mw = Some(max_tile_mw));
        route(&mesh, &circuits(&[(1, 2), (0, 2)]), 0).unwrap().over_budget
    };
    assert_eq!(over(three_mw * 1.01), None);
    let said = over(three_mw * 0.99).unwrap();
    assert!((said.launch_mw - three_mw).abs() < 1e-9);
    // Alone, the circuit of tile 1 would take one step.
    assert!((said.least_mw - 10_f64.powf(0.065)).abs() < 1e-9);
    assert_eq!(said.place.to_string(), "tile 1");
}

#[test]
fn the_limit_of_a_laser_is_a_limit_of_loss() {
    let limited = |max_launch_dbm: f64| {
        let mesh = mesh(|settings| settings.launch_power.as_mut().unwrap().max_launch_dbm = Some(max_launch_dbm));
        route(&mesh, &circuits(&[(0, 5)]), 0).unwrap().routed()
    };
    // Three steps of 0.65 dB at a sensitivity of 0 dBm.
    assert_eq!((limited(1.95), limited(1.94)), (1, 0));
}
