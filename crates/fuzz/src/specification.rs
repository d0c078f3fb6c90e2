//! Fuzzes the reading of specifications and studies, with changes as by `--set`.

use narrows_spec::{Assignment, Design, Files, Node, Problems, Source, Specification, Study};

/// Separates a document from its changes, which stand one per line.
pub const CHANGES: char = '\u{c}';
/// Studies with more points aren't read.
const MOST_POINTS: u64 = 1_000;

/// Reads a specification and a study, in TOML or JSON.
///
/// # Panics
/// If a problem lacks `found` or `remedy`, or if a specification that is written as TOML reads back
/// differently.
pub fn specification(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (text, changes) = text.split_once(CHANGES).unwrap_or((&text, ""));
    check_problems(source(text, changes).and_then(|source| {
        check_problems(study(&source));
        let read = source.read(&around())?;
        rewrite(&source, &read);
        Ok(())
    }));
}

fn check_problems(outcome: Result<(), Problems>) {
    let Err(problems) = outcome else { return };
    assert!(!problems.0.is_empty(), "refused without a problem");
    for problem in problems.0 {
        assert!(!problem.found.is_empty() && !problem.remedy.is_empty(), "{problem:?}");
    }
}

fn around() -> Files {
    let trace = ("link.trace", "1\n2\n3\n5\n8\n");
    Files([trace].map(|(name, text)| (name.to_owned(), text.to_owned())).into())
}

fn source(text: &str, changes: &str) -> Result<Source, Problems> {
    let json = text.starts_with('{');
    let document = if json { Node::from_json(text) } else { Node::from_toml(text) }?;
    let changes: Result<_, _> =
        changes.lines().map(|change| Assignment::parse(change, "--set")).collect();
    Source::new(&document, changes?, "fuzz", Some("fuzz.toml"))
}

/// Writes a specification and reads it again.
fn rewrite(source: &Source, read: &Specification) {
    let text = source.to_toml();
    let document =
        Node::from_toml(&text).unwrap_or_else(|problems| panic!("{problems:?} of\n{text}"));
    let renewed = Source::new(&document, Vec::new(), "fuzz", None);
    let renewed = renewed.and_then(|renewed| renewed.read(&around()));
    let renewed = renewed.unwrap_or_else(|problems| panic!("{problems:?} of\n{text}"));
    assert_eq!(renewed.canonical(1), read.canonical(1), "of\n{text}");
    assert_eq!((renewed.trials, &renewed.name), (read.trials, &read.name), "of\n{text}");
}

/// Reads the first and the last combination of a study.
fn study(source: &Source) -> Result<(), Problems> {
    let study = Study::read(source)?;
    let cells = match study.design {
        Design::Grid => {
            let counts = study.groups.iter().map(|group| group[0].values.len() as u64);
            counts.fold(1, u64::saturating_mul)
        }
        Design::Random(budget) | Design::LatinHypercube(budget) => budget,
    };
    if cells > MOST_POINTS {
        return Ok(());
    }
    let points = study.points()?;
    for point in points.first().into_iter().chain(points.last()) {
        study.specification(point, &around())?;
    }
    Ok(())
}
