//! Sizes, times and rates as people write them: `64MiB`, `1.7us`, `800Gbps`.

mod display;
mod reader;
mod spelling;

pub use display::{show_size, show_size_like, show_time};
pub use reader::{parse_rate, parse_size, parse_time, rate_from_f64, size_from_f64, size_in_range, time_from_f64};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranges::{RATE, SIZE, TIME};
    use proptest::prelude::*;

    #[test]
    fn sizes_are_binary_or_decimal_as_written() {
        assert_eq!(parse_size("size", "1KiB").unwrap(), 1024);
        assert_eq!(parse_size("size", "1KB").unwrap(), 1000);
        assert_eq!(parse_size("size", "1024B").unwrap(), 1024);
        assert_eq!(parse_size("size", "64 MiB").unwrap(), 64 << 20);
        assert_eq!(parse_size("size", "1.5KiB").unwrap(), 1536);
        assert_eq!(parse_size("size", "1e3B").unwrap(), 1000);
        assert_eq!(parse_size("size", "1E+3B").unwrap(), 1000);
        assert_eq!(parse_size("size", "9007199254740992B").unwrap(), 1 << 53);
        assert!(parse_size("size", "9007199254740993B").is_err());
    }

    #[test]
    fn times_and_rates_equal_their_literals() {
        assert_eq!(parse_time("t", "500ns").unwrap(), 500e-9);
        assert_eq!(parse_time("t", "1.7us").unwrap(), 1.7e-6);
        assert_eq!(parse_time("t", "10µs").unwrap(), 10e-6);
        assert_eq!(parse_time("t", "0s").unwrap(), 0.0);
        assert_eq!(parse_time("t", "3e2ns").unwrap(), 300e-9);
        assert_eq!(parse_rate("r", "800Gbps").unwrap(), 8e11);
        assert_eq!(parse_rate("r", "85.11Gbit/s").unwrap(), 85.11e9);
    }

    #[test]
    fn a_capital_b_is_a_byte() {
        for (text, bits_per_second) in [
            ("100GBps", 800e9),
            ("100GB/s", 800e9),
            ("100gB/s", 800e9),
            ("1GiB/s", 8.0 * 1_073_741_824.0),
            ("100Gbps", 100e9),
            ("100gbps", 100e9),
            ("100Gb/s", 100e9),
            ("100GBit/s", 100e9),
            ("1Gibit/s", 1_073_741_824.0),
        ] {
            assert_eq!(parse_rate("bandwidth", text), Ok(bits_per_second), "{text}");
        }
        assert_eq!(parse_size("size", "64miB"), Ok(64 << 20));
        assert_eq!(parse_size("size", "8kB"), Ok(8000));
    }

    #[test]
    fn two_meanings_are_both_named() {
        let sizes = [
            ("8Mb", "size: `8Mb` may be bytes or bits; write 8MB (8000000 bytes) or 1MB (1000000 bytes)"),
            ("64mib", "size: `64mib` may be bytes or bits; write 64MiB (67108864 bytes) or 8MiB (8388608 bytes)"),
            ("64M", "size: `64M` may be decimal or binary; write 64MB (64000000 bytes) or 64MiB (67108864 bytes)"),
            ("5b", "size: `5b` is not accepted; write 5B (5 bytes)"),
        ];
        for (text, message) in sizes {
            assert_eq!(parse_size("size", text).unwrap_err().to_string(), message);
        }
        let times = [
            ("1MS", "delay: `1MS` may be thousandths or millions of seconds; write 1ms (1e-3 s) or 1000000s (1e6 s)"),
            ("2Ms", "delay: `2Ms` is not accepted; write 2ms (2e-3 s)"),
            ("1US", "delay: `1US` is not accepted; write 1us (1e-6 s)"),
        ];
        for (text, message) in times {
            assert_eq!(parse_time("delay", text).unwrap_err().to_string(), message);
        }
        for text in ["400GBPS", "400Gb", "400GB", "400G", "400GB/S"] {
            let both = "may be bits or bytes per second; write 400Gbps (4e11 bit/s) or 400GB/s (3.2e12 bit/s)";
            assert_eq!(parse_rate("rate", text).unwrap_err().to_string(), format!("rate: `{text}` {both}"));
        }
        assert!(crate::Window::parse("window", "1=5MS").unwrap_err().to_string().contains("write 5ms"));
    }

    #[test]
    fn numbers_too_small_for_a_float_are_not_zero() {
        for small in ["1e-400s", "5e-324s", "0.001e-400s", "5e-324ps", "1e-16s"] {
            assert!(parse_time("delay", small).is_err(), "{small}");
        }
        for zero in ["0s", "-0s", "0e-400s", "0.00ps", "0e5ms"] {
            assert_eq!(parse_time("delay", zero), Ok(0.0), "{zero}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_the_field_named() {
        for bad in
            ["", "1", "MiB", "-1KiB", "1.5B", "nanB", "infB", "1e999B", "0B", "1XB", "1 Ki B", "１KiB", "1e", "9e15KB"]
        {
            let error = parse_size("size", bad).unwrap_err();
            assert!(error.to_string().starts_with("size: "), "{bad}: {error}");
        }
        for bad in ["", "5", "-5us", "nans", "1e999s", "1e308s", "1e-16s", "1000001s", "5 parsec"] {
            assert!(parse_time("startup", bad).is_err(), "{bad}");
        }
        for bad in ["0Gbps", "-1Gbps", "800", "GB/s", "1e-320bps", "0.99bps", "2e6Tbps"] {
            assert!(parse_rate("bandwidth", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_are_shown_in_natural_units() {
        assert_eq!(show_time(41.972e-6), "41.97 µs");
        assert_eq!(show_time(500e-9), "500.0 ns");
        assert_eq!(show_time(1e-6), "1.000 µs");
        assert_eq!(show_time(0.0), "0 s");
        assert_eq!(show_size(1_048_576.0), "1 MiB");
        assert_eq!(show_size(1536.0), "1.5 KiB");
        assert_eq!(show_size_like(1e6 / 3.0, 1e6), "333.333 KB");
        assert_eq!(show_size_like(1_048_576.0 / 3.0, 1_048_576.0), "341.333 KiB");
    }

    #[test]
    fn sizes_are_shown_as_they_were_written() {
        for written in [
            "1 B", "7 B", "500 B", "1000 B", "1 KB", "1 KiB", "1.5 KiB", "1.5 KB", "4 KiB", "32 KB", "64 KB", "100 KB",
            "128 KB", "128 KiB", "256 KB", "500 KB", "512 KB", "512 KiB", "1 MB", "1 MiB", "2.5 MB", "16 MB", "25 MB",
            "64 MiB", "96 KiB", "100 MB", "3 GB", "1 GB", "1 GiB", "1.5 GiB", "1 TB", "2 TiB",
        ] {
            let shown = show_size(parse_size("size", written).unwrap() as f64);
            assert_eq!(shown, if written == "1000 B" { "1 KB" } else { written });
        }
    }

    /// Why a text is not read.
    type Refusal = fn(&str) -> Option<crate::Error>;

    proptest! {
        /// A number written with up to three digits of a unit is read and written the same, in that unit or in powers
        /// of two.
        #[test]
        fn what_was_written_is_shown_whole(number in 1u32..1000, power in 0u32..5, binary: bool) {
            let bytes = f64::from(number) * if binary { 1024f64 } else { 1000f64 }.powi(power as i32);
            prop_assert_eq!(parse_size("size", &show_size(bytes)).unwrap() as f64, bytes);
        }

        /// Every accepted spelling against powers of whole numbers.
        #[test]
        fn spellings_are_read_as_what_they_say(number in 1u32..100_000, power in 0usize..5, binary: bool, small: bool) {
            let letter = ["", "K", "M", "G", "T"][power];
            let letter = if small { letter.to_lowercase() } else { letter.to_string() };
            let prefix = if binary && power > 0 { format!("{letter}i") } else { letter };
            let many = u128::from(number) * if binary { 1024u128 } else { 1000 }.pow(power as u32);
            let size = parse_size("size", &format!("{number}{prefix}B"));
            prop_assert_eq!(size.ok().map(u128::from), (many <= 1 << 53).then_some(many));
            for (unit, bits) in [("bps", 1), ("b/s", 1), ("bit/s", 1), ("Bit/s", 1), ("Bps", 8), ("B/s", 8)] {
                let rate = parse_rate("rate", &format!("{number} {prefix}{unit}"));
                prop_assert_eq!(rate.ok(), (many * bits <= 10u128.pow(18)).then_some((many * bits) as f64), "{}", unit);
            }
            for (unit, decimals) in [("s", 0), ("ms", 3), ("us", 6), ("µs", 6), ("μs", 6), ("ns", 9), ("ps", 12)] {
                let literal: f64 = format!("{number}e-{decimals}").parse().unwrap();
                prop_assert_eq!(parse_time("time", &format!("{number}{unit}")).ok(), Some(literal), "{}", unit);
            }
        }

        /// A spelling that a message says to write is read, and each text that is refused is named whole.
        #[test]
        fn proposed_spellings_are_accepted(number in 1u32..1000, unit in "[kKmMgGtTuUnNpP]?[iI]?[bB]?([pP][sS]|/[sS]|[sS])?") {
            let text = format!("{number}{unit}");
            let read: [(_, Refusal); 3] = [
                (SIZE, |text| parse_size("field", text).err()),
                (RATE, |text| parse_rate("field", text).err()),
                (TIME, |text| parse_time("field", text).err()),
            ];
            for (range, error) in read {
                let Some(message) = error(&text).map(|error| error.to_string()) else { continue };
                let told = message.split_once("write ").map(|(_, told)| told);
                prop_assert!(message.starts_with(&format!("field: `{text}` ")), "{}", message);
                prop_assert!(told.is_some() || message.ends_with(range.accepts), "{}", message);
                for written in told.into_iter().flat_map(|told| told.split(" or ")) {
                    prop_assert_eq!(error(written.split(' ').next().unwrap()), None, "{}", message);
                }
            }
        }

        #[test]
        fn parsing_never_panics(text in "\\PC{0,24}") {
            let _ = parse_size("size", &text);
            let _ = parse_time("time", &text);
            let _ = parse_rate("rate", &text);
        }

        /// For any bits of it, a number is accepted where the table has it, and the message lists what the table has.
        #[test]
        fn the_table_alone_says_which_numbers_are_accepted(bits in any::<u64>(), tame in -320i32..320) {
            for number in [f64::from_bits(bits), 10f64.powi(tame), -10f64.powi(tame), -0.0] {
                let ways = [
                    (TIME, time_from_f64("field", number).map(|_| ()), parse_time("field", &format!("{number}s")).map(|_| ())),
                    (RATE, rate_from_f64("field", number).map(|_| ()), parse_rate("field", &format!("{number}bps")).map(|_| ())),
                ];
                for (range, from_number, from_text) in ways {
                    prop_assert_eq!(from_number.is_ok(), range.contains(number));
                    prop_assert_eq!(from_text.is_ok(), range.contains(number));
                    for error in from_number.err().into_iter().chain(from_text.err()) {
                        let message = error.to_string();
                        prop_assert!(message.starts_with("field: ") && message.contains(range.accepts), "{}", message);
                    }
                }
                let whole = SIZE.contains(number) && number.fract() == 0.0;
                prop_assert_eq!(size_from_f64("field", number).is_ok(), whole);
            }
        }

        /// However a reconfiguration delay or a window is put together.
        #[test]
        fn sums_and_lists_are_in_range_too(terms in prop::collection::vec((-340i32..320, any::<bool>()), 1..5)) {
            let text = |(power, per_port): &(i32, bool)| format!("1e{power}s{}", if *per_port { "/port" } else { "" });
            let delay = crate::ReconfigurationDelay::parse("delay", &terms.iter().map(text).collect::<Vec<_>>().join("+"));
            if let Ok(delay) = delay {
                let terms = delay.terms();
                prop_assert!(TIME.contains(terms.fixed_s) && TIME.contains(terms.per_port_s));
            }
            let item = |(step, (power, _)): (usize, &(i32, bool))| format!("{}=1e{power}s", step + 1);
            let window = crate::Window::parse("window", &terms.iter().enumerate().map(item).collect::<Vec<_>>().join(","));
            // A number that is too small for a float is not zero.
            let all = terms.iter().all(|(power, _)| *power > -320 && TIME.contains(format!("1e{power}").parse().unwrap()));
            prop_assert_eq!(window.is_ok(), all);
        }

        #[test]
        fn whole_bytes_round_trip(bytes in 1u64..(1 << 53)) {
            prop_assert_eq!(parse_size("size", &format!("{bytes}B")).unwrap(), bytes);
        }
    }
}
