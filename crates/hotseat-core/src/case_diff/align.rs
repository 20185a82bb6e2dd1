//! Which items of two lists belong together.

/// Most comparisons of one alignment. Longer lists are compared in their order.
const MAX_COMPARISONS: usize = 4_000_000;

/// Where an item of a list belongs, by the indices in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pair {
    Both(usize, usize),
    Left(usize),
    Right(usize),
}

/// Pairs the items of the longest common subsequence, and between those the
/// items that are `akin`, in their order.
pub(super) fn align<T: PartialEq>(
    left: &[T],
    right: &[T],
    akin: impl Fn(&T, &T) -> bool,
) -> Vec<Pair> {
    let mut pairs = Vec::with_capacity(left.len().max(right.len()));
    let (mut l, mut r) = (0, 0);
    for (next_l, next_r) in common(left, right).into_iter().chain([(left.len(), right.len())]) {
        for (l, item) in left.iter().enumerate().take(next_l).skip(l) {
            match (r..next_r).find(|r| akin(item, &right[*r])) {
                Some(found) => {
                    pairs.extend((r..found).map(Pair::Right));
                    pairs.push(Pair::Both(l, found));
                    r = found + 1;
                }
                None => pairs.push(Pair::Left(l)),
            }
        }
        pairs.extend((r..next_r).map(Pair::Right));
        if next_l < left.len() {
            pairs.push(Pair::Both(next_l, next_r));
        }
        (l, r) = (next_l + 1, next_r + 1);
    }
    pairs
}

/// The indices of the longest common subsequence.
fn common<T: PartialEq>(left: &[T], right: &[T]) -> Vec<(usize, usize)> {
    let prefix = left.iter().zip(right).take_while(|(l, r)| l == r).count();
    let rest = (&left[prefix..], &right[prefix..]);
    let suffix = rest.0.iter().rev().zip(rest.1.iter().rev()).take_while(|(l, r)| l == r).count();
    let (left_end, right_end) = (left.len() - suffix, right.len() - suffix);
    let (inner_left, inner_right) = (&left[prefix..left_end], &right[prefix..right_end]);

    let mut common: Vec<_> = (0..prefix).map(|n| (n, n)).collect();
    if inner_left.len().saturating_mul(inner_right.len()) <= MAX_COMPARISONS {
        let inner = subsequence(inner_left, inner_right).into_iter();
        common.extend(inner.map(|(l, r)| (prefix + l, prefix + r)));
    }
    common.extend((0..suffix).map(|n| (left_end + n, right_end + n)));
    common
}

fn subsequence<T: PartialEq>(left: &[T], right: &[T]) -> Vec<(usize, usize)> {
    // lengths[l][r] is the length for left[l..] and right[r..].
    let mut lengths = vec![vec![0_u32; right.len() + 1]; left.len() + 1];
    for l in (0..left.len()).rev() {
        for r in (0..right.len()).rev() {
            lengths[l][r] = if left[l] == right[r] {
                lengths[l + 1][r + 1] + 1
            } else {
                lengths[l + 1][r].max(lengths[l][r + 1])
            };
        }
    }
    let (mut l, mut r) = (0, 0);
    let mut found = Vec::new();
    while l < left.len() && r < right.len() {
        if left[l] == right[r] {
            found.push((l, r));
            (l, r) = (l + 1, r + 1);
        } else if lengths[l + 1][r] >= lengths[l][r + 1] {
            l += 1;
        } else {
            r += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_equal_is_paired_and_what_is_akin_fills_the_gaps() {
        let akin = |l: &&str, r: &&str| l.chars().next() == r.chars().next();
        let pairs = align(&["a1", "b1", "c1", "d1"], &["x1", "a1", "b2", "d1", "e1"], akin);
        assert_eq!(
            pairs,
            [
                Pair::Right(0),
                Pair::Both(0, 1),
                Pair::Both(1, 2),
                Pair::Left(2),
                Pair::Both(3, 3),
                Pair::Right(4)
            ]
        );
    }

    #[test]
    fn long_lists_are_compared_in_their_order() {
        let left: Vec<usize> = (0..3000).collect();
        let right: Vec<usize> = (0..3000).map(|n| n + 10_000).collect();
        let pairs = align(&left, &right, |_, _| true);
        assert!(pairs.iter().enumerate().all(|(n, pair)| *pair == Pair::Both(n, n)));
        assert_eq!(pairs.len(), 3000);
    }
}
