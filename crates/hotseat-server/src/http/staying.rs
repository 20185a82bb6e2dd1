//! Streams end when whoever reads them may not be here any more.
//!
//! A request is checked when it comes. A stream may stay for days, so for as long as it is
//! open it is looked up whether its reader's token still holds.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::header;
use axum::response::Response;
use http_body::{Frame, SizeHint};

use crate::service::{App, Proof};

/// How long a stream may outlive the right to read it.
const LOOKED_UP_EVERY: Duration = Duration::from_secs(1);

/// The response, with its body cut off when `proof` does not hold any more. Only streams are
/// long enough for that to matter.
pub(super) fn while_welcome(app: &App, proof: Proof, response: Response) -> Response {
    let kind = response.headers().get(header::CONTENT_TYPE).map(header::HeaderValue::as_bytes);
    let streams = kind.is_some_and(|kind| {
        kind.starts_with(b"text/event-stream") || kind.starts_with(b"application/grpc")
    });
    if !streams {
        return response;
    }
    let app = app.clone();
    let unwelcome = Box::pin(async move {
        loop {
            tokio::time::sleep(LOOKED_UP_EVERY).await;
            if !app.still_holds(&proof).await {
                return;
            }
        }
    });
    response.map(|body| Body::new(Staying { body, unwelcome }))
}

struct Staying {
    body: Body,
    unwelcome: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl HttpBody for Staying {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.unwelcome.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
