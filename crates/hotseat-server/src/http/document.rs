//! What is true of every answer, said in the OpenAPI document once.
//!
//! Routes say what is special of them. That a problem is `application/problem+json`, that any
//! address may answer with one (without a token, to a body it cannot read, while the server stops),
//! and that a stream is messages of one form, is so by what is around them, and nobody has to
//! remember it.

use std::mem;

use utoipa::openapi::content::{Content, ContentBuilder};
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::{OpenApi, Ref, RefOr};

const PROBLEM_TYPE: &str = "application/problem+json";

const STREAM_TYPE: &str = "text/event-stream";

/// The names of [`super::Problem`] and of [`ServerSentEvent`] among the schemas.
const PROBLEM: &str = "Problem";
const EVENT: &str = "ServerSentEvent";

/// One of the messages of a stream.
#[derive(Debug, utoipa::ToSchema)]
#[expect(dead_code, reason = "streams are written by `sse.rs`; this only tells their form")]
pub(super) struct ServerSentEvent {
    /// What sort of message it is, where there are several.
    event: Option<String>,
    /// From where a reader can resume.
    id: Option<String>,
    /// JSON.
    data: String,
}

/// The document of the routes, with what they do not say.
pub(super) fn finished(mut document: OpenApi) -> OpenApi {
    env!("CARGO_PKG_VERSION").clone_into(&mut document.info.version);
    for item in document.paths.paths.values_mut() {
        operations(item).for_each(tell_problems);
    }
    document
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let PathItem { get, put, post, delete, patch, .. } = item;
    [get, put, post, delete, patch].into_iter().flatten()
}

fn tell_problems(operation: &mut Operation) {
    let responses = &mut operation.responses.responses;
    for response in responses.values_mut() {
        if let RefOr::T(response) = response {
            let content = mem::take(&mut response.content);
            let typed = content.into_iter().map(|(kind, content)| match content {
                RefOr::T(mut content) if kind == STREAM_TYPE => {
                    content.schema = Some(Ref::from_schema_name(EVENT).into());
                    (kind, RefOr::T(content))
                }
                RefOr::T(content) if is_problem(&content) => {
                    (PROBLEM_TYPE.to_owned(), RefOr::T(content))
                }
                RefOr::T(_) | RefOr::Ref(_) => (kind, content),
            });
            response.content = typed.collect();
        }
    }
    let schema = Ref::from_schema_name(PROBLEM);
    let any = ResponseBuilder::new()
        .description("A problem")
        .content(PROBLEM_TYPE, ContentBuilder::new().schema(Some(schema)).build());
    responses.insert("default".to_owned(), RefOr::T(any.build()));
}

fn is_problem(content: &Content) -> bool {
    match &content.schema {
        Some(RefOr::Ref(to)) => to.ref_location == Ref::from_schema_name(PROBLEM).ref_location,
        Some(RefOr::T(_)) | None => false,
    }
}
