//! The contract of the log: one suite, run over every database.
//!
//! A test of the contract is a function that takes an open store, or a database in which it
//! opens stores itself; `suite!` makes one test of it for each database.

#[cfg(test)]
mod append;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod clocks;
#[cfg(test)]
mod concurrency;
#[cfg(test)]
mod copy;
#[cfg(test)]
mod crashes;
#[cfg(test)]
mod database;
#[cfg(test)]
mod delete;
#[cfg(test)]
mod events;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod leases;
#[cfg(test)]
mod ledger;
#[cfg(test)]
mod log;
#[cfg(test)]
mod outages;
#[cfg(test)]
mod payload;
#[cfg(test)]
mod people;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod postgres;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod recent;
#[cfg(test)]
mod refusing;
#[cfg(test)]
mod remembered;
#[cfg(test)]
mod retention;
#[cfg(test)]
mod servers;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod settling;
#[cfg(test)]
mod signals;
#[cfg(test)]
mod sqlite;
#[cfg(test)]
mod summary;
#[cfg(test)]
mod tls;
#[cfg(test)]
mod turns;
#[cfg(test)]
mod upgrades;

/// Makes a test for each database of every function named. One that is not named
/// is dead code, which the linter refuses. `in databases:` stands before those that open
/// stores themselves.
#[cfg(test)]
macro_rules! suite {
    (in databases: $($name:ident),* $(,)?) => {
        mod sqlite {
            $(
                #[tokio::test]
                async fn $name() {
                    super::$name(&crate::database::Database::sqlite()).await;
                }
            )*
        }
        mod postgres {
            $(
                #[tokio::test]
                async fn $name() {
                    super::$name(&crate::database::Database::postgres()).await;
                }
            )*
        }
    };
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
        mod postgres {
            $(
                #[tokio::test]
                async fn $name() {
                    let database = crate::database::Database::postgres();
                    super::$name(database.open(Default::default()).await).await;
                }
            )*
        }
    };
}
#[cfg(test)]
pub(crate) use suite;
