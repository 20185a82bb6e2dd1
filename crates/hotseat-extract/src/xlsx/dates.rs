//! Excel's dates: days since an epoch, with the time as a fraction.
//!
//! Workbooks count from 1900 and believe that year had a 29 February, or from 1904 when they began on an old Mac.

use jiff::ToSpan;
use jiff::civil::{Date, date};

const SECONDS_PER_DAY: i64 = 86_400;
/// 31 December 9999, the last day Excel knows.
const MAX_SERIAL: f64 = 2_958_466.0;
/// The day after the 29 February 1900 that never was.
const AFTER_LEAP_BUG: i64 = 60;

/// What a number format shows of a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Only the day.
    Date,
    /// Only the time of day.
    Time,
    /// Both.
    DateTime,
    /// Hours that go past 24, such as `[h]:mm`.
    Elapsed,
}

/// The moment as text, or nothing for a number that is none.
pub(crate) fn moment(serial: f64, shown: Shown, epoch_1904: bool) -> Option<String> {
    if !(0.0..MAX_SERIAL).contains(&serial) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the serial is below three million")]
    let seconds = (serial * 86_400.0).round() as i64;
    let (days, second) = (seconds / SECONDS_PER_DAY, seconds % SECONDS_PER_DAY);
    let time = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    match shown {
        Shown::Time => Some(time),
        Shown::Elapsed => {
            Some(format!("{}:{:02}:{:02}", seconds / 3600, second / 60 % 60, second % 60))
        }
        Shown::Date => Some(day(days, epoch_1904)?.to_string()),
        Shown::DateTime => Some(format!("{} {time}", day(days, epoch_1904)?)),
    }
}

fn day(days: i64, epoch_1904: bool) -> Option<Date> {
    let epoch = if epoch_1904 {
        date(1904, 1, 1)
    } else if days < AFTER_LEAP_BUG {
        date(1899, 12, 31)
    } else {
        date(1899, 12, 30)
    };
    epoch.checked_add(days.days()).ok()
}
