//! The status that each side gets: in order, at the end, and when the other side is gone.

use std::thread;
use std::time::{Duration, Instant};

use lightloom_gate::{Controller, LightloomGateStatus as Status, Progress, Rank};

use crate::folder::Folder;

const SECOND_NS: u64 = 1_000_000_000;
const FOREVER: u64 = u64::MAX;

#[test]
fn a_step_waits_for_its_circuits_and_circuits_for_all_ranks() {
    let folder = Folder::new();
    let controller = Controller::create(&folder.gate(), 2, 3).expect("a gate");
    let ranks = [0, 1].map(|rank| Rank::open(&folder.gate(), rank, 0).expect("it opens"));
    assert_eq!(ranks[0].steps(), 3);
    assert_eq!(ranks[0].wait_for(0, 1_000_000), Err(Status::TimedOut));
    assert_eq!(ranks[0].done(0), Err(Status::WrongInput), "its circuits were never up");
    controller.publish(2);
    assert_eq!(ranks[0].wait_for(1, 0), Ok(()));
    assert_eq!(ranks[0].done(1), Ok(()), "and with it step 0");
    assert_eq!(controller.wait_done(2, 0), Progress::Waiting);
    assert_eq!(ranks[1].done(0), Ok(()));
    assert_eq!(controller.wait_done(1, 0), Progress::Done);
    assert_eq!(controller.wait_done(2, 0), Progress::Waiting);
    assert_eq!(ranks[1].done(1), Ok(()));
    assert_eq!(controller.wait_done(2, 0), Progress::Done);
    assert_eq!((controller.joined(), controller.done()), (2, 2));
    drop(ranks);
    assert_eq!(controller.wait_done(3, 0), Progress::AllLeft);
}

#[test]
fn a_rank_that_leaves_is_missed_only_where_another_waits() {
    let folder = Folder::new();
    let controller = Controller::create(&folder.gate(), 2, 1).expect("a gate");
    let [second, first] = [0, 1].map(|rank| Rank::open(&folder.gate(), rank, 0).expect("it opens"));
    controller.publish(1);
    drop(first);
    assert_eq!(controller.wait_done(1, 0), Progress::Waiting);
    thread::scope(|scope| {
        let waits = scope.spawn(|| second.wait_for(1, FOREVER));
        assert_eq!(controller.wait_done(1, FOREVER), Progress::Lost(1));
        controller.end(Status::RankLost, 1);
        assert_eq!(waits.join().expect("a rank"), Err(Status::RankLost));
    });
    drop(controller);
    assert_eq!((second.wait_for(1, FOREVER), second.lost()), (Err(Status::RankLost), Some(1)), "also after its end");
}

#[test]
fn the_first_end_is_told_to_ranks_that_wait_and_that_come_later() {
    let folder = Folder::new();
    let controller = Controller::create(&folder.gate(), 1, 1).expect("a gate");
    let rank = Rank::open(&folder.gate(), 0, 0).expect("it opens");
    controller.publish(1);
    controller.end(Status::SwitchFailed, 0);
    drop(controller);
    assert_eq!(rank.wait_for(0, FOREVER), Ok(()), "circuits that are up stay");
    assert_eq!(rank.wait_for(1, FOREVER), Err(Status::SwitchFailed));
    assert!(!folder.gate().exists());
    assert_eq!(Rank::open(&folder.gate(), 0, 5_000_000).err(), Some(Status::TimedOut));
}

#[test]
fn wrong_gates_ranks_and_paths_are_refused() {
    let folder = Folder::new();
    let refusal = |ranks| Controller::create(&folder.gate(), ranks, 1).expect_err("refused").to_string();
    assert!(refusal(0).starts_with("ranks: 0 is not accepted"), "{}", refusal(0));
    let controller = Controller::create(&folder.gate(), 1, 1).expect("a gate");
    assert!(refusal(1).contains("another controller serves this gate"), "{}", refusal(1));
    assert_eq!(Rank::open(&folder.gate(), 1, 0).err(), Some(Status::WrongInput));
    let rank = Rank::open(&folder.gate(), 0, 0).expect("it opens");
    assert_eq!(Rank::open(&folder.gate(), 0, 0).err(), Some(Status::WrongInput), "it is open");
    drop(rank);
    assert_eq!(Rank::open(&folder.gate(), 0, 0).err(), Some(Status::WrongInput), "it has left");
    drop(controller);
    std::fs::write(folder.gate(), vec![7; 4096]).expect("a file");
    assert!(refusal(1).contains("is no gate"), "{}", refusal(1));
    assert_eq!(Rank::open(&folder.gate(), 0, 0).err(), Some(Status::WrongInput));
    assert_eq!(std::fs::read(folder.gate()).expect("it is there"), vec![7; 4096]);
}

#[test]
fn a_gate_opens_when_its_controller_comes() {
    let folder = Folder::new();
    thread::scope(|scope| {
        let opens = scope.spawn(|| Rank::open(&folder.gate(), 0, 60 * SECOND_NS).map(|rank| rank.steps()));
        thread::sleep(Duration::from_millis(5));
        let controller = Controller::create(&folder.gate(), 1, 9).expect("a gate");
        assert_eq!(opens.join().expect("a rank"), Ok(9));
        assert_eq!(controller.wait_done(1, FOREVER), Progress::AllLeft);
    });
}

#[test]
fn a_timeout_is_kept() {
    let folder = Folder::new();
    let _controller = Controller::create(&folder.gate(), 1, 1).expect("a gate");
    let rank = Rank::open(&folder.gate(), 0, 0).expect("it opens");
    let began = Instant::now();
    assert_eq!(rank.wait_for(0, SECOND_NS / 5), Err(Status::TimedOut));
    assert!(began.elapsed() >= Duration::from_millis(200));
}
