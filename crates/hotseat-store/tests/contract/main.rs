//! The contract of the log: one suite, run over every backend.
//!
//! A test of the contract is a function that takes an open store; `suite!` makes
//! one test of it for each backend.

#[cfg(test)]
mod append;
#[cfg(test)]
mod concurrency;
#[cfg(test)]
mod delete;
#[cfg(test)]
mod equivalence;
#[cfg(test)]
mod events;
#[cfg(test)]
mod log;
#[cfg(test)]
mod payload;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod sqlite;
#[cfg(test)]
mod summary;
#[cfg(test)]
mod turns;

/// Makes a test for each backend of every function named. One that is not named
/// is dead code, which the linter refuses.
#[cfg(test)]
macro_rules! suite {
    ($($name:ident),* $(,)?) => {
        mod memory {
            $(
                #[tokio::test]
                async fn $name() {
                    super::$name(hotseat_store::Store::memory()).await;
                }
            )*
        }

        mod sqlite {
            $(
                #[tokio::test]
                async fn $name() {
                    let folder = tempfile::tempdir().unwrap();
                    let store = hotseat_store::Store::sqlite(&folder.path().join("hotseat.db"));
                    super::$name(store.unwrap()).await;
                }
            )*
        }
    };
}
#[cfg(test)]
pub(crate) use suite;
