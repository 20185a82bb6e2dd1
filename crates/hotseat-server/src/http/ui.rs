//! The page, and the one that shows the API, inside the binary.
//!
//! Addresses without a dot belong to the page and get its one document; a file
//! that is not there is 404, so that a broken build shows. Scripts and styles are
//! kept compressed; `packed.rs` unpacks them for who does not take them so.

use std::borrow::Cow;

use axum::body::Body;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

use super::{Problem, packed};

#[derive(RustEmbed)]
#[folder = "../../ui/dist"]
#[allow_missing = true]
struct Assets;

/// A document may load only what came with it.
pub(super) const CONTENT_SECURITY_POLICY: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; object-src 'none'; \
     base-uri 'none'; frame-ancestors 'none'";

pub(super) async fn serve(uri: Uri) -> Response {
    let path = uri.path().trim_start_matches('/');
    if path.starts_with("api/") {
        return Problem::not_found("there is nothing at this address; /docs lists what there is")
            .into_response();
    }
    let is_file = path.rsplit('/').next().is_some_and(|name| name.contains('.'));
    if is_file {
        return match file(path) {
            Some(response) => response,
            None => Problem::not_found("there is no such file").into_response(),
        };
    }
    document("index.html")
}

/// The page that shows the API.
pub(super) async fn docs() -> Response {
    document("docs/index.html")
}

fn document(path: &str) -> Response {
    file(path).unwrap_or_else(|| {
        let detail = "this binary was built without the page: run `make build`";
        Problem::new(StatusCode::NOT_FOUND, "no_page", detail).into_response()
    })
}

fn file(path: &str) -> Option<Response> {
    let (file, encoding) = match Assets::get(path) {
        // What is packed is known by the name of what is in it.
        Some(_) if path.strip_suffix(".gz").is_some() => return None,
        Some(file) => (file, None),
        None => (Assets::get(&format!("{path}.gz"))?, Some(packed::GZIP)),
    };
    // Names under assets/ carry a hash of what is in them.
    let caching = if path.starts_with("assets/") {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let headers = [
        (header::CONTENT_TYPE, kind(path)),
        (header::CACHE_CONTROL, caching),
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    ];
    let body = match file.data {
        Cow::Borrowed(inside) => Body::from(inside),
        Cow::Owned(read) => Body::from(read),
    };
    let mut response = (headers, body).into_response();
    if let Some(encoding) = encoding {
        response.headers_mut().insert(header::CONTENT_ENCODING, encoding);
    }
    Some(response)
}

/// What a file of the page is, by its name.
fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}
