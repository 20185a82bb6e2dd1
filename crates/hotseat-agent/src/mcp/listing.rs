//! The tools that a server lists, page by page.

use std::collections::HashSet;

use rmcp::model::{PaginatedRequestParams, Tool};
use rmcp::{Peer, RoleClient};

use crate::tool::MAX_TOOLS;

/// Most pages of a list.
const MAX_PAGES: usize = 100;

/// All tools of a server.
pub(super) async fn list(peer: &Peer<RoleClient>) -> Result<Vec<Tool>, String> {
    let mut tools = Vec::new();
    let mut cursor: Option<String> = None;
    let mut seen = HashSet::new();
    for _ in 0..MAX_PAGES {
        let page = PaginatedRequestParams::default().with_cursor(cursor.take());
        let page = peer.list_tools(Some(page)).await;
        let page = page.map_err(|error| format!("its tools cannot be listed: {error}"))?;
        tools.extend(page.tools);
        if tools.len() > MAX_TOOLS {
            return Err(format!("it lists more than {MAX_TOOLS} tools"));
        }
        match page.next_cursor {
            Some(next) if seen.insert(next.clone()) => cursor = Some(next),
            Some(_) => return Err("its list of tools has no end".to_owned()),
            None => return Ok(tools),
        }
    }
    Err(format!("its list of tools has more than {MAX_PAGES} pages"))
}
