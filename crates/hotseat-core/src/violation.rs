//! Where a value breaks its schema, said so that a person can mend it.
//!
//! The rules are JSON Schema's with two differences, both because the values go
//! to Python: an `integer` is written without fraction or exponent (Python
//! reads `5.0` as a float), and the formats of dates and UUIDs are as wide as
//! pydantic's (a date-time may come without an offset).

use jsonschema::error::ValidationErrorKind;
use jsonschema::paths::Location;
use jsonschema::{Draft, Keyword, ValidationError, ValidationOptions};
use serde::Serialize;
use serde_json::Value;

use crate::SchemaError;

/// Most violations that are reported of one value; more help nobody.
pub const MAX_VIOLATIONS: usize = 100;
/// Longest piece of a value inside a message, in characters.
const MAX_EXCERPT_CHARS: usize = 80;
/// Longest message, in characters.
const MAX_MESSAGE_CHARS: usize = 400;

/// One thing that is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// JSON pointer to the place. For a missing field, where it should be.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl Violation {
    /// A violation at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }

    /// The same, seen from outside: `prefix` leads to the value that was checked.
    #[must_use]
    pub fn under(mut self, prefix: &str) -> Self {
        self.path.insert_str(0, prefix);
        self
    }
}

/// Everything that is wrong with `instance`, at most [`MAX_VIOLATIONS`].
///
/// Fails if the schema itself cannot be used. References that lead out of the
/// schema are not followed.
pub fn violations(schema: &Value, instance: &Value) -> Result<Vec<Violation>, SchemaError> {
    let validator = options(schema)
        .build(schema)
        .map_err(|error| SchemaError::Invalid(Box::new(error.to_owned())))?;
    let mut found = Vec::new();
    for error in validator.iter_errors(instance) {
        describe(&error, &mut found);
        if found.len() >= MAX_VIOLATIONS {
            found.truncate(MAX_VIOLATIONS);
            break;
        }
    }
    Ok(found)
}

fn options(schema: &Value) -> ValidationOptions<'static> {
    let options = jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .with_keyword("type", |_, types, _| Ok(Box::new(PythonType::new(types))))
        .with_format("date-time", is_date_time)
        .with_format("time", is_time)
        .with_format("uuid", |text: &str| uuid::Uuid::try_parse(text).is_ok());
    let dialect = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    if dialect.contains("json-schema.org/") {
        options
    } else {
        // Without this, a dialect nobody knows would make the schema unusable.
        options.with_draft(Draft::Draft202012)
    }
}

fn describe(error: &ValidationError<'_>, found: &mut Vec<Violation>) {
    let path = error.instance_path();
    match error.kind() {
        ValidationErrorKind::Required { property: Value::String(name) } => {
            found.push(Violation::new(child(path, name), "is required"));
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let unknown = unexpected.iter().map(|name| child(path, name));
            found.extend(unknown.map(|path| Violation::new(path, "is not a known field")));
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            if let Some(branch) = meant_branch(context, path) {
                for error in branch {
                    describe(error, found);
                }
                return;
            }
            let message = match expected_types(context, path) {
                Some(types) => format!("{}{NOT_OF_TYPE}{types}", excerpt(error.instance())),
                None => format!("{} fits none of the allowed forms", excerpt(error.instance())),
            };
            found.push(Violation::new(path.as_str(), message));
        }
        _ => {
            let message = error.masked_with(excerpt(error.instance())).to_string();
            found.push(Violation::new(path.as_str(), shorten(&message, MAX_MESSAGE_CHARS)));
        }
    }
}

/// Of several allowed forms, the only one whose type the value has: its errors
/// say more than "none fits".
fn meant_branch<'a>(
    branches: &'a [Vec<ValidationError<'static>>],
    path: &Location,
) -> Option<&'a [ValidationError<'static>]> {
    let mut of_type = branches
        .iter()
        .filter(|branch| !branch.iter().any(|error| wrong_type(error, path).is_some()));
    match (of_type.next(), of_type.next()) {
        (Some(branch), None) => Some(branch),
        _ => None,
    }
}

/// The types that the forms allow, if the type is what is wrong with each.
fn expected_types(branches: &[Vec<ValidationError<'_>>], path: &Location) -> Option<String> {
    let types: Vec<&str> = branches
        .iter()
        .map(|branch| branch.iter().find_map(|error| wrong_type(error, path)))
        .collect::<Option<_>>()?;
    Some(types.join(" or "))
}

fn wrong_type<'a>(error: &'a ValidationError<'_>, path: &Location) -> Option<&'a str> {
    match error.kind() {
        ValidationErrorKind::Custom { keyword, message }
            if keyword == "type" && error.instance_path() == path =>
        {
            message.rsplit_once(NOT_OF_TYPE).map(|(_, types)| types)
        }
        _ => None,
    }
}

const NOT_OF_TYPE: &str = " is not of type ";

/// The keyword `type`, with Python's idea of an integer.
struct PythonType(Vec<String>);

impl PythonType {
    fn new(types: &Value) -> Self {
        let names = match types {
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            other => Vec::from_iter(other.as_str()),
        };
        Self(names.into_iter().map(str::to_owned).collect())
    }
}

impl<'i> Keyword<'i> for PythonType {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) {
            return Ok(());
        }
        let types = self.0.join(" or ");
        Err(ValidationError::custom(format!("{}{NOT_OF_TYPE}{types}", excerpt(instance))))
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        self.0.iter().any(|name| match (name.as_str(), instance) {
            ("integer", Value::Number(number)) => !number.as_str().contains(['.', 'e', 'E']),
            ("number", Value::Number(_))
            | ("string", Value::String(_))
            | ("boolean", Value::Bool(_))
            | ("object", Value::Object(_))
            | ("array", Value::Array(_))
            | ("null", Value::Null) => true,
            _ => false,
        })
    }
}

fn is_date_time(text: &str) -> bool {
    text.parse::<jiff::Timestamp>().is_ok() || text.parse::<jiff::civil::DateTime>().is_ok()
}

fn is_time(text: &str) -> bool {
    let offset = text.rfind(['+', '-']).unwrap_or(text.len());
    let civil = text[..offset].trim_end_matches(['Z', 'z']);
    civil.parse::<jiff::civil::Time>().is_ok()
}

/// A value in a message: its JSON, or what it is if that would be long.
pub(crate) fn excerpt(value: &Value) -> String {
    match value {
        Value::Object(object) if !is_short(object.len()) => "this object".to_owned(),
        Value::Array(items) if !is_short(items.len()) => "this list".to_owned(),
        Value::String(text) if text.len() > MAX_EXCERPT_CHARS => {
            Value::String(shorten(text, MAX_EXCERPT_CHARS)).to_string()
        }
        other => {
            let json = other.to_string();
            match other {
                Value::Object(_) if json.len() > MAX_EXCERPT_CHARS => "this object".to_owned(),
                Value::Array(_) if json.len() > MAX_EXCERPT_CHARS => "this list".to_owned(),
                _ => shorten(&json, MAX_EXCERPT_CHARS),
            }
        }
    }
}

/// Whether so many items can be short at all.
fn is_short(items: usize) -> bool {
    items * 2 < MAX_EXCERPT_CHARS
}

/// The text, cut at so many characters.
pub(crate) fn shorten(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some(_) => text.chars().take(chars.saturating_sub(1)).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// The pointer to the field `name` of the object at `path`.
fn child(path: &Location, name: &str) -> String {
    format!("{}/{}", path.as_str(), escape(name))
}

/// A field name as part of a JSON pointer.
pub(crate) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
