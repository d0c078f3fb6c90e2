//! Names, options and their errors.

use narrows_base::registry::{Bounds, ParameterDefault, Role, Value, Values};
use narrows_cc::{CONTROLS, CcError, CcProfile, LINUX_6_12, PROFILES, validate};

fn message(name: &str, options: &[(&str, Value)]) -> String {
    let options = options.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
    validate(name, &options.collect()).expect_err("a bad name or option").to_string()
}

#[test]
fn every_control_is_built_with_its_defaults() {
    for entry in CONTROLS {
        let control = crate::common::control(entry.info.name, &[]).control();
        assert!((1..=20).contains(&control.cwnd), "{}: {}", entry.info.name, control.cwnd);
        let Role::Control { paces, .. } = entry.info.role else {
            panic!("{} is no control", entry.info.name);
        };
        assert_eq!(control.pacing_rate.is_some(), paces, "{}", entry.info.name);
    }
}

#[test]
fn names_and_options_are_unique_and_described() {
    let names: Vec<&str> = CONTROLS.iter().map(|entry| entry.info.name).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    let titles: Vec<&str> = CONTROLS.iter().map(|entry| entry.info.title).collect();
    for info in CONTROLS.iter().map(|entry| &entry.info) {
        assert!(!info.summary.is_empty() && !info.source.is_empty(), "{}", info.name);
        assert!(titles.iter().filter(|title| **title == info.title).count() == 1, "{}", info.title);
        for (i, option) in info.parameters.iter().enumerate() {
            let place = format!("{}.{}", info.name, option.name);
            assert!(info.parameters[..i].iter().all(|other| other.name != option.name), "{place}");
            match (option.default, option.bounds) {
                (ParameterDefault::Whole(default), bounds @ Bounds::Whole { .. }) => {
                    assert!(bounds.contains(default), "{place}");
                }
                (ParameterDefault::Number(default), bounds @ Bounds::Number { .. }) => {
                    assert!(bounds.hold_number(default), "{place}");
                }
                (
                    ParameterDefault::Flag(_) | ParameterDefault::Word(_) | ParameterDefault::Off,
                    _,
                ) => {}
                (default, bounds) => panic!("{place}: {default:?} within {bounds:?}"),
            }
        }
    }
}

#[test]
fn an_unknown_name_suggests_the_nearest() {
    let known: Vec<&str> = CONTROLS.iter().map(|entry| entry.info.name).collect();
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
    let Err(CcError::UnknownControl { nearest, .. }) = validate("BBR1", &Values::default()) else {
        panic!("BBR1 is not a name");
    };
    assert_eq!(nearest, Some("bbr"));
}

#[test]
fn an_unknown_option_lists_the_known_ones() {
    let info = narrows_cc::info("cubic").unwrap();
    let options: Vec<String> = info.parameters.iter().map(|option| option.key()).collect();
    assert_eq!(
        message("cubic", &[("gain", 1.0.into())]),
        format!("cubic has no option \"gain\"; its options are {}", options.join(", "))
    );
    assert_eq!(
        message("pcc_allegro", &[("beta", 0.5.into())]),
        "pcc_allegro has no option \"beta\"; it has none"
    );
}

#[test]
fn a_value_that_cant_be_says_what_is_needed() {
    assert_eq!(
        message("cubic", &[("hystart", Value::Whole(3))]),
        "cubic.hystart: found 3; one of off, hystart, hystart++, search is needed"
    );
    assert_eq!(
        message("cubic", &[("beta", 0.5.into())]),
        "cubic.beta: found 0.5; a whole number from 1 to 1023 is needed"
    );
    assert_eq!(
        message("bbr", &[("cwnd_gain", f64::NAN.into())]),
        "bbr.cwnd_gain: found NaN; a number from 1 to 3.99 is needed"
    );
    assert_eq!(
        message("ledbat", &[("base_history_ns", Value::Whole(90_000_000_000))]),
        "ledbat.base_history_ns: found 90000000000; a whole number from 60000000000 to \
         60000000000000, a multiple of 60000000000 is needed"
    );
}

#[test]
fn profiles_by_name() {
    assert_eq!(CcProfile::by_name("linux-6.12"), Some(&LINUX_6_12));
    assert_eq!(CcProfile::by_name("linux-1.0"), None);
    for (name, profile) in PROFILES {
        assert_eq!(CcProfile::by_name(name), Some(*profile));
    }
    assert_eq!(LINUX_6_12.with_hz(100).hz, 100);
    assert_eq!(LINUX_6_12.with_hz(100).bbr, LINUX_6_12.bbr);
}

#[test]
fn options_reach_the_control() {
    let mut plain = crate::common::control("cubic", &[]);
    let mut gentle = crate::common::control("cubic", &[("beta", "921")]);
    let windows = [&mut plain, &mut gentle].map(|control| {
        control.on_congestion(&crate::common::loss(100));
        control.control().cwnd
    });
    assert_eq!(windows, [70, 89]);
}
