//! Tables: read, or refused in one line that names the line.

use nccl_tuner_lightloom::Table;
use proptest::prelude::*;

const GOOD: &str = "lightloom-nccl-tuner 1\n# a remark\n\nring all-reduce 8 ring auto 0 84 22.8\nmesh all-reduce 8 tree ll128 2 9 40\n";

#[test]
fn a_table_is_read() {
    let table = Table::parse(GOOD).expect("a table");
    assert_eq!(table.rows.len(), 2);
    assert_eq!((table.rows[0].collective, table.rows[0].algorithm, table.rows[0].protocol), (4, 1, None));
    assert_eq!((table.rows[1].algorithm, table.rows[1].protocol, table.rows[1].channels), (0, Some(1), 2));
    assert!((table.rows[0].time_us(2 << 20) - (84.0 + 45.6)).abs() < 1e-9);
    assert_eq!(table.on(None).expect("the first")[0].topology, "ring");
    assert_eq!(table.on(Some("mesh")).expect("named")[0].algorithm, 0);
    assert_eq!(table.on(Some("torus")).expect_err("unknown"), "the table has no topology `torus`");
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let refused = |from: &str, to: &str| Table::parse(&GOOD.replacen(from, to, 1)).expect_err("refused");
    assert_eq!(refused("tuner 1", "tuner 2"), "line 1: it is not `lightloom-nccl-tuner 1`");
    assert_eq!(
        refused("all-reduce 8 ring", "all-to-all 8 ring"),
        "line 4: collective `all-to-all`: it takes broadcast, reduce, all-gather, reduce-scatter, all-reduce"
    );
    assert_eq!(refused("ring auto", "bruck auto").split(':').nth(1), Some(" algorithm `bruck`"));
    assert_eq!(refused("auto", "fast").split(':').nth(1), Some(" protocol `fast`"));
    assert_eq!(refused(" 22.8", ""), "line 4: it has 7 cells, not 8");
    for wrong in ["-1", "nan", "inf", "1e99", "x"] {
        assert!(refused("22.8", wrong).starts_with("line 4: us_per_mib"), "{wrong}");
    }
    assert!(refused("auto 0", "auto 65").starts_with("line 4: channels `65`"));
    assert!(refused("8 ring", "1 ring").starts_with("line 4: ranks `1`"));
    assert_eq!(Table::parse("lightloom-nccl-tuner 1\n").expect_err("empty"), "the table has no rows");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_in_one_line(text in "\\PC{0,200}", place in 0..GOOD.len(), keeps in any::<bool>()) {
        let start = if keeps { &GOOD[..place] } else { "" };
        if let Err(words) = Table::parse(&format!("{start}{text}")) {
            prop_assert!(!words.contains('\n') && !words.is_empty());
        }
    }
}
