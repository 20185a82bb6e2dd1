//! Number formats, as far as a reader of Markdown needs them.
//!
//! A format code becomes one of a few kinds: a moment, or a number with so many decimals, grouped or not, in percent
//! or not, with text around it. Colours, conditions, alignment and the sections for other signs are ignored; a minus
//! sign stays a minus sign.

use crate::xlsx::dates::{self, Shown};

/// Excel shows no more significant digits than this, which hides the noise of binary fractions.
const SIGNIFICANT_DIGITS: usize = 15;
/// More decimals than Excel offers.
const MAX_DECIMALS: usize = 30;

/// How a cell's number is shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum NumberFormat {
    /// As it is.
    #[default]
    General,
    /// A date or time.
    Moment(Shown),
    /// A number of a fixed shape.
    Fixed {
        /// Digits after the point.
        decimals: usize,
        /// Whether thousands are set apart.
        grouped: bool,
        /// Whether it is multiplied by 100.
        percent: bool,
        /// Text before, such as a currency sign.
        prefix: String,
        /// Text after, such as a unit.
        suffix: String,
    },
}

impl NumberFormat {
    /// The formats that Excel knows by number only.
    pub(crate) fn built_in(id: u32) -> Self {
        Self::parse(match id {
            1 => "0",
            2 => "0.00",
            3 | 37 | 38 => "#,##0",
            4 | 39 | 40 => "#,##0.00",
            9 => "0%",
            10 => "0.00%",
            14..=17 | 27..=31 | 36 | 50..=54 | 57 | 58 => "yyyy-mm-dd",
            18..=21 | 32..=35 | 45 | 47 | 55 | 56 => "hh:mm:ss",
            22 => "yyyy-mm-dd hh:mm",
            46 => "[h]:mm:ss",
            _ => "General",
        })
    }

    pub(crate) fn parse(code: &str) -> Self {
        let tokens = Tokens::of(code);
        if let Some(shown) = tokens.moment() {
            return Self::Moment(shown);
        }
        // Scientific notation and fractions read better as the number itself.
        if !tokens.pattern.contains(['0', '#']) || tokens.pattern.contains(['E', 'e', '/']) {
            return Self::General;
        }
        let (whole, fraction) = tokens.pattern.split_once('.').unwrap_or((&tokens.pattern, ""));
        let decimals = fraction
            .chars()
            .filter(|symbol| matches!(symbol, '0' | '#' | '?'))
            .count()
            .min(MAX_DECIMALS);
        Self::Fixed {
            decimals,
            grouped: whole.trim_end_matches(',').contains(','),
            percent: tokens.pattern.contains('%'),
            prefix: tokens.prefix,
            suffix: tokens.suffix,
        }
    }

    pub(crate) fn show(&self, value: f64, epoch_1904: bool) -> String {
        match self {
            Self::General => general(value),
            Self::Moment(shown) => {
                dates::moment(value, *shown, epoch_1904).unwrap_or_else(|| general(value))
            }
            Self::Fixed { decimals, grouped, percent, prefix, suffix } => {
                let shown = if *percent { value * 100.0 } else { value };
                let mut digits = format!("{:.decimals$}", shown.abs());
                if *grouped {
                    digits = group(&digits);
                }
                let sign =
                    if shown < 0.0 && digits.contains(|digit: char| ('1'..='9').contains(&digit)) {
                        "-"
                    } else {
                        ""
                    };
                let percent = if *percent { "%" } else { "" };
                format!("{sign}{prefix}{digits}{percent}{suffix}").trim().to_owned()
            }
        }
    }
}

/// The first section of a format code, taken apart.
#[derive(Default)]
struct Tokens {
    /// The symbols that stand for digits, dates and such.
    pattern: String,
    prefix: String,
    suffix: String,
    elapsed: bool,
}

impl Tokens {
    fn of(code: &str) -> Self {
        let mut tokens = Self::default();
        let mut symbols = code.chars();
        while let Some(symbol) = symbols.next() {
            match symbol {
                ';' => break,
                '"' => {
                    let literal: String =
                        symbols.by_ref().take_while(|symbol| *symbol != '"').collect();
                    tokens.literal(&literal);
                }
                '\\' => tokens.literal(&symbols.next().map(String::from).unwrap_or_default()),
                // Room as wide as the next symbol, and filling with it.
                '_' | '*' => {
                    symbols.next();
                }
                '[' => {
                    let inside: String =
                        symbols.by_ref().take_while(|symbol| *symbol != ']').collect();
                    tokens.bracket(&inside);
                }
                '$' | '€' | '£' | '¥' | ' ' | '(' | ')' | '-' | '+' => {
                    tokens.literal(&symbol.to_string());
                }
                symbol => tokens.pattern.push(symbol),
            }
        }
        tokens
    }

    fn literal(&mut self, text: &str) {
        // The brackets around negative numbers belong to a section that is not used.
        let text = text.replace(['(', ')'], "");
        if self.pattern.is_empty() {
            self.prefix.push_str(&text);
        } else {
            self.suffix.push_str(&text);
        }
    }

    /// `[$€-407]` is a currency, `[h]` are hours without end, `[Red]` and `[>100]` are nothing to read.
    fn bracket(&mut self, inside: &str) {
        if let Some(currency) = inside.strip_prefix('$') {
            let currency = currency.split('-').next().unwrap_or_default().to_owned();
            self.literal(&currency);
        } else if !inside.is_empty()
            && inside.chars().all(|symbol| matches!(symbol, 'h' | 'H' | 'm' | 's'))
        {
            self.elapsed = true;
            self.pattern.push_str(inside);
        }
    }

    fn moment(&self) -> Option<Shown> {
        let pattern = self.pattern.to_ascii_lowercase();
        if pattern.starts_with("general") || pattern.contains('#') {
            return None;
        }
        let day = pattern.contains(['y', 'd']);
        let time = pattern.contains(['h', 's']);
        match (day, time) {
            (_, true) if self.elapsed => Some(Shown::Elapsed),
            (true, true) => Some(Shown::DateTime),
            (true, false) => Some(Shown::Date),
            (false, true) => Some(Shown::Time),
            (false, false) => pattern.contains('m').then_some(Shown::Date),
        }
    }
}

fn general(value: f64) -> String {
    let rounded = format!("{value:.precision$e}", precision = SIGNIFICANT_DIGITS - 1);
    rounded.parse::<f64>().unwrap_or(value).to_string()
}

fn group(digits: &str) -> String {
    let whole = digits.find('.').unwrap_or(digits.len());
    let mut grouped = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && at < whole && (whole - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
