//! The contract of the log: one suite, to be run over every database.
//!
//! A test of the contract is a function that takes an open store; `suite!` makes
//! one test of it for each database.

#[cfg(test)]
mod append;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod concurrency;
#[cfg(test)]
mod crashes;
#[cfg(test)]
mod delete;
#[cfg(test)]
mod events;
#[cfg(test)]
mod leases;
#[cfg(test)]
mod ledger;
#[cfg(test)]
mod log;
#[cfg(test)]
mod payload;
#[cfg(test)]
mod people;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod retention;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod settling;
#[cfg(test)]
mod sqlite;
#[cfg(test)]
mod summary;
#[cfg(test)]
mod turns;
#[cfg(test)]
mod upgrades;

/// Makes a test for each database of every function named. One that is not named
/// is dead code, which the linter refuses.
#[cfg(test)]
macro_rules! suite {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(
                #[tokio::test]
                async fn $name() {
                    let store = hotseat_store::Store::scratch(Default::default());
                    super::$name(store.unwrap()).await;
                }
            )*
        }
    };
}
#[cfg(test)]
pub(crate) use suite;
