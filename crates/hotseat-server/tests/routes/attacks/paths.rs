//! Paths that lead out of where they begin.

use hotseat_testkit::TestServer;

use super::{exchange, get};

/// In builds for tests the page's files are read from their folder, so a path that gets
/// out of it would find these; in released ones there is no folder to get out of.
#[tokio::test]
async fn no_spelling_of_a_path_leads_out_of_the_pages_files() {
    let server = TestServer::scratch().await;
    let ups = ["..", "%2e%2e", "%2E.", "%252e%252e", "..%00", "..;", "....", "%c0%ae%c0%ae"];
    let slashes = ["/", "%2f", "%252f", "\\", "%5c", "//"];
    for up in ups {
        for slash in slashes {
            for (base, file) in [
                ("/assets/", format!("{up}{slash}{up}{slash}package.json")),
                ("/", format!("{up}{slash}package.json")),
                ("/assets/", format!("{up}{slash}{up}{slash}{up}{slash}Cargo.toml")),
                ("/", format!("{slash}etc{slash}passwd.")),
            ] {
                let target = format!("{base}{file}");
                let answer = exchange(&server, &get(&target, "host: localhost\r\n")).await;
                let status = answer.get(9..12).unwrap_or_default();
                assert!(matches!(status, "404" | "400" | "200"), "{target}: {answer}");
                // A path without a dot in its last part is the page's own.
                let is_page = answer.contains("<title>Hotseat</title>");
                assert!(status != "200" || is_page, "{target}: {answer}");
                for inside in ["\"dependencies\"", "[workspace", "root:"] {
                    assert!(!answer.contains(inside), "{target} gave {inside}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_session_cannot_be_named_by_a_path() {
    let server = TestServer::scratch().await;
    for id in [
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e%2fagents",
        "..%5c..%5cwindows",
        "%00",
        "a%0d%0aset-cookie:%20a=b",
        "%252e%252e%252fagents",
    ] {
        for rest in ["", "/events", "/stream", "/artifacts", "/artifacts/..%2fkey"] {
            let answer = server.api.get(&format!("/api/v1/sessions/{id}{rest}")).await;
            answer.problem(404, "session_not_found");
            assert_eq!(answer.header("set-cookie"), "");
        }
    }
}
