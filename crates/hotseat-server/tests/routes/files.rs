//! Files that come with a message, over every path that takes them.

mod choosing;
mod form;
mod limits;
mod reading;
mod room;

pub(crate) use form::File;
