//! Names, options and their errors.

mod common;

use std::collections::BTreeMap;

use narrows_cc::{CONTROLS, CcError, CcProfile, LINUX_6_12, PROFILES, validate};

fn message(name: &str, options: &[(&str, f64)]) -> String {
    let options: BTreeMap<String, f64> =
        options.iter().map(|&(key, value)| (key.to_owned(), value)).collect();
    validate(name, &options).expect_err("a bad name or option").to_string()
}

#[test]
fn every_control_is_built_with_its_defaults() {
    for info in CONTROLS {
        let defaults: Vec<(&str, f64)> =
            info.options.iter().map(|option| (option.name, option.default)).collect();
        let cwnd = common::control(info.name, &defaults).control().cwnd;
        assert!((1..=20).contains(&cwnd), "{}: {cwnd}", info.name);
    }
}

#[test]
fn names_and_options_are_unique_and_described() {
    let names: Vec<&str> = CONTROLS.iter().map(|info| info.name).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    for info in CONTROLS {
        assert!(!info.summary.is_empty() && !info.source.is_empty(), "{}", info.name);
        for (i, option) in info.options.iter().enumerate() {
            assert!(info.options[..i].iter().all(|other| other.name != option.name));
            assert!(option.range.contains(&option.default), "{}.{}", info.name, option.name);
        }
    }
}

#[test]
fn an_unknown_name_suggests_the_nearest() {
    let known: Vec<&str> = CONTROLS.iter().map(|info| info.name).collect();
    let known = known.join(", ");
    assert_eq!(
        message("cubik", &[]),
        format!(
            "no congestion control is called \"cubik\", did you mean \"cubic\"?; known: {known}"
        )
    );
    assert_eq!(
        message("quickest", &[]),
        format!("no congestion control is called \"quickest\"; known: {known}")
    );
    let Err(CcError::UnknownControl { nearest, .. }) = validate("BBR1", &BTreeMap::new()) else {
        panic!("BBR1 is not a name");
    };
    assert_eq!(nearest, Some("bbr"));
}

#[test]
fn an_unknown_option_lists_the_known_ones() {
    let info = CONTROLS.iter().find(|info| info.name == "cubic").unwrap();
    let options: Vec<&str> = info.options.iter().map(|option| option.name).collect();
    assert_eq!(
        message("cubic", &[("gain", 1.0)]),
        format!("cubic has no option \"gain\"; its options are {}", options.join(", "))
    );
    assert_eq!(
        message("pcc_allegro", &[("beta", 0.5)]),
        "pcc_allegro has no option \"beta\"; it has none"
    );
}

#[test]
fn a_value_out_of_range_says_what_is_needed() {
    assert_eq!(
        message("cubic", &[("hystart", 4.0)]),
        "cubic.hystart: found 4; a whole number from 0 to 3 is needed"
    );
    assert_eq!(
        message("cubic", &[("hystart", 0.5)]),
        "cubic.hystart: found 0.5; a whole number from 0 to 3 is needed"
    );
    assert_eq!(
        message("bbr", &[("cwnd_gain", f64::NAN)]),
        "bbr.cwnd_gain: found NaN; a number from 1 to 3.99 is needed"
    );
}

#[test]
fn profiles_by_name() {
    assert_eq!(CcProfile::by_name("linux-6.12"), Some(&LINUX_6_12));
    assert_eq!(CcProfile::by_name("linux-1.0"), None);
    assert_eq!(PROFILES.len(), 6);
    assert_eq!(LINUX_6_12.with_hz(100).hz, 100);
    assert_eq!(LINUX_6_12.with_hz(100).bbr, LINUX_6_12.bbr);
}

#[test]
fn options_reach_the_control() {
    let mut plain = common::control("cubic", &[]);
    let mut gentle = common::control("cubic", &[("beta", 921.0)]);
    let windows = [&mut plain, &mut gentle].map(|control| {
        control.on_congestion(&common::loss(100));
        control.control().cwnd
    });
    assert_eq!(windows, [70, 89]);
}
