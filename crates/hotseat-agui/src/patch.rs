//! JSON Patch (RFC 6902): what changed between two documents, and applying it.
//!
//! [`diff`] goes into objects and arrays and names only what differs, and
//! `apply(old, diff(old, new))` is `new`. Only `add`, `remove` and `replace` are
//! written, because moves and copies save little and cost a search. [`apply`]
//! knows the same three, so that what is sent is exactly what is checked.

use serde::Serialize;
use serde_json::{Map, Value};

/// How deep a diff looks; below that, a value is replaced whole. JSON that was
/// parsed is never deeper than this.
const MAX_DEPTH: usize = 128;

/// One operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Op {
    /// Puts a value where there is none, or into a list.
    Add {
        /// Where, as RFC 6901 pointer.
        path: String,
        /// What.
        value: Value,
    },
    /// Takes a value away.
    Remove {
        /// Where.
        path: String,
    },
    /// Puts another value in place of one.
    Replace {
        /// Where.
        path: String,
        /// What.
        value: Value,
    },
}

impl Op {
    /// The same operation on the value at `pointer` of a larger document.
    pub(crate) fn below(mut self, pointer: &str) -> Self {
        let (Self::Add { path, .. } | Self::Remove { path } | Self::Replace { path, .. }) =
            &mut self;
        path.insert_str(0, pointer);
        self
    }
}

/// A patch that does not fit its document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("operation {index} of the patch does not apply: {reason} at {path:?}")]
pub struct PatchError {
    /// Which operation, from 0.
    pub index: usize,
    /// Where it should have applied.
    pub path: String,
    /// Why it does not.
    pub reason: &'static str,
}

/// What turns `old` into `new`.
pub fn diff(old: &Value, new: &Value) -> Vec<Op> {
    let mut ops = Vec::new();
    compare(old, new, &mut String::new(), MAX_DEPTH, &mut ops);
    ops
}

/// Applies `ops` to `document`, all or none.
pub fn apply(document: &mut Value, ops: &[Op]) -> Result<(), PatchError> {
    let mut changed = document.clone();
    for (index, op) in ops.iter().enumerate() {
        let (Op::Add { path, .. } | Op::Remove { path } | Op::Replace { path, .. }) = op;
        apply_one(&mut changed, op).map_err(|reason| PatchError {
            index,
            path: path.clone(),
            reason,
        })?;
    }
    *document = changed;
    Ok(())
}

/// A key as a token of a pointer.
pub(crate) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn compare(old: &Value, new: &Value, path: &mut String, depth: usize, ops: &mut Vec<Op>) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) if depth > 0 => {
            compare_objects(old, new, path, depth, ops);
        }
        (Value::Array(old), Value::Array(new)) if depth > 0 => {
            compare_arrays(old, new, path, depth, ops);
        }
        (old, new) if old == new => {}
        (_, new) => ops.push(Op::Replace { path: path.clone(), value: new.clone() }),
    }
}

fn compare_objects(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    path: &mut String,
    depth: usize,
    ops: &mut Vec<Op>,
) {
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        at(path, &escape(key), |path| ops.push(Op::Remove { path: path.clone() }));
    }
    for (key, value) in new {
        at(path, &escape(key), |path| match old.get(key) {
            Some(earlier) => compare(earlier, value, path, depth - 1, ops),
            None => ops.push(Op::Add { path: path.clone(), value: value.clone() }),
        });
    }
}

/// What is equal at both ends stays; what is left in the middle is compared
/// pair by pair, and the rest added or removed. A value that is put into a long
/// list, wherever, is one operation.
fn compare_arrays(
    old: &[Value],
    new: &[Value],
    path: &mut String,
    depth: usize,
    ops: &mut Vec<Op>,
) {
    let head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let pairs = old.len().min(new.len());
    for (index, (old, new)) in old.iter().zip(new).enumerate() {
        at(path, &(head + index).to_string(), |path| compare(old, new, path, depth - 1, ops));
    }
    for index in (pairs..old.len()).rev() {
        at(path, &(head + index).to_string(), |path| ops.push(Op::Remove { path: path.clone() }));
    }
    for (index, value) in new.iter().enumerate().skip(pairs) {
        at(path, &(head + index).to_string(), |path| {
            ops.push(Op::Add { path: path.clone(), value: value.clone() });
        });
    }
}

fn at(path: &mut String, token: &str, act: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push('/');
    path.push_str(token);
    act(path);
    path.truncate(length);
}

fn apply_one(document: &mut Value, op: &Op) -> Result<(), &'static str> {
    let (Op::Add { path, .. } | Op::Remove { path } | Op::Replace { path, .. }) = op;
    let Some((parent, token)) = path.rsplit_once('/') else {
        return match op {
            _ if !path.is_empty() => Err("the pointer does not begin with a slash"),
            Op::Add { value, .. } | Op::Replace { value, .. } => {
                *document = value.clone();
                Ok(())
            }
            Op::Remove { .. } => Err("the whole document cannot be removed"),
        };
    };
    let token = token.replace("~1", "/").replace("~0", "~");
    match document.pointer_mut(parent).ok_or("there is nothing to hold it")? {
        Value::Object(object) => apply_to_object(object, &token, op),
        Value::Array(array) => apply_to_array(array, &token, op),
        _ => Err("only objects and arrays hold values"),
    }
}

fn apply_to_object(
    object: &mut Map<String, Value>,
    key: &str,
    op: &Op,
) -> Result<(), &'static str> {
    match op {
        Op::Add { value, .. } => {
            object.insert(key.to_owned(), value.clone());
        }
        Op::Remove { .. } => {
            object.shift_remove(key).ok_or("there is no such key")?;
        }
        Op::Replace { value, .. } => {
            *object.get_mut(key).ok_or("there is no such key")? = value.clone();
        }
    }
    Ok(())
}

fn apply_to_array(array: &mut Vec<Value>, token: &str, op: &Op) -> Result<(), &'static str> {
    let index = || {
        let plain = token == "0" || !token.starts_with(['0', '+']);
        token.parse::<usize>().ok().filter(|_| plain).ok_or("the index is no number")
    };
    match op {
        Op::Add { value, .. } if token == "-" => array.push(value.clone()),
        Op::Add { value, .. } => match index()? {
            index if index <= array.len() => array.insert(index, value.clone()),
            _ => return Err("the index is beyond the end"),
        },
        Op::Remove { .. } => match index()? {
            index if index < array.len() => drop(array.remove(index)),
            _ => return Err("the index is beyond the end"),
        },
        Op::Replace { value, .. } => {
            *array.get_mut(index()?).ok_or("the index is beyond the end")? = value.clone();
        }
    }
    Ok(())
}
