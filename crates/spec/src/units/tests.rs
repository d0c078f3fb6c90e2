//! Quantities that are read or refused; nothing is ever rounded.

use proptest::prelude::*;

use super::*;

fn size(text: &str) -> (String, SizeUnit) {
    let size = parse_size(text).unwrap();
    (exact::decimal(&size.amount), size.unit)
}

#[test]
fn rates_are_read() {
    for (text, bps) in [
        ("80mbit", 80_000_000),
        ("2.5mbit", 2_500_000),
        ("0.1gbit", 100_000_000),
        ("128kbit", 128_000),
        ("10gbit", 10_000_000_000),
        ("1bit", 1),
        (".5kbit", 500),
        ("1 mbit", 1_000_000),
        ("1.000001mbit", 1_000_001),
        ("0bit", 0),
    ] {
        assert_eq!(parse_rate(text), Ok(bps), "{text}");
    }
}

#[test]
fn durations_are_read() {
    for (text, ns) in [
        ("25ms", 25_000_000),
        ("0.1s", 100_000_000),
        ("1.5us", 1500),
        ("7ns", 7),
        ("2min", 120_000_000_000),
    ] {
        assert_eq!(parse_duration(text), Ok(ns), "{text}");
    }
}

#[test]
fn sizes_are_read() {
    for (text, bytes) in [
        ("250kb", "250000"),
        ("64kib", "65536"),
        ("1.5mib", "1572864"),
        ("30mb", "30000000"),
        ("1gb", "1000000000"),
        ("1500b", "1500"),
    ] {
        assert_eq!(size(text), (bytes.to_owned(), SizeUnit::Bytes), "{text}");
    }
    assert_eq!(size("100pkt"), ("100".to_owned(), SizeUnit::Packets));
    assert_eq!(size("1.75bdp"), ("1.75".to_owned(), SizeUnit::Bdp));
}

#[test]
fn a_quantity_is_a_rate_a_duration_or_a_size() {
    let Some(Quantity::Size(size)) = quantity("1.75bdp") else { panic!("no size") };
    assert_eq!((size.amount().to_bits(), size.whole()), (1.75f64.to_bits(), 1));
    assert!(matches!(quantity("80mbit"), Some(Quantity::Rate(80_000_000))));
    assert!(matches!(quantity("25ms"), Some(Quantity::Duration(25_000_000))));
    assert!(quantity("25 apples").is_none());
}

#[test]
fn wrong_rates_are_refused_with_a_remedy() {
    for (text, found, remedy) in [
        ("80", "\"80\"", "\"80mbit\""),
        ("80Mbit", "\"Mbit\"", "\"80mbit\""),
        ("80mbits", "\"mbits\"", "\"80mbit\""),
        ("80 mbit/s", "\"mbit/s\"", "\"80mbit\""),
        ("10Mbps", "\"Mbps\"", "\"10mbit\""),
        ("10 gbps", "\"gbps\"", "\"10gbit\""),
        ("10bps", "\"bps\"", "\"10bit\""),
        ("10MBps", "\"MBps\"", "a number with one of the units"),
        ("10tbit", "\"tbit\"", "a number with one of the units"),
        ("80ms", "\"ms\"", "bit, kbit, mbit, gbit"),
        ("mbit", "\"mbit\"", "a number with one of the units"),
        ("-1mbit", "negative", "positive"),
        ("1e6bit", "\"1e6bit\"", "units"),
        ("0x10bit", "\"0x10bit\"", "units"),
        ("1,5mbit", "\"1,5mbit\"", "units"),
        ("1..5mbit", "\"1..5mbit\"", "units"),
        ("٣mbit", "\"٣mbit\"", "units"),
        ("0.5bit", "\"0.5bit\"", "whole number of bit/s"),
        ("", "\"\"", "units"),
        ("nanmbit", "\"nanmbit\"", "units"),
        ("1\nmbit", "\"1\\nmbit\"", "units"),
    ] {
        let wrong = parse_rate(text).unwrap_err();
        assert!(wrong.found.contains(found), "{text}: {}", wrong.found);
        assert!(wrong.remedy.contains(remedy), "{text}: {}", wrong.remedy);
    }
    let long = parse_rate(&("1".repeat(500) + "mbit")).unwrap_err();
    assert!(long.found.contains("..."));
}

#[test]
fn parts_of_what_is_whole_are_refused() {
    for text in ["0.5b", "0.5pkt", "1.0001kib"] {
        assert!(parse_size(text).unwrap_err().remedy.contains("whole number"), "{text}");
    }
    assert!(parse_duration("0.1ns").unwrap_err().remedy.contains("whole number"));
}

#[test]
fn spellings_are_the_usual_ones() {
    let durations = [(0, "0s"), (100_000_000, "100ms"), (90_000_000_000, "90s"), (1500, "1.5us")];
    for (ns, text) in durations {
        assert_eq!(format_duration(ns), text);
    }
    for (bps, text) in [(80_000_000, "80mbit"), (2_500, "2.5kbit"), (0, "0bit"), (999, "999bit")] {
        assert_eq!(format_rate(bps), text);
    }
    assert_eq!(format_bytes(1500), "1.5kb");
}

#[test]
fn shares_of_a_bdp_are_rounded_half_up() {
    let in_bytes = |text: &str, bdp: u64| parse_size(text).unwrap().in_bytes(&exact::whole(bdp));
    assert_eq!(bdp_bytes(80_000_000, 25_000_000), exact::whole(250_000));
    assert_eq!(in_bytes("1.75bdp", 250_000), Some(437_500));
    assert_eq!(in_bytes("64kib", 250_000), Some(65_536));
    assert_eq!(in_bytes("10pkt", 250_000), None);
    assert_eq!((in_bytes("0.5bdp", 3), in_bytes("0.5bdp", 5)), (Some(2), Some(3)));
}

#[test]
fn every_unit_has_its_scale() {
    for (unit, scale) in DURATION_UNITS {
        assert_eq!(parse_duration(&format!("1{unit}")), Ok(*scale));
    }
    for (unit, scale) in RATE_UNITS {
        assert_eq!(parse_rate(&format!("1{unit}")), Ok(*scale));
    }
    for (unit, scale) in SIZE_UNITS {
        assert_eq!(parse_size(&format!("1{unit}")).unwrap().whole(), *scale);
    }
}

proptest! {
    #[test]
    fn a_rate_is_exactly_what_is_written(digits in 0u64..1_000_000_000, unit in 0usize..4) {
        let (name, scale) = RATE_UNITS[unit];
        let text = format!("{}.{:04}{name}", digits / 10_000, digits % 10_000);
        let scaled = u128::from(digits) * u128::from(scale);
        if scaled % 10_000 == 0 {
            prop_assert_eq!(parse_rate(&text), Ok(u64::try_from(scaled / 10_000).unwrap()));
        } else {
            prop_assert!(parse_rate(&text).unwrap_err().remedy.contains("whole number"));
        }
    }

    #[test]
    fn spelled_quantities_read_back(number in 0u64..1_000_000_000_000_000_000) {
        prop_assert_eq!(parse_rate(&format_rate(number)), Ok(number));
        prop_assert_eq!(parse_duration(&format_duration(number)), Ok(number));
        prop_assert_eq!(parse_size(&format_bytes(number)).unwrap().whole(), number);
    }

    #[test]
    fn sizes_read_back(digits in 0u64..1_000_000_000, unit in 0usize..9) {
        let text = format!("{}.{:04}{}", digits / 10_000, digits % 10_000, SIZE_UNITS[unit].0);
        if let Ok(size) = parse_size(&text) {
            prop_assert_eq!(parse_size(&size.spell()), Ok(size));
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,80}") {
        let _ = (parse_rate(&text), parse_duration(&text), parse_size(&text));
    }
}

#[test]
fn a_part_in_per_cent_is_the_same_number_as_its_decimal() {
    for (text, number) in [("1%", 0.01), ("0.3 %", 0.003), (" 100% ", 1.0), (".5%", 0.005)] {
        assert_eq!(parse_percent(text), Some(number), "{text}");
    }
    for text in ["1", "%", "1e1%", "-1%", "1%%", "inf%"] {
        assert_eq!(parse_percent(text), None, "{text}");
    }
}
