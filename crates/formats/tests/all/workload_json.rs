//! Workloads survive JSON; altered text is a workload or one line of refusal.

use lightloom_formats::{workload_from_json, workload_to_json};
use model::{
    Axis, ByteMatrix, Collective, Inference, MatrixUse, NamedMatrix, Over, RankGroup, Ranks, Work, Workload,
    WorkloadNode, WorkloadParts,
};
use proptest::prelude::*;

/// Eight ranks, 4 × 2, and two groups that overlap.
fn any_workload() -> impl Strategy<Value = Workload> {
    let ranks = prop_oneof![
        Just(Ranks::All),
        Just(Ranks::Group(0)),
        prop::sample::subsequence((0..8).collect::<Vec<u32>>(), 1..8).prop_map(Ranks::List),
    ];
    let compute = (ranks, 0.0..1.0f64).prop_map(|(ranks, duration_s)| Work::Compute { ranks, duration_s });
    let over = prop_oneof![
        (0usize..2).prop_map(|axis| Over::Axis { axis, within: Ranks::All }),
        Just(Over::Axis { axis: 0, within: Ranks::Group(0) }),
        Just(Over::Groups(vec![1])),
        Just(Over::Groups(vec![0, 2])),
    ];
    let stream = prop::option::of("[a-z \"é]{1,4}");
    let collective = (prop::sample::select(Collective::ALL.to_vec()), over, 1u64..1 << 40, stream).prop_map(
        |(collective, over, size_bytes, stream)| Work::Collective {
            collective,
            over,
            size_bytes,
            matrix: None,
            stream,
        },
    );
    let unequal = any::<bool>().prop_map(|transposed| Work::Collective {
        collective: Collective::AllToAll,
        over: Over::Axis { axis: 1, within: Ranks::All },
        size_bytes: 9,
        matrix: Some(MatrixUse { matrix: 0, transposed }),
        stream: None,
    });
    let send = (1usize..5, 1u64..1 << 40).prop_map(|(pairs, size_bytes)| Work::Send {
        pairs: (0..pairs as u32).map(|place| (place, place + 4)).collect(),
        size_bytes,
    });
    let node =
        (prop_oneof![compute, collective, unequal, send], prop::collection::vec(any::<prop::sample::Index>(), 0..3));
    let inference = (0u64..3, 1u64..1 << 40, 0u64..3).prop_map(|(prompts, requests, steps)| {
        let has_both = prompts > 0 && steps > 0;
        (prompts + steps > 0).then(|| Inference {
            prompts,
            requests: if steps > 0 { requests } else { 0 },
            steps,
            first_token: (prompts > 0).then_some(0),
            caches: has_both.then_some(0),
        })
    });
    (prop::collection::vec(node, 1..8), inference).prop_map(|(drawn, inference)| {
        let nodes = drawn.into_iter().enumerate().map(|(index, (work, before))| {
            let mut after: Vec<usize> = before.iter().filter(|_| index > 0).map(|before| before.index(index)).collect();
            after.sort_unstable();
            after.dedup();
            WorkloadNode { id: format!("n{index} \"é\""), after, work }
        });
        let group = |name: &str, ranks: Vec<u32>| RankGroup { name: name.into(), ranks };
        Workload::new(WorkloadParts {
            name: Some("drawn".into()),
            ranks: 8,
            mesh: vec![Axis { name: "tp".into(), size: 4 }, Axis { name: "dp".into(), size: 2 }],
            groups: vec![group("low", vec![3, 2, 1, 0]), group("odd", vec![1, 3, 5]), group("high", vec![4, 5, 6, 7])],
            matrices: vec![NamedMatrix {
                name: "routes \"é\"".into(),
                matrix: ByteMatrix::new("matrix", vec![vec![2, 3], vec![7, 0]]).expect("a matrix"),
            }],
            same_bits: true,
            model_flops: Some(1e15),
            peak_flops: None,
            inference,
            nodes: nodes.collect(),
        })
        .expect("a workload")
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_back(workload in any_workload()) {
        prop_assert_eq!(workload_from_json(&workload_to_json(&workload)).unwrap(), workload);
    }

    #[test]
    fn altered_text_is_read_or_refused_in_one_line(workload in any_workload(), at in any::<prop::sample::Index>(), with in "[0-9a-z\\[\\]{},:\"-]{0,3}") {
        let text: Vec<char> = workload_to_json(&workload).chars().collect();
        let at = at.index(text.len());
        let altered: String = text[..at].iter().copied().chain(with.chars()).chain(text[at + 1..].iter().copied()).collect();
        if let Err(error) = workload_from_json(&altered) {
            prop_assert!(!error.to_string().contains('\n') && error.field().starts_with("workload"));
        }
    }
}

#[test]
fn wrong_graphs_name_what_is_wrong() {
    let node =
        |id: &str, after: &str| format!(r#"{{"id": "{id}", "kind": "compute", "duration_s": 1, "after": [{after}]}}"#);
    let in_stream = |id: &str, after: &str| {
        let collective = r#""kind": "collective", "collective": "all-reduce", "axis": "dp", "stream": "s""#;
        format!(r#"{{"id": "{id}", {collective}, "size_bytes": 1, "after": [{after}]}}"#)
    };
    let text = |nodes: &[String]| {
        format!(
            r#"{{"schema": "lightloom.workload/1", "ranks": 2, "mesh": {{"dp": 2}}, "nodes": [{}]}}"#,
            nodes.join(",")
        )
    };
    for (nodes, field, said) in [
        (
            vec![node("a", "\"b\""), node("b", "\"a\"")],
            "workload.nodes[0].after",
            "nodes wait for each other in a circle: `a` comes after `b`; `b` comes after `a`",
        ),
        (vec![node("b", ""), node("a", "\"a\"")], "workload.nodes[1].after", "circle: `a` comes after `a`"),
        (
            vec![in_stream("x", "\"w\""), node("v", ""), node("w", "\"y\""), in_stream("y", "")],
            "workload.nodes[0].after",
            "circle: `x` comes after `w`; `w` comes after `y`; `y` comes after `x`, in stream `s`",
        ),
        (vec![node("a", "\"c\"")], "workload.nodes[0].after", "`c` is no node"),
        (vec![node("a", ""), node("a", "")], "workload.nodes[1].id", "the id of another node"),
    ] {
        let error = workload_from_json(&text(&nodes)).unwrap_err();
        assert_eq!(error.field(), field);
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn wrong_values_name_their_key_and_what_it_takes() {
    let node = |keys: &str| format!(r#"{{"id": "a", "after": [], {keys}}}"#);
    let compute = |keys: &str| node(&format!(r#""kind": "compute", {keys}"#));
    let collective = |keys: &str| node(&format!(r#""kind": "collective", "collective": "all-reduce", {keys}"#));
    let send = |keys: &str| node(&format!(r#""kind": "send", {keys}"#));
    for (node, field, said) in [
        (compute(r#""duration_s": "1ms""#), ".duration_s", "it is \"1ms\"; it takes a number"),
        (compute(r#""ranks": [0]"#), "", "missing field `duration_s`"),
        (compute(r#""duration_s": 1, "ranks": {}"#), ".ranks", "it takes a list of ranks, or the name of a group"),
        (
            compute(r#""duration_s": 1, "size_bytes": 1"#),
            ".size_bytes",
            "a node of kind compute does not take this key",
        ),
        (compute(r#""duration_s": 1, "length": 1"#), ".length", "unknown field `length`, expected one of `id`, `kind`"),
        (
            collective(r#""axis": "dp", "size_bytes": 1.5"#),
            ".size_bytes",
            "it is `1.5`; it takes a whole number, 0 or above",
        ),
        (collective(r#""axis": "dp""#), "", "missing field `size_bytes`"),
        (collective(r#""group": 3, "size_bytes": 1"#), ".group", "it takes the name of a group, or a list of names"),
        (send(r#""source": "x", "destination": 1, "size_bytes": 1"#), ".source", "it takes a rank, or a list of ranks"),
        (send(r#""source": 0, "size_bytes": 1"#), "", "missing field `destination`"),
        (
            node(r#""kind": "sent""#),
            ".kind",
            "unknown name `sent`, did you mean `send`?; one of compute, collective, send",
        ),
        (node(r#""duration_s": 1"#), "", "missing field `kind`"),
        ("7".into(), "", "it is `7`; it takes an object"),
    ] {
        let text =
            format!(r#"{{"schema": "lightloom.workload/1", "ranks": 2, "mesh": {{"dp": 2}}, "nodes": [{node}]}}"#);
        let error = workload_from_json(&text).unwrap_err();
        assert_eq!(error.field(), format!("workload.nodes[0]{field}"), "{node}: {error}");
        assert!(error.to_string().contains(said), "{node}: {error}");
    }
    let text = r#"{"schema": "lightloom.workload/1", "ranks": 2, "model_flops": 1e300, "nodes": []}"#;
    let said = "workload.model_flops: 1e300 is not accepted; it takes a number above 0 and below 1e40";
    assert_eq!(workload_from_json(text).unwrap_err().to_string(), said);
}

/// Eight ranks in two groups of four along `ep`, which are `a` and `b` too, and an All-to-All by a matrix for each.
fn of_each(over: &str, matrix: &str) -> String {
    let rows = |bytes: u32| format!("[[0,{bytes},1,1],[1,0,1,1],[1,1,0,1],[1,1,1,0]]");
    format!(
        r#"{{"schema": "lightloom.workload/1", "ranks": 8, "mesh": {{"tp": 2, "ep": 4}},
        "groups": {{"a": [0, 2, 4, 6], "b": [1, 3, 5, 7]}}, "matrices": {{"x": {}, "y": {}}}, "nodes": [
        {{"id": "m", "kind": "collective", "collective": "all-to-all", {over}, "matrix": {matrix}, "after": []}},
        {{"id": "n", "kind": "compute", "duration_s": 1, "after": ["m"]}}]}}"#,
        rows(10),
        rows(20),
    )
}

#[test]
fn a_list_of_matrices_is_one_node_for_each_group() {
    for over in [r#""axis": "ep""#, r#""group": ["a", "b"]"#] {
        let made = workload_from_json(&of_each(over, r#"["x", "y"]"#)).unwrap();
        let ids: Vec<&str> = made.nodes.iter().map(|node| node.id.as_str()).collect();
        assert_eq!(ids, ["m.0", "m.1", "n"]);
        assert_eq!(made.nodes[2].after, [0, 1]);
        assert_eq!([made.groups_of(0), made.groups_of(1)], [[vec![0, 2, 4, 6]], [vec![1, 3, 5, 7]]]);
        let first_block = |node: usize| made.matrix_of(node).unwrap().rows()[0][1];
        assert_eq!([first_block(0), first_block(1)], [10, 20]);
        assert_eq!(workload_from_json(&workload_to_json(&made)).unwrap(), made);
    }
}

#[test]
fn lists_of_matrices_that_do_not_go_with_the_groups_are_refused() {
    let axis = r#""axis": "ep""#;
    for (over, matrix, place, reason) in [
        (axis, r#"["x"]"#, "matrix", "its length is 1; it takes a matrix for each group, 2 here"),
        (axis, "[]", "matrix", "its length is 0; it takes a matrix for each group, 2 here"),
        (axis, r#"["x", "z"]"#, "matrix", "z"),
        (axis, "3", "matrix", "it takes the name of a matrix, or a list of one for each group"),
        (r#""axis": "ep", "ranks": "a""#, r#"["x", "y"]"#, "ranks", "goes with all groups of an axis"),
        (r#""axis": "pp""#, r#"["x", "y"]"#, "axis", "pp"),
        (r#""group": "a""#, r#"["x", "y"]"#, "matrix", "its length is 2; it takes a matrix for each group, 1 here"),
        (r#""stream": "s""#, r#"["x", "y"]"#, "matrix", "there must be either `axis` or `group`"),
    ] {
        let error = workload_from_json(&of_each(over, matrix)).unwrap_err().to_string();
        assert!(error.starts_with(&format!("workload.nodes[0].{place}")), "{error}");
        assert!(error.contains(reason) && !error.contains('\n'), "{error}");
    }
    let named = of_each(axis, r#"["x", "y"]"#).replacen(
        r#""nodes""#,
        r#""inference": {"prompts": 1, "requests": 0, "steps": 0, "first_token": "m"}, "nodes""#,
        1,
    );
    let error = workload_from_json(&named).unwrap_err().to_string();
    assert!(error.starts_with("workload.inference.first_token: it names a node with a matrix for each"), "{error}");
}
