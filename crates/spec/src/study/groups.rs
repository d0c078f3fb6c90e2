//! Zipped axes, which vary together value by value.

use narrows_base::registry::nearest;

use super::axes::Axis;
use crate::document::Node;
use crate::keys::KeyKind;
use crate::place::Place;
use crate::problem::Problem;

/// The axes in groups; zipped ones are at the position of the first of them.
pub(super) fn read(axes: Vec<Axis>, zip: Option<&Node>) -> (Vec<Vec<Axis>>, Vec<Problem>) {
    let place = Place::default().key("sweep").key("zip");
    let mut problems = Vec::new();
    // For each axis, the first one of its group.
    let mut leaders: Vec<usize> = (0..axes.len()).collect();
    let mut taken = vec![false; axes.len()];
    let list = zip.map(|node| node.list().ok_or(node));
    if let Some(Err(node)) = list {
        problems.push(Problem::value(&place, node.describe(), KeyKind::Zip.expects("zip")));
    }
    for (index, entry) in list.and_then(Result::ok).unwrap_or_default().iter().enumerate() {
        match members(&place.index(index), entry, &axes, &taken) {
            Ok(members) => {
                let first = members.iter().copied().min().unwrap_or_default();
                for member in members {
                    (leaders[member], taken[member]) = (first, true);
                }
            }
            Err(wrong) => problems.extend(wrong),
        }
    }
    let mut groups: Vec<Vec<Axis>> = axes.iter().map(|_| Vec::new()).collect();
    for (axis, leader) in axes.into_iter().zip(leaders) {
        groups[leader].push(axis);
    }
    groups.retain(|group| !group.is_empty());
    (groups, problems)
}

/// The axes that one entry of `zip` names.
fn members(
    place: &Place,
    entry: &Node,
    axes: &[Axis],
    taken: &[bool],
) -> Result<Vec<usize>, Vec<Problem>> {
    let Some(names) = entry.list().filter(|names| names.len() > 1) else {
        return Err(vec![Problem::value(place, entry.describe(), KeyKind::Zip.expects("zip"))]);
    };
    let (mut members, mut problems) = (Vec::new(), Vec::new());
    for name in names {
        let named = name.as_text().and_then(Place::parse);
        let member = axes.iter().position(|axis| Some(&axis.place) == named.as_ref());
        match member {
            None => {
                let found = format!("{}, which is not an axis", name.describe());
                problems.push(Problem::value(place, found, axis_for(name, names, axes)));
            }
            Some(member) if taken[member] || members.contains(&member) => {
                let found = format!("{} twice", name.describe());
                problems.push(Problem::value(place, found, "each axis once"));
            }
            Some(member) => members.push(member),
        }
    }
    problems.extend(uneven(place, &members, names.len(), axes));
    if problems.is_empty() { Ok(members) } else { Err(problems) }
}

/// The remedy for a name in `zip` that is not an axis: a similar axis that `names` lacks, or values.
fn axis_for(name: &Node, names: &[Node], axes: &[Axis]) -> String {
    let text = name.as_text().unwrap_or_default();
    let known = axes.iter().map(|axis| axis.place.to_string());
    let others: Vec<_> =
        known.filter(|axis| names.iter().all(|name| name.as_text() != Some(axis))).collect();
    match (nearest(text, others.iter().map(String::as_str)), Place::parse(text)) {
        (Some(axis), _) => format!("\"{axis}\""),
        (None, Some(place)) => format!("a list of values at {place}"),
        (None, None) => KeyKind::Zip.expects("zip"),
    }
}

/// The problem of zipped axes with different numbers of values.
fn uneven(place: &Place, members: &[usize], named: usize, axes: &[Axis]) -> Option<Problem> {
    let counts: Vec<_> = members.iter().map(|&member| axes[member].values.len()).collect();
    if members.len() == named && counts.windows(2).any(|pair| pair[0] != pair[1]) {
        let each = members.iter().zip(&counts);
        let found =
            each.map(|(&member, count)| format!("{count} values at {}", axes[member].place));
        let found = found.collect::<Vec<_>>().join(" and ");
        return Some(Problem::value(place, found, "as many values at each"));
    }
    let remedy = "a range with a `count` or a `step`";
    counts.contains(&0).then(|| Problem::value(place, "a range without values", remedy))
}
