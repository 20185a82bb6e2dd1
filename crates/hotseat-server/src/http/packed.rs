//! Files that are kept compressed.
//!
//! The pages are in the binary once, compressed, and are sent as they are to
//! everybody who takes gzip: all browsers do. For anybody else they are unpacked on the way.

use std::io::{self, Read as _};

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use flate2::read::GzDecoder;

use super::Problem;

/// How they are compressed.
pub(super) const GZIP: HeaderValue = HeaderValue::from_static("gzip");

/// No file of ours is larger, packed or not.
const MAX_BYTES: usize = 8 << 20;

/// Sends packed files to those who take them, and others unpacked.
pub(super) async fn for_its_reader(request: Request, next: Next) -> Response {
    let takes = takes_gzip(request.headers());
    let mut response = next.run(request).await;
    if response.headers().get(header::CONTENT_ENCODING) != Some(&GZIP) {
        return response;
    }
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if takes { response } else { unpacked(response).await }
}

async fn unpacked(response: Response) -> Response {
    let (mut head, body) = response.into_parts();
    match unpack(body).await {
        Ok(file) => {
            head.headers.remove(header::CONTENT_ENCODING);
            head.headers.remove(header::CONTENT_LENGTH);
            Response::from_parts(head, Body::from(file))
        }
        Err(error) => Problem::internal(&error).into_response(),
    }
}

async fn unpack(body: Body) -> io::Result<Vec<u8>> {
    let packed = to_bytes(body, MAX_BYTES).await.map_err(io::Error::other)?;
    let mut file = Vec::new();
    GzDecoder::new(&*packed).take(MAX_BYTES as u64).read_to_end(&mut file)?;
    Ok(file)
}

/// Whether a reader takes gzip: it says so, and not that it would rather have nothing.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).into_iter();
    let words = values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let words: Vec<&str> = words.collect();
    let quality = |wanted: &str| {
        words.iter().find_map(|word| {
            let mut parts = word.split(';').map(str::trim);
            let name = parts.next().filter(|name| name.eq_ignore_ascii_case(wanted));
            name.map(|_| {
                parts.find_map(|part| part.strip_prefix("q=")?.parse().ok()).unwrap_or(1.0)
            })
        })
    };
    quality("gzip").or_else(|| quality("*")).is_some_and(|quality: f32| quality > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_taken_by_who_says_so() {
        for (said, expected) in [
            (None, false),
            (Some(""), false),
            (Some("br, zstd"), false),
            (Some("identity"), false),
            (Some("gzip"), true),
            (Some("br;q=1.0, GZIP ; q=0.5"), true),
            (Some("gzip;q=0"), false),
            (Some("gzip;q=0, *"), false),
            (Some("br, *;q=0.1"), true),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(said) = said {
                headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(said));
            }
            assert_eq!(takes_gzip(&headers), expected, "{said:?}");
        }
    }
}
