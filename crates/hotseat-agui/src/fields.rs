//! Reading a client's JSON, with the place of everything that is wrong.
//!
//! Unknown fields are ignored and `null` counts as absent, as the reference
//! client does it; a known field of the wrong type is an error that says where.

use serde_json::{Map, Value};

/// Why a client's input cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// Something that cannot be missing is.
    #[error("{path} is missing")]
    Missing {
        /// Where.
        path: String,
    },
    /// It has the wrong type or form.
    #[error("{path} must be {expected}, not {found}")]
    Wrong {
        /// Where.
        path: String,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// The protocol, or this version of it, has no such thing. It is refused
    /// because leaving it out would change what the user said.
    #[error("{path} is {found:?}, which AG-UI 1.0 does not have: use one of {known}")]
    Unknown {
        /// Where.
        path: String,
        /// What it is.
        found: String,
        /// What there is instead.
        known: &'static str,
    },
    /// There is more than is taken.
    #[error("{path} has {found} entries; send at most {limit}")]
    TooMany {
        /// Where.
        path: String,
        /// How many.
        found: usize,
        /// How many are taken.
        limit: usize,
    },
}

/// An object of the input, and where it is.
pub(crate) struct Fields<'a> {
    object: &'a Map<String, Value>,
    path: String,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(value: &'a Value, path: impl Into<String>) -> Result<Self, InputError> {
        let path = path.into();
        match value.as_object() {
            Some(object) => Ok(Self { object, path }),
            None => Err(wrong(path, "an object", value)),
        }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// The value, if it is there and not `null`.
    pub(crate) fn any(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, InputError> {
        match self.any(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(wrong(self.path(name), "a string", other)),
        }
    }

    pub(crate) fn required(&self, name: &str) -> Result<String, InputError> {
        self.text(name)?.ok_or_else(|| self.missing(name))
    }

    /// An id: a text that is not empty.
    pub(crate) fn id(&self, name: &str) -> Result<String, InputError> {
        let id = self.required(name)?;
        if id.is_empty() { Err(self.missing(name)) } else { Ok(id) }
    }

    pub(crate) fn object(&self, name: &str) -> Result<Option<Map<String, Value>>, InputError> {
        match self.any(name) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object.clone())),
            Some(other) => Err(wrong(self.path(name), "an object", other)),
        }
    }

    /// The entries of a list, each read by `read`; none if the list is absent.
    pub(crate) fn list<T>(
        &self,
        name: &str,
        limit: usize,
        read: impl Fn(&'a Value, String) -> Result<T, InputError>,
    ) -> Result<Vec<T>, InputError> {
        let items = match self.any(name) {
            None => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(other) => return Err(wrong(self.path(name), "an array", other)),
        };
        let path = self.path(name);
        if items.len() > limit {
            return Err(InputError::TooMany { path, found: items.len(), limit });
        }
        let numbered = items.iter().enumerate();
        numbered.map(|(index, item)| read(item, format!("{path}[{index}]"))).collect()
    }

    pub(crate) fn missing(&self, name: &str) -> InputError {
        InputError::Missing { path: self.path(name) }
    }

    pub(crate) fn unknown(&self, name: &str, found: &str, known: &'static str) -> InputError {
        InputError::Unknown { path: self.path(name), found: found.to_owned(), known }
    }
}

pub(crate) fn wrong(path: String, expected: &'static str, found: &Value) -> InputError {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    InputError::Wrong { path, expected, found: found.to_owned() }
}
