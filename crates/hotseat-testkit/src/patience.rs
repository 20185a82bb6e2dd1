//! How long a test waits for something that has to happen.

use std::future::Future;
use std::time::Duration;

/// Far more than anything here takes on a busy machine, and still an end.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// What `future` gives, or a panic that says what was waited for.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(PATIENCE, future).await;
    waited.unwrap_or_else(|_| panic!("waited {PATIENCE:?} in vain for {what}"))
}
