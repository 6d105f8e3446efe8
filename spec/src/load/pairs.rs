//! Pairwise combinations: each value of each list occurs with each value of each other list, in few combinations.

use std::collections::HashSet;

/// A value of a list, as the number of the list and the position of the value in it.
type ListValue = (usize, usize);

/// Combinations with one value per list, such that any two values of different lists occur together in one of them, unless
/// every combination with both is forbidden. `allows` sees a partial choice, and must allow it if it allows any extension.
pub(super) fn in_pairs(lists: &[usize], allows: impl Fn(&[Option<usize>]) -> bool) -> Vec<Vec<usize>> {
    let every = |list: usize| (0..lists[list]).map(move |value| (list, value));
    if lists.len() < 2 {
        let chosen = lists.iter().flat_map(|values| 0..*values);
        return chosen.filter(|value| allows(&[Some(*value)])).map(|value| vec![value]).collect();
    }
    let mut pairs: Vec<(ListValue, ListValue)> = Vec::new();
    for first in 0..lists.len() {
        for second in first + 1..lists.len() {
            pairs.extend(every(first).flat_map(|one| every(second).map(move |other| (one, other))));
        }
    }
    let mut missing: HashSet<(ListValue, ListValue)> = pairs.iter().copied().collect();
    let mut combinations = Vec::new();
    for (one, other) in pairs {
        if !missing.contains(&(one, other)) {
            continue;
        }
        let mut chosen = vec![None; lists.len()];
        (chosen[one.0], chosen[other.0]) = (Some(one.1), Some(other.1));
        if let Some(combination) = completed(chosen, lists, &missing, &allows) {
            for (list, value) in combination.iter().enumerate() {
                for (before, earlier) in combination[..list].iter().enumerate() {
                    missing.remove(&((before, *earlier), (list, *value)));
                }
            }
            combinations.push(combination);
        }
        missing.remove(&(one, other));
    }
    combinations
}

/// Completes a combination: of the allowed ones, the one that covers most missing pairs, and the first on a tie.
fn completed(
    mut chosen: Vec<Option<usize>>,
    lists: &[usize],
    missing: &HashSet<(ListValue, ListValue)>,
    allows: impl Fn(&[Option<usize>]) -> bool,
) -> Option<Vec<usize>> {
    if !allows(&chosen) {
        return None;
    }
    for list in 0..lists.len() {
        if chosen[list].is_some() {
            continue;
        }
        let mut best: Option<(usize, usize)> = None;
        for value in 0..lists[list] {
            chosen[list] = Some(value);
            if !allows(&chosen) {
                continue;
            }
            let beside = chosen.iter().enumerate().filter_map(|(other, value)| Some((other, (*value)?)));
            let ordered = |place: ListValue| {
                let own = (list, value);
                if place.0 < list { (place, own) } else { (own, place) }
            };
            let gain = beside.filter(|place| place.0 != list && missing.contains(&ordered(*place))).count();
            if best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, value));
            }
        }
        chosen[list] = Some(best?.1);
    }
    chosen.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs_of(combinations: &[Vec<usize>]) -> HashSet<(ListValue, ListValue)> {
        let of_one = |combination: &Vec<usize>| {
            let places: Vec<ListValue> = combination.iter().copied().enumerate().collect();
            places.iter().flat_map(|a| places.iter().map(move |b| (*a, *b))).collect::<Vec<_>>()
        };
        combinations.iter().flat_map(of_one).filter(|(a, b)| a.0 < b.0).collect()
    }

    #[test]
    fn every_two_values_stand_together_in_few_combinations() {
        let combinations = in_pairs(&[6, 5, 4, 3], |_| true);
        assert_eq!(pairs_of(&combinations).len(), 6 * 5 + 6 * 4 + 6 * 3 + 5 * 4 + 5 * 3 + 4 * 3);
        assert!(combinations.len() < 45, "{} combinations of at least 30", combinations.len());
        assert_eq!(combinations, in_pairs(&[6, 5, 4, 3], |_| true));
    }

    #[test]
    fn a_combination_that_is_not_allowed_costs_no_pair_that_is() {
        // Of two long lists only short combinations are allowed; an open list stands for its least value.
        let small = |chosen: &[Option<usize>]| chosen[0].unwrap_or(0) + chosen[1].unwrap_or(0) <= 5;
        let combinations = in_pairs(&[6, 6, 2], small);
        let pairs = pairs_of(&combinations);
        assert!(combinations.iter().all(|one| one[0] + one[1] <= 5));
        let wanted = (0..6).flat_map(|a| (0..6).map(move |b| (a, b))).filter(|(a, b)| a + b <= 5);
        assert!(wanted.into_iter().all(|(a, b)| pairs.contains(&((0, a), (1, b)))));
        assert!((0..6).all(|a| (0..2).all(|c| pairs.contains(&((0, a), (2, c))))));
    }

    #[test]
    fn one_list_is_taken_value_by_value_and_none_gives_none() {
        assert_eq!(in_pairs(&[3], |chosen| chosen[0] != Some(1)), [vec![0], vec![2]]);
        assert!(in_pairs(&[], |_| true).is_empty());
        assert!(in_pairs(&[3, 0], |_| true).is_empty());
    }
}
