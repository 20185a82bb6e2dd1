//! Server-sent events: the log of one session, and what changes anywhere.

use axum::http::HeaderMap;
use axum::response::Response;
use futures_util::stream::{Stream, StreamExt, unfold};
use hotseat_core::{Event, HistoryProjector, Seq};
use hotseat_store::Change;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::broadcast;

use super::Problem;
use super::extract::{At, Entered, Params, session_id};
use super::rooms::RoomView;
use super::sse::{self, Message};
use super::view::{EventView, SessionView};
use crate::service::{App, Followed};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct StreamParams {
    /// Only events after this one; `Last-Event-ID` wins.
    #[serde(alias = "afterSeq")]
    after_seq: Option<u64>,
    /// `history`: with history entries instead of heavy raw objects.
    view: Option<String>,
}

/// The log of a session after `Last-Event-ID`, a `history_complete` marker, then live; and
/// `room`, without an id, when somebody comes, goes, types, or claims a turn.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/stream", tag = "events", params(("id" = String, Path), StreamParams),
    responses((status = 200, content_type = "text/event-stream", body = EventView), (status = 404, body = Problem)))]
pub(super) async fn session(
    Entered(app): Entered,
    At(id): At<String>,
    Params(params): Params<StreamParams>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = session_id(&id)?;
    let after = resume_from(&headers)?.or(params.after_seq).unwrap_or_default();
    let after = Seq::new(after);
    let mut view = match params.view.as_deref() {
        None => View::Whole,
        // Entries depend on what came before, so the projector sees the log from its start.
        Some("history") => View::History(Box::default()),
        Some(_) => return Err(Problem::bad_request("`view` can only be `history`")),
    };
    let from = match view {
        View::Whole => after,
        View::History(_) => Seq::START,
    };
    let followed = app.follow(id, from).await?;
    let room = unfold(app.sit_down(id), |mut seated| async {
        let news = seated.news().await?;
        Some((Message::new("room", &RoomView::from(news)), seated))
    });
    let messages = followed.filter_map(move |followed| {
        let message = match followed {
            Ok(Followed::Event(event)) => view.message(*event, after),
            // A reader that is behind the gap already has no need to know.
            Ok(Followed::Gap { through, .. }) if through <= after => None,
            Ok(Followed::Gap { after: from, through }) => {
                let data = json!({"after": from.max(after), "through": through});
                Some(Message::at("gap", through, &data))
            }
            Ok(Followed::HistoryComplete { last_seq, .. }) => {
                let data = json!({"last_seq": last_seq});
                Some(Message::new("history_complete", &data))
            }
            // The client reconnects from where it was, and meets the error as a status there.
            Err(_) => None,
        };
        std::future::ready(message)
    });
    Ok(sse::response(while_first(messages, room)))
}

/// Both streams in one, until the first ends. The log goes before what is only told.
fn while_first<T>(
    first: impl Stream<Item = T> + Send + 'static,
    second: impl Stream<Item = T> + Send + 'static,
) -> impl Stream<Item = T> + Send + 'static {
    let streams = (Box::pin(first), Box::pin(second.fuse()));
    unfold(streams, |(mut first, mut second)| async {
        let item = tokio::select! {
            biased;
            item = first.next() => item?,
            Some(item) = second.next() => item,
        };
        Some((item, (first, second)))
    })
}

fn resume_from(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let number = value.to_str().ok().and_then(|value| value.trim().parse().ok());
    number.map(Some).ok_or_else(|| Problem::bad_request("`Last-Event-ID` must be a number"))
}

enum View {
    Whole,
    History(Box<HistoryProjector>),
}

impl View {
    fn message(&mut self, event: Event, after: Seq) -> Option<Message> {
        let seq = event.seq;
        let view = match self {
            Self::Whole => EventView::whole(event),
            Self::History(projector) => {
                let entries = projector.push(&event);
                if seq <= after {
                    return None;
                }
                EventView::with_entries(event, entries)
            }
        };
        Some(Message::at("event", seq, &view))
    }
}

/// What changes anywhere: sessions and agents. Without history.
#[utoipa::path(get, path = "/api/v1/stream", tag = "events",
    responses((status = 200, content_type = "text/event-stream", body = SessionView)))]
pub(super) async fn all(Entered(app): Entered) -> Response {
    let listener =
        Listener { sessions: app.changes(), agents: app.workers.changes(), app, greeted: false };
    let messages = unfold(listener, |mut listener| async {
        let message = listener.next().await?;
        Some((message, listener))
    });
    sse::response(messages)
}

struct Listener {
    app: App,
    sessions: broadcast::Receiver<Change>,
    agents: broadcast::Receiver<()>,
    greeted: bool,
}

impl Listener {
    async fn next(&mut self) -> Option<Message> {
        use broadcast::error::RecvError::{Closed, Lagged};
        if !self.greeted {
            self.greeted = true;
            return Some(Message::new("ready", &json!({})));
        }
        loop {
            tokio::select! {
                change = self.sessions.recv() => match change {
                    Ok(Change::Deleted { session, user_id }) => {
                        if self.app.concerns(&user_id, session) {
                            return Some(Message::new("session_deleted", &json!({"id": session})));
                        }
                    }
                    Ok(Change::Grew(id)) => {
                        if let Some(session) = self.app.visible(id).await {
                            let view = SessionView::new(&self.app, session);
                            return Some(Message::new("session", &view));
                        }
                    }
                    // Whoever fell behind loads the lists again.
                    Ok(Change::Missed) | Err(Lagged(_)) => {
                        return Some(Message::new("ready", &json!({})));
                    }
                    Err(Closed) => return None,
                },
                change = self.agents.recv() => match change {
                    Ok(()) | Err(Lagged(_)) => return Some(Message::new("agents", &json!({}))),
                    Err(Closed) => return None,
                },
                () = self.app.closed() => return None,
            }
        }
    }
}
