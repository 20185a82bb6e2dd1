//! Files inside the binary, for those who take them compressed and for others.

use hotseat_testkit::{Api, TestServer};

/// A file, and how it came: its encoding and its bytes.
async fn file(api: &Api, path: &str, accepts: Option<&str>) -> (Option<String>, Vec<u8>) {
    let mut request = api.request("GET".parse().unwrap(), path);
    if let Some(accepts) = accepts {
        request = request.header("accept-encoding", accepts);
    }
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    let encoding = answer.headers().get("content-encoding");
    let encoding = encoding.map(|encoding| encoding.to_str().unwrap().to_owned());
    (encoding, answer.bytes().await.unwrap().to_vec())
}

/// A script of a page, as its document names it.
async fn script(api: &Api, page: &str) -> String {
    let page = api.get(page).await.body;
    let (_, rest) = page.split_once("src=\"/assets/").expect("a page with a script");
    format!("/assets/{}", rest.split('"').next().unwrap())
}

#[tokio::test]
async fn files_come_compressed_to_those_who_take_them_so_and_plain_to_others() {
    let server = TestServer::scratch().await;
    for page in ["/", "/docs/"] {
        let path = script(&server.api, page).await;
        let (encoding, packed) = file(&server.api, &path, Some("gzip, br")).await;
        assert_eq!(encoding.as_deref(), Some("gzip"), "{path}");
        assert_eq!(packed[..2], [0x1f, 0x8b], "{path}");

        for accepts in [None, Some("br"), Some("gzip;q=0")] {
            let (encoding, plain) = file(&server.api, &path, accepts).await;
            assert_eq!(encoding, None, "{path} {accepts:?}");
            assert!(plain.len() > packed.len(), "{path} {accepts:?}");
            assert!(std::str::from_utf8(&plain).is_ok(), "{path} {accepts:?}");
        }
    }
}

/// What is kept compressed has no second address.
#[tokio::test]
async fn a_compressed_file_has_only_the_name_of_what_is_in_it() {
    let server = TestServer::scratch().await;
    let path = script(&server.api, "/").await;
    let answer = server.api.get(&path).await;
    assert!(answer.header("content-type").starts_with("text/javascript"));
    server.api.get(&format!("{path}.gz")).await.problem(404, "not_found");
}
