//! Events as protobuf, wire compatible with `@ag-ui/proto` 1.0.0.
//!
//! The bytes are made from the event's JSON and a table of field numbers
//! (`schema.rs`), not from generated types: protobuf is here a second spelling
//! of the same JSON, and one table is easier to hold against the published
//! package than 50 structs and their conversions. What the table does not name
//! does not get on the wire, so a test sends every event with every field.
//!
//! Four things are shaped differently than in JSON, and only here: the common
//! fields of an event are a message of their own; outcomes are spread over
//! fields; a content is one of three fields, by its type; and parts and sources
//! are a `oneof` instead of a `type`. Numbers in free JSON are doubles, as
//! protobuf has it.

mod schema;
mod wire;

use serde_json::{Map, Value};

use schema::{BASE, Field, INTERRUPT, Kind, Shape};
use wire::Writer;

/// A frame with the event whose JSON this is.
pub(crate) fn encode_event(event: &Value) -> Vec<u8> {
    let Some(object) = event.as_object() else { return vec![0; 4] };
    let name = object.get("type").and_then(Value::as_str).unwrap_or_default();
    let mut frame = Writer::default();
    if let Some(entry) = schema::EVENTS.iter().find(|entry| entry.name == name) {
        let mut body = Writer::default();
        let mut base = Writer::default();
        base.enumeration(1, entry.code);
        write_message(&mut base, BASE, object);
        body.bytes(1, &base.into_bytes());
        write_message(&mut body, entry.fields, object);
        frame.bytes(entry.field, &body.into_bytes());
    }
    frame.into_frame()
}

fn write_message(out: &mut Writer, fields: &[Field], object: &Map<String, Value>) {
    for &Field { name, number, kind } in fields {
        if let Some(value) = object.get(name) {
            write_field(out, number, kind, value);
        }
    }
}

fn write_field(out: &mut Writer, number: u32, kind: Kind, value: &Value) {
    match kind {
        Kind::Text => {
            if let Some(text) = value.as_str() {
                out.bytes(number, text.as_bytes());
            }
        }
        Kind::Integer => {
            if let Some(integer) = value.as_i64() {
                out.integer(number, integer);
            }
        }
        Kind::Flag => out.integer(number, i64::from(value == &Value::Bool(true))),
        Kind::Json => out.bytes(number, &wire::json_value(value)),
        Kind::JsonObject => {
            if let Some(object) = value.as_object() {
                out.bytes(number, &wire::json_struct(object));
            }
        }
        Kind::Texts => {
            for text in value.as_array().into_iter().flatten().filter_map(Value::as_str) {
                out.bytes(number, text.as_bytes());
            }
        }
        Kind::One(shape) => write_shape(out, number, shape, value),
        Kind::Many(shape) => {
            for item in value.as_array().into_iter().flatten() {
                write_shape(out, number, shape, item);
            }
        }
        Kind::Content { parts, object } => match value {
            Value::Array(_) => write_field(out, parts, Kind::Many(Shape::Part), value),
            Value::Object(_) => write_field(out, object, Kind::JsonObject, value),
            _ => write_field(out, number, Kind::Text, value),
        },
        Kind::Outcome { interrupts, ids, ids_name } => {
            write_field(out, number, Kind::Text, &value["type"]);
            write_field(
                out,
                interrupts,
                Kind::Many(Shape::Fields(INTERRUPT)),
                &value["interrupts"],
            );
            write_field(out, ids, Kind::Texts, &value[ids_name]);
        }
    }
}

fn write_shape(out: &mut Writer, number: u32, shape: Shape, value: &Value) {
    let Some(object) = value.as_object() else { return };
    let tag = |name| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut inner = Writer::default();
    match shape {
        Shape::Fields(fields) => write_message(&mut inner, fields, object),
        Shape::PatchOp => {
            let code = schema::PATCH_OPS.iter().position(|op| *op == tag("op")).unwrap_or_default();
            inner.enumeration(1, u32::try_from(code).unwrap_or_default());
            write_message(&mut inner, schema::PATCH_OP, object);
        }
        Shape::Part => write_arm(&mut inner, schema::PARTS, tag("type"), object),
        Shape::Source => write_arm(&mut inner, schema::SOURCES, tag("type"), object),
    }
    out.bytes(number, &inner.into_bytes());
}

/// The arm of a `oneof` that `name` says; the arms are numbered from 1.
fn write_arm(out: &mut Writer, arms: &[(&str, &[Field])], name: &str, object: &Map<String, Value>) {
    for (number, (_, fields)) in (1..).zip(arms).filter(|(_, (arm, _))| *arm == name) {
        let mut inner = Writer::default();
        write_message(&mut inner, fields, object);
        out.bytes(number, &inner.into_bytes());
    }
}
