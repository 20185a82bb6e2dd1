//! Text inside a paragraph: runs that are bold, italic or linked, written as Markdown.
//!
//! Neighbouring runs of the same look are joined first, because word processors split them at every edit, and
//! `**a****b**` is not bold. Markers never touch white space, which would stop them from working.

/// How a run looks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    pub(crate) link: Option<String>,
}

/// The runs of one paragraph.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inline(Vec<(Look, String)>);

impl Inline {
    pub(crate) fn push(&mut self, look: &Look, text: &str) {
        match self.0.last_mut() {
            Some((last, joined)) if last == look => joined.push_str(text),
            _ => self.0.push((look.clone(), text.to_owned())),
        }
    }

    /// Without any markers, on one line.
    pub(crate) fn plain(&self) -> String {
        let text: String = self.0.iter().map(|(_, text)| text.as_str()).collect();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn markdown(&self) -> String {
        let mut markdown = String::new();
        for (look, text) in &self.0 {
            let body = text.trim();
            if body.is_empty() {
                markdown.push_str(text);
                continue;
            }
            let start = text.len() - text.trim_start().len();
            markdown.push_str(&text[..start]);
            let marker = match (look.bold, look.italic) {
                (false, false) => "",
                (false, true) => "*",
                (true, false) => "**",
                (true, true) => "***",
            };
            markdown.push_str(marker);
            match &look.link {
                Some(address) => {
                    markdown.extend(["[", body, "](", &address.replace(' ', "%20"), ")"]);
                }
                None => markdown.push_str(body),
            }
            markdown.push_str(marker);
            markdown.push_str(&text[start + body.len()..]);
        }
        markdown.trim().to_owned()
    }
}
