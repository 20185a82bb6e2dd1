//! The public behaviour of `hotseat-core`, a module for each of its own.

#[cfg(test)]
mod adk_event;
#[cfg(test)]
mod case_diff;
#[cfg(test)]
mod decision;
#[cfg(test)]
mod eval_case;
#[cfg(test)]
mod eval_set;
#[cfg(test)]
mod eval_set_edit;
#[cfg(test)]
mod fork;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod history;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod input_request;
#[cfg(test)]
mod log;
#[cfg(test)]
mod payload;
#[cfg(test)]
mod request;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod session_json;
