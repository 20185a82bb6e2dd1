//! Who a caller is, and the tokens that prove it.
//!
//! Most tokens are kept nowhere: each carries what it says and a seal that only this
//! installation's key can make. Whoever has the key can make any of them, and a new
//! key ends them all. Those of named users are the exception: they say nothing, the store
//! knows their hash, and each can be taken back.

mod access_token;
mod caller;
mod key;
mod sign_in;
mod token;

pub(crate) use access_token::AccessToken;
pub(crate) use caller::{Caller, Client, Member, PublicPort, Visitor};
pub use key::InstallationKey;
pub(crate) use sign_in::{ATTEMPT_LIFE, Attempt, SIGNED_IN_LIFE, SignedIn};
pub use token::user_token;
pub(crate) use token::{BindingToken, CsrfToken, Refusal, UserToken};
