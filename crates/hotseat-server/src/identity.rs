//! Who a caller is, and the tokens that prove it.
//!
//! Nothing is kept of a token: each carries what it says and a seal that only this
//! installation's key can make. Whoever has the key can make any of them, and a new
//! key ends them all.

mod caller;
mod key;
mod token;

pub(crate) use caller::{Caller, Client, Visitor};
pub use key::InstallationKey;
pub use token::user_token;
pub(crate) use token::{BindingToken, CsrfToken, Refusal, UserToken};
