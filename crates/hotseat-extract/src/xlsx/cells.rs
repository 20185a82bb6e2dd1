//! Cell addresses and ranges: `B7`, `A1:C10`.
//!
//! Rows and columns count from 0 and stay within the largest sheet Excel allows.

/// Excel's own number of columns, A to XFD.
const MAX_COLUMNS: u32 = 16_384;
/// Excel's own number of rows.
const MAX_ROWS: u32 = 1_048_576;

/// A rectangle of cells; both corners belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CellRange {
    pub(crate) first: (u32, u32),
    pub(crate) last: (u32, u32),
}

impl CellRange {
    /// Every cell there can be.
    pub(crate) const ALL: Self = Self { first: (0, 0), last: (MAX_ROWS - 1, MAX_COLUMNS - 1) };

    /// `A1:C10`, or `B7` for one cell; `$` signs are allowed, as Excel writes them.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.replace('$', "");
        let (one, other) = text.split_once(':').unwrap_or((&text, &text));
        let (one, other) = (address(one.trim())?, address(other.trim())?);
        let first = (one.0.min(other.0), one.1.min(other.1));
        let last = (one.0.max(other.0), one.1.max(other.1));
        Some(Self { first, last })
    }

    pub(crate) fn contains(self, row: u32, column: u32) -> bool {
        (self.first.0..=self.last.0).contains(&row)
            && (self.first.1..=self.last.1).contains(&column)
    }
}

/// Row and column of `B7`, from 0.
pub(crate) fn address(text: &str) -> Option<(u32, u32)> {
    let digits = text.find(|character: char| character.is_ascii_digit())?;
    let (letters, number) = text.split_at(digits);
    if letters.is_empty() || letters.len() > 3 {
        return None;
    }
    let mut column = 0;
    for letter in letters.bytes() {
        let value = letter.to_ascii_uppercase();
        if !value.is_ascii_uppercase() {
            return None;
        }
        column = column * 26 + u32::from(value - b'A') + 1;
    }
    let row: u32 = number.parse().ok()?;
    ((1..=MAX_ROWS).contains(&row) && column <= MAX_COLUMNS).then(|| (row - 1, column - 1))
}
