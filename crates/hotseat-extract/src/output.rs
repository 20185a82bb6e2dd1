//! The Markdown being written, with its limit on characters.
//!
//! A reader that finds [`Output::is_full`] stops, so no document makes more work than its output is worth. Blocks are
//! kept apart by one blank line, list items by none.

use crate::error::ExtractError;
use crate::job::Job;

/// Rows between two looks at the clock.
const ROWS_PER_CHECK: usize = 256;

/// Markdown up to a limit.
pub(crate) struct Output {
    text: String,
    chars_left: usize,
    cut: bool,
    in_list: bool,
}

impl Output {
    pub(crate) fn new(limit: usize) -> Self {
        Self { text: String::new(), chars_left: limit, cut: false, in_list: false }
    }

    /// Whether something has been cut, so that all further text would be too.
    pub(crate) fn is_full(&self) -> bool {
        self.cut
    }

    pub(crate) fn push(&mut self, text: &str) {
        if self.cut {
            return;
        }
        // A character is at least one byte, so text this short fits whatever it holds.
        let end = if text.len() <= self.chars_left {
            None
        } else {
            text.char_indices().nth(self.chars_left).map(|(end, _)| end)
        };
        match end {
            None => {
                self.chars_left -= text.chars().count();
                self.text.push_str(text);
            }
            Some(end) => {
                self.text.push_str(&text[..end]);
                self.chars_left = 0;
                self.cut = true;
            }
        }
    }

    /// A paragraph, heading or other block; nothing for blank text.
    pub(crate) fn block(&mut self, text: &str) {
        let text = text.trim_end();
        if text.trim_start().is_empty() {
            return;
        }
        self.separate(false);
        self.push(text);
    }

    /// A list item with its marker and indentation.
    pub(crate) fn item(&mut self, text: &str) {
        self.separate(true);
        self.push(text.trim_end());
    }

    /// A table whose first row is its header; short rows are filled up. Cells hold plain text.
    pub(crate) fn table<R, C>(
        &mut self,
        job: &Job,
        width: usize,
        rows: impl IntoIterator<Item = R>,
    ) -> Result<(), ExtractError>
    where
        R: IntoIterator<Item = C>,
        C: AsRef<str>,
    {
        for (at, row) in rows.into_iter().enumerate() {
            if at % ROWS_PER_CHECK == 0 {
                job.check_time()?;
            }
            if at == 0 {
                self.separate(false);
            } else {
                self.push("\n");
            }
            self.row(width, row);
            if at == 0 {
                self.push("\n");
                self.row(width, std::iter::repeat_n("---", width));
            }
            if self.cut {
                break;
            }
        }
        Ok(())
    }

    /// The text, and whether it was cut.
    pub(crate) fn finish(mut self) -> (String, bool) {
        if !self.cut && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        (self.text, self.cut)
    }

    fn row<C: AsRef<str>>(&mut self, width: usize, cells: impl IntoIterator<Item = C>) {
        self.push("|");
        let mut written = 0;
        for cell in cells.into_iter().take(width) {
            self.cell(cell.as_ref());
            written += 1;
        }
        while written < width && !self.cut {
            self.push("  |");
            written += 1;
        }
    }

    fn cell(&mut self, text: &str) {
        self.push(" ");
        let text = text.trim();
        if text.contains(['|', '\n', '\r']) {
            self.push(
                &text.replace('|', "\\|").replace("\r\n", "<br>").replace(['\n', '\r'], "<br>"),
            );
        } else {
            self.push(text);
        }
        self.push(" |");
    }

    fn separate(&mut self, list: bool) {
        if !self.text.is_empty() {
            self.push(if list && self.in_list { "\n" } else { "\n\n" });
        }
        self.in_list = list;
    }
}
