//! MSCCL programs become schedules that compute their collective, and anything else is refused.

use std::fmt::Write;

use lightloom_formats::schedule_from_msccl;
use model::{Collective, Op, Schedule};
use proptest::prelude::*;

/// `type srcbuf srcoff dstbuf dstoff cnt [depid deps]`, one per step; `send recv chan` of the block before it.
type Block<'a> = (&'a str, Vec<String>);

fn program(header: &str, gpus: &[(&str, Vec<Block<'_>>)]) -> String {
    let mut xml = format!("<algo name=\"test\" proto=\"Simple\" nchannels=\"1\" ngpus=\"{}\" {header}>\n", gpus.len());
    for (id, (sizes, blocks)) in gpus.iter().enumerate() {
        let sizes: Vec<&str> = sizes.split(' ').collect();
        writeln!(xml, r#"<gpu id="{id}" i_chunks="{}" o_chunks="{}" s_chunks="{}">"#, sizes[0], sizes[1], sizes[2])
            .unwrap();
        for (block, (peers, steps)) in blocks.iter().enumerate() {
            let peers: Vec<&str> = peers.split(' ').collect();
            writeln!(xml, r#"<tb id="{block}" send="{}" recv="{}" chan="{}">"#, peers[0], peers[1], peers[2]).unwrap();
            for (s, step) in steps.iter().enumerate() {
                let mut f: Vec<&str> = step.split(' ').collect();
                if f.len() == 6 {
                    f.extend(["-1", "-1"]);
                }
                writeln!(
                    xml,
                    r#"<step s="{s}" type="{}" srcbuf="{}" srcoff="{}" dstbuf="{}" dstoff="{}" cnt="{}" depid="{}" deps="{}" hasdep="0"/>"#,
                    f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]
                )
                .unwrap();
            }
            xml.push_str("</tb>\n");
        }
        xml.push_str("</gpu>\n");
    }
    xml + "</algo>\n"
}

fn steps(list: &[&str]) -> Vec<String> {
    list.iter().map(|step| step.to_string()).collect()
}

/// Ring AllReduce, one thread block a GPU, as msccl-tools writes it.
fn ring(n: u32) -> String {
    let gpus: Vec<String> = (0..n).map(|rank| format!("{} {} 0", (rank + 1) % n, (rank + n - 1) % n)).collect();
    let sizes = format!("{n} 0 0");
    let at = |rank: u32, back: u32| (rank + 2 * n - back) % n;
    let gpus: Vec<(&str, Vec<Block<'_>>)> = gpus
        .iter()
        .zip(0..n)
        .map(|(peers, rank)| {
            let mut list = Vec::new();
            for i in 0..2 * (n - 1) {
                let kind = if i < n - 1 { "rrc" } else { "r" };
                let (out, into) = (at(rank, i), at(rank, i + 1));
                list.push(format!("s i {out} i {out} 1"));
                list.push(format!("{kind} i {into} i {into} 1"));
            }
            (sizes.as_str(), vec![(peers.as_str(), list)])
        })
        .collect();
    program(&format!(r#"nchunksperloop="{n}" coll="allreduce" inplace="1""#), &gpus)
}

fn valid(xml: &str) -> Schedule {
    let schedule = schedule_from_msccl(xml).unwrap();
    assert_eq!(verify::schedule(&schedule).first_failure(), None);
    schedule
}

/// Source, destination, what is done, chunks.
type Sent = (u32, u32, Op, Vec<u32>);

fn pairs(schedule: &Schedule) -> Vec<Vec<Sent>> {
    let of = |step: &model::Step| step.transfers().iter().map(|t| (t.src, t.dst, t.op, t.chunks.clone())).collect();
    schedule.steps().iter().map(of).collect()
}

/// A file by others, `None` where the data are not at hand.
fn by_others(name: &str) -> Option<String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let named = std::env::var("LIGHTLOOM_DATA").ok();
    let mut folders = named.into_iter().chain([format!("{root}/data"), format!("{root}/../shared/data")]);
    let text = folders.find_map(|folder| std::fs::read_to_string(format!("{folder}/msccl/{name}")).ok());
    if text.is_none() {
        #[allow(clippy::print_stderr, reason = "says what was not tested")]
        {
            eprintln!("no data/msccl/{name} (make data): only our own programs are tested");
        }
    }
    text
}

#[test]
fn a_ring_has_two_n_minus_two_full_steps() {
    for n in [2, 3, 5, 8] {
        let schedule = valid(&ring(n));
        assert_eq!(schedule.steps().len() as u32, 2 * (n - 1));
        for step in schedule.steps() {
            assert_eq!(step.transfers().len() as u32, n);
            assert!(step.traffic().symmetry().is_transitive());
            assert_eq!(step.share(), 1.0 / f64::from(n));
        }
    }
}

#[test]
fn the_ring_written_by_others_is_the_ring() {
    let Some(xml) = by_others("ring_allreduce_8gpus.xml") else { return };
    let schedule = valid(&xml);
    assert_eq!(schedule.collective(), Collective::AllReduce);
    assert_eq!(pairs(&schedule), pairs(&valid(&ring(8))));
}

#[test]
fn a_synthesised_all_gather_written_by_others_is_one() {
    let Some(xml) = by_others("amd_32gpus.xml") else { return };
    let schedule = valid(&xml);
    assert_eq!((schedule.collective(), schedule.ranks(), schedule.chunks().count()), (Collective::AllGather, 32, 64));
    let delivered: usize = schedule.steps().iter().flat_map(|step| step.transfers()).map(|t| t.chunks.len()).sum();
    assert_eq!(delivered, 32 * 62, "every GPU receives each chunk that it lacks once");
    // The longest chain of the file under the module's rules, relaxed to a fixed point by a separate program.
    assert_eq!(schedule.steps().len(), 18);
}

#[test]
fn all_pairs_through_scratch_is_a_reduction() {
    // Everyone sends half of its input to the other's scratch; it is added there, and the sum sent back.
    let gpu = |own: u32, other: u32| {
        vec![
            format!("s i {other} s 0 1"),
            "r i 0 s 0 1".into(),
            format!("re s 0 i {own} 1"),
            format!("s i {own} i {own} 1"),
            format!("r i {other} i {other} 1"),
        ]
    };
    let gpus = [("2 0 1", vec![("1 1 0", gpu(0, 1))]), ("2 0 1", vec![("0 0 0", gpu(1, 0))])];
    let schedule = valid(&program(r#"nchunksperloop="2" coll="allreduce" inplace="1""#, &gpus));
    let expected = [
        vec![(0, 1, Op::Reduce, vec![1]), (1, 0, Op::Reduce, vec![0])],
        vec![(0, 1, Op::Copy, vec![0]), (1, 0, Op::Copy, vec![1])],
    ];
    assert_eq!(pairs(&schedule), expected);
}

#[test]
fn fused_steps_forward_in_the_next_step() {
    // A chain of three: 0 → 1 → 2 adds up (rrs at 1, rrc at 2), then 2 → 0 → 1 hands the sum on (rcs at 0).
    let gpus = [
        ("1 0 0", vec![("1 2 0", steps(&["s i 0 i 0 1", "rcs i 0 i 0 1"]))]),
        ("1 0 0", vec![("2 0 0", steps(&["rrs i 0 i 0 1", "r i 0 i 0 1"]))]),
        ("1 0 0", vec![("0 1 0", steps(&["rrcs i 0 i 0 1"]))]),
    ];
    let schedule = valid(&program(r#"nchunksperloop="1" coll="allreduce" inplace="1""#, &gpus));
    let line: Vec<(u32, u32, Op)> =
        pairs(&schedule).into_iter().map(|step| (step[0].0, step[0].1, step[0].2)).collect();
    let (copy, reduce) = (Op::Copy, Op::Reduce);
    assert_eq!(line, [(0, 1, reduce), (1, 2, reduce), (2, 0, copy), (0, 1, copy)]);
    assert!(schedule.chunks().as_buffer().is_some(), "one chunk does not divide into three shares");
}

#[test]
fn out_of_place_collectives_name_chunks_by_their_place() {
    let two = |sizes: &'static str, a: &[&str], b: &[&str]| {
        let block = |peers, list| (peers, steps(list));
        [(sizes, vec![block("1 1 0", a)]), (sizes, vec![block("0 0 0", b)])]
    };
    let out = |coll: &str| format!(r#"nchunksperloop="2" coll="{coll}" inplace="0" outofplace="1""#);

    let gather = two(
        "1 2 0",
        &["cpy i 0 o 0 1", "s i 0 o 0 1", "r i 0 o 1 1"],
        &["cpy i 0 o 1 1", "s o 1 o 1 1", "r i 0 o 0 1"],
    );
    assert_eq!(
        pairs(&valid(&program(&out("allgather"), &gather))),
        [[(0, 1, Op::Copy, vec![0]), (1, 0, Op::Copy, vec![1])]]
    );

    let exchange = two(
        "2 2 0",
        &["cpy i 0 o 0 1", "s i 1 o 0 1", "r i 0 o 1 1"],
        &["cpy i 1 o 1 1", "s i 0 o 1 1", "r i 0 o 0 1"],
    );
    assert_eq!(
        pairs(&valid(&program(&out("alltoall"), &exchange))),
        [[(0, 1, Op::Copy, vec![1]), (1, 0, Op::Copy, vec![2])]]
    );

    let scatter = two("2 1 0", &["cpy i 0 o 0 1", "s i 1 o 0 1", "rrc o 0 o 0 1"], &["s i 0 o 0 1", "rrc i 1 o 0 1"]);
    assert_eq!(
        pairs(&valid(&program(&out("reduce_scatter"), &scatter))),
        [[(0, 1, Op::Reduce, vec![1]), (1, 0, Op::Reduce, vec![0])]]
    );

    let broadcast = two("2 2 0", &["cpy i 0 o 0 2", "s i 0 o 0 2"], &["r o 0 o 0 2"]);
    assert_eq!(pairs(&valid(&program(&out("broadcast"), &broadcast))), [[(0, 1, Op::Copy, vec![0, 1])]]);
}

#[test]
fn a_wait_on_a_receive_separates_steps_and_order_alone_does_not() {
    let header = r#"nchunksperloop="2" coll="allgather" inplace="1""#;
    let free = [
        ("1 2 0", vec![("1 -1 0", steps(&["s o 0 o 0 1"])), ("-1 1 0", steps(&["r o 1 o 1 1"]))]),
        ("1 2 0", vec![("0 -1 0", steps(&["s o 1 o 1 1"])), ("-1 0 0", steps(&["r o 0 o 0 1"]))]),
    ];
    assert_eq!(valid(&program(header, &free)).steps().len(), 1);
    let mut waits = free.clone();
    waits[1].1[0].1 = steps(&["nop i 0 o 0 0 1 0", "s o 1 o 1 1"]);
    assert_eq!(valid(&program(header, &waits)).steps().len(), 2);
}

#[test]
fn a_wait_on_a_local_step_is_a_wait_on_the_receive_before_it() {
    // GPU 1 sends its own chunk on to GPU 2 only once GPU 0's is stored, through scratch; if
    // only the order counts, it need not wait.
    let all_gather = |wait: &str| {
        let to_all = |own: usize, others: [usize; 2]| {
            others.map(|to| (format!("{to} -1 0"), steps(&[&format!("s o {own} o {own} 1")]))).to_vec()
        };
        let from = |src: usize| (format!("-1 {src} 0"), steps(&[&format!("r o {src} o {src} 1")]));
        let mut one = to_all(1, [0, 2]);
        one[1].1 = steps(&[&format!("s o 1 o 1 1{wait}")]);
        one.push(("-1 0 0".into(), steps(&["r o 0 s 0 1", "cpy s 0 o 0 1"])));
        one.push(from(2));
        let blocks = [
            [to_all(0, [1, 2]), vec![from(1), from(2)]].concat(),
            one,
            [to_all(2, [0, 1]), vec![from(0), from(1)]].concat(),
        ];
        let gpus: Vec<(&str, Vec<Block<'_>>)> =
            blocks.iter().map(|b| ("1 3 1", b.iter().map(|(p, s)| (p.as_str(), s.clone())).collect())).collect();
        program(r#"nchunksperloop="3" coll="allgather" inplace="1""#, &gpus)
    };
    assert_eq!(valid(&all_gather("")).steps().len(), 1);
    let waiting = pairs(&valid(&all_gather(" 2 1")));
    assert_eq!(waiting.len(), 2);
    assert_eq!(waiting[1], vec![(1, 2, Op::Copy, vec![1])]);
}

#[test]
fn faults_are_refused_where_they_are() {
    let header = r#"nchunksperloop="2" coll="allgather" inplace="1""#;
    let with = |a: &[&str], b: &[&str]| {
        program(header, &[("1 2 1", vec![("1 1 0", steps(a))]), ("1 2 1", vec![("0 0 0", steps(b))])])
    };
    let (send0, send1) = ("s o 0 o 0 1", "s o 1 o 1 1");
    let cases = [
        (with(&[send0], &[]), "gpu[0].tb[0].step[0]", "no matching receive"),
        (with(&[], &["r o 0 o 0 1"]), "gpu[1].tb[0].step[0]", "no matching send"),
        (with(&[send0], &["r o 0 o 0 2"]), "gpu[1].tb[0].step[0]", "receives 2 chunks"),
        (with(&["s o 1 o 1 1"], &["r o 1 o 1 1"]), "gpu[0].tb[0].step[0]", "no chunk has arrived"),
        (with(&["s o 2 o 2 1"], &["r o 1 o 1 1"]), "gpu[0].tb[0].step[0]", "offset 2 do not fit in buffer o"),
        (with(&["s o 4294967295 o 2 2"], &["r o 1 o 1 2"]), "gpu[0].tb[0].step[0]", "offset 4294967295"),
        (with(&["s s 1 o 2 1"], &["r o 1 o 1 1"]), "gpu[0].tb[0].step[0]", "offset 1 do not fit in buffer s"),
        (with(&["s o -1 o 2 1"], &["r o 1 o 1 1"]), "gpu[0].tb[0].step[0].srcoff", "`-1` is not"),
        (with(&["s x 0 o 2 1"], &["r o 1 o 1 1"]), "gpu[0].tb[0].step[0].srcbuf", "`x` is not one"),
        (with(&["move o 0 o 2 1"], &[]), "gpu[0].tb[0].step[0].type", "`move` is not one"),
        (with(&["s o 0 o 0 0"], &[]), "gpu[0].tb[0].step[0].cnt", "at least 1"),
        (with(&["s o 0 o 0 1 7 0"], &["r o 0 o 0 1"]), "gpu[0].tb[0].step[0]", "step 0 of thread block 7"),
        (with(&["s o 0 o 0 1 0 0"], &["r o 0 o 0 1"]), "gpu[0].tb[0].step[0]", "can never start"),
        (with(&["r o 1 o 1 1", send0], &["r o 0 o 0 1", send1]), "gpu[0].tb[0].step[0]", "can never start"),
        (with(&[send0, "r o 0 o 0 1"], &[send1, "r o 0 o 0 1"]), "gpu[0]", "chunk 1 where chunk 0 belongs"),
        (with(&[send0], &["rrc o 1 o 1 1"]), "gpu[1].tb[0].step[0]", "reduces nothing"),
        (with(&[send0], &["rrc o 0 o 0 1"]), "gpu[1].tb[0].step[0]", "empty slot"),
    ];
    for (index, (xml, place, says)) in cases.iter().enumerate() {
        let error = schedule_from_msccl(xml).unwrap_err();
        assert_eq!(error.field(), format!("schedule.{place}"), "case {index}: {error}");
        assert!(error.to_string().contains(says) && !error.to_string().contains('\n'), "case {index}: {error}");
    }
}

#[test]
fn partial_sums_that_a_schedule_cannot_name_are_refused() {
    // GPU 1 keeps its own chunk next to the sum and sends the older one.
    let gpus = [
        ("1 0 1", vec![("1 1 0", steps(&["s i 0 i 0 1", "rrc i 0 i 0 1"]))]),
        ("1 0 1", vec![("0 0 0", steps(&["rrc i 0 s 0 1", "s i 0 i 0 1"]))]),
    ];
    let error = schedule_from_msccl(&program(r#"nchunksperloop="1" coll="allreduce" inplace="1""#, &gpus)).unwrap_err();
    assert!(error.to_string().contains("out of date"), "{error}");
}

#[test]
fn sums_that_change_under_way_or_go_nowhere_are_refused() {
    let header = r#"nchunksperloop="2" coll="allreduce" inplace="1""#;
    // GPU 1 takes the chunk late, after GPU 0 has added to it.
    let late = [
        ("2 0 0", vec![("1 -1 0", steps(&["s i 0 i 0 1"])), ("-1 2 0", steps(&["rrc i 0 i 0 1"]))]),
        ("2 0 0", vec![("-1 2 0", steps(&["r i 1 i 1 1", "r i 1 i 1 1"])), ("-1 0 0", steps(&["rrc i 0 i 0 1 0 1"]))]),
        ("2 0 0", vec![("1 -1 0", steps(&["s i 1 i 1 1", "s i 1 i 1 1"])), ("0 -1 0", steps(&["s i 0 i 0 1"]))]),
    ];
    let error = schedule_from_msccl(&program(header, &late)).unwrap_err();
    assert_eq!(error.field(), "schedule.gpu[1].tb[1].step[0]");
    assert!(error.to_string().contains("chunk 0 changes at GPU 0"), "{error}");
    let unused =
        [("2 0 1", vec![("1 1 0", steps(&["s i 0 s 0 1"]))]), ("2 0 1", vec![("0 0 0", steps(&["r i 0 s 0 1"]))])];
    let error = schedule_from_msccl(&program(header, &unused)).unwrap_err();
    assert!(error.to_string().contains("chunk 0 that GPU 0 sends to 1 is never used"), "{error}");
}

#[test]
fn broken_xml_is_refused() {
    let whole = ring(3);
    let bomb = "<!DOCTYPE a [<!ENTITY b \"bbbb\"><!ENTITY c \"&b;&b;&b;&b;\">]>";
    let cases = [
        String::new(),
        "<algo".into(),
        "<plan/>".into(),
        "{\"schema\": \"lightloom.plan/1\"}".into(),
        whole[..whole.len() / 2].into(),
        whole.replace("</algo>", ""),
        whole.replace("</tb>", "</gpu>"),
        whole.replace(r#"cnt="1""#, r#"cnt="1" cnt="1""#),
        whole.replace(r#"cnt="1""#, r#"cnt="&#49;""#),
        whole.replace(r#"ngpus="3""#, r#"ngpus="4""#),
        whole.replace(r#"ngpus="3""#, r#"ngpus="4000000000""#),
        whole.replace(r#"nchunksperloop="3""#, r#"nchunksperloop="4000000000""#),
        whole.replace(r#"i_chunks="3""#, r#"i_chunks="4""#),
        whole.replace(r#"s_chunks="0""#, r#"s_chunks="4294967295""#),
        whole.replace(r#"coll="allreduce""#, r#"coll="allreduced""#),
        whole.replace(r#"coll="allreduce""#, ""),
        whole.replace(r#"send="1""#, r#"send="7""#),
        whole.replace(r#"send="1""#, r#"send="0""#),
        whole.replace("<tb", "<!-- fine --><other/><tb"),
        format!("{bomb}{whole}"),
        whole.replace("<tb", "&c;<tb"),
        whole.replace("<tb", "text<tb"),
        format!("{whole}{whole}"),
    ];
    for (index, xml) in cases.iter().enumerate() {
        let error = schedule_from_msccl(xml).unwrap_err().to_string();
        assert!(error.starts_with("schedule") && !error.contains('\n'), "case {index}: {error}");
    }
    valid(&format!("<?xml version=\"1.0\"?><!-- a ring -->\n{whole}"));
}

proptest! {
    #[test]
    fn damaged_programs_never_panic(
        n in 2u32..5, cut in any::<prop::sample::Index>(), truncate in any::<bool>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), "[-0-9a-z\"<>&/ ]{0,2}"), 0..4),
    ) {
        let mut xml: Vec<char> = ring(n).chars().collect();
        for (at, with) in edits {
            let at = at.index(xml.len());
            xml.splice(at..=at, with.chars());
        }
        if truncate { xml.truncate(cut.index(xml.len())); }
        let xml: String = xml.into_iter().collect();
        if let Err(error) = schedule_from_msccl(&xml) {
            prop_assert!(error.field().starts_with("schedule") && !error.to_string().contains('\n'), "{}", error);
        }
    }

    /// Numbers and types are exchanged inside a well-formed program, which reaches further than broken text.
    #[test]
    fn scrambled_programs_never_panic(
        n in 2u32..5,
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0u32..6, 0usize..9), 1..6),
    ) {
        let whole = ring(n);
        let mut lines: Vec<String> = whole.lines().map(String::from).collect();
        let kinds = ["s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re", "nop"];
        for (at, number, kind) in edits {
            let line = at.get(&lines).clone();
            let changed = match number {
                0 => line.replace("type=\"s\"", &format!("type=\"{}\"", kinds[kind])),
                1 => line.replace("type=\"rrc\"", &format!("type=\"{}\"", kinds[kind])),
                2 => line.replace("srcbuf=\"i\"", "srcbuf=\"o\""),
                3 => line.replace("depid=\"-1\" deps=\"-1\"", &format!("depid=\"0\" deps=\"{kind}\"")),
                4 => line.replace("dstoff=\"0\"", &format!("dstoff=\"{}\"", kind % 4)),
                _ => line.replace("srcoff=\"1\"", &format!("srcoff=\"{}\"", kind % 4)),
            };
            let index = at.index(lines.len());
            lines[index] = changed;
        }
        if let Ok(schedule) = schedule_from_msccl(&lines.join("\n")) {
            prop_assert!(!verify::schedule(&schedule).checks.is_empty());
        }
    }

    #[test]
    fn any_text_is_refused(text in "\\PC{0,60}") {
        prop_assert!(schedule_from_msccl(&text).is_err());
    }
}
