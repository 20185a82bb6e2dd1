//! What a browser is told about every document that it is given.

use hotseat_testkit::TestServer;

/// What a policy says of one kind of thing, or of everything where it says nothing of it.
fn allowed<'a>(policy: &'a str, kind: &str) -> &'a str {
    let find = |kind: &str| policy.split(';').find_map(|rule| rule.trim().strip_prefix(kind));
    find(kind).or_else(|| find("default-src")).unwrap_or_default().trim()
}

/// The page shows what tools and models wrote. If a script gets through all the same,
/// the browser must not run it, nor send anything elsewhere.
#[tokio::test]
async fn no_document_lets_the_browser_run_what_is_written_into_it() {
    let server = TestServer::scratch().await;
    let mut seen = 0;
    for path in ["/", "/sessions/x", "/eval-sets", "/docs/", "/docs/index.html"] {
        let answer = server.api.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert!(answer.header("content-type").starts_with("text/html"), "{path}");
        let policy = answer.header("content-security-policy");
        for kind in ["script-src", "connect-src", "default-src"] {
            assert_eq!(allowed(policy, kind), "'self'", "{path}: {policy}");
        }
        for (kind, rule) in
            [("object-src", "'none'"), ("base-uri", "'none'"), ("frame-ancestors", "'none'")]
        {
            assert_eq!(allowed(policy, kind), rule, "{path}: {policy}");
        }
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("x-frame-options"), "DENY", "{path}");
        // What the policy forbids, our own pages must do without.
        assert!(!answer.body.contains("<script>") && !answer.body.contains("onload="), "{path}");
        seen += 1;
    }
    assert_eq!(seen, 5);
}

/// An error repeats what a caller wrote, so it must be no document at all.
#[tokio::test]
async fn what_a_caller_wrote_comes_back_in_no_document() {
    let server = TestServer::scratch().await;
    for path in [
        "/api/v1/<script>alert(1)</script>",
        "/api/v1/sessions?status=<script>alert(1)</script>",
        "/api/v1/sessions/<script>alert(1)</script>",
        "/<script>alert(1)</script>.js",
        "/?token=<script>alert(1)</script>",
    ] {
        let answer = server.api.without_token().get(path).await;
        let html = answer.header("content-type").starts_with("text/html");
        assert!(!html || !answer.body.contains("alert(1)"), "{path}: {}", answer.body);
        let answer = server.api.get(path).await;
        let html = answer.header("content-type").starts_with("text/html");
        assert!(!html || !answer.body.contains("alert(1)"), "{path}: {}", answer.body);
    }
}
