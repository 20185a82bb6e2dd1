//! The wire format of protobuf, as far as it is written here.

use serde_json::{Map, Value};

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LENGTH: u32 = 2;

/// Writes the fields of one message.
#[derive(Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn bytes(&mut self, number: u32, bytes: &[u8]) {
        self.tag(number, LENGTH);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn integer(&mut self, number: u32, value: i64) {
        self.tag(number, VARINT);
        // Negative numbers take ten bytes, by definition.
        self.varint(value.cast_unsigned());
    }

    pub(super) fn enumeration(&mut self, number: u32, code: u32) {
        self.tag(number, VARINT);
        self.varint(code.into());
    }

    fn double(&mut self, number: u32, value: f64) {
        self.tag(number, FIXED64);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The message after its length in four bytes. A length that does not fit
    /// is far beyond what is ever sent.
    pub(super) fn into_frame(self) -> Vec<u8> {
        let length = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        let mut frame = Vec::with_capacity(self.0.len() + 4);
        frame.extend_from_slice(&length.to_be_bytes());
        frame.extend_from_slice(&self.0);
        frame
    }

    fn tag(&mut self, number: u32, wire_type: u32) {
        self.varint((number << 3 | wire_type).into());
    }

    fn varint(&mut self, mut value: u64) {
        loop {
            let [low, ..] = value.to_le_bytes();
            value >>= 7;
            if value == 0 {
                return self.0.push(low & 0x7f);
            }
            self.0.push(low | 0x80);
        }
    }
}

/// A `google.protobuf.Value`.
pub(super) fn json_value(value: &Value) -> Vec<u8> {
    let mut out = Writer::default();
    match value {
        Value::Null => out.enumeration(1, 0),
        Value::Number(number) => out.double(2, number.as_f64().unwrap_or_default()),
        Value::String(text) => out.bytes(3, text.as_bytes()),
        Value::Bool(flag) => out.enumeration(4, u32::from(*flag)),
        Value::Object(object) => out.bytes(5, &json_struct(object)),
        Value::Array(items) => {
            let mut list = Writer::default();
            for item in items {
                list.bytes(1, &json_value(item));
            }
            out.bytes(6, &list.into_bytes());
        }
    }
    out.into_bytes()
}

/// A `google.protobuf.Struct`.
pub(super) fn json_struct(object: &Map<String, Value>) -> Vec<u8> {
    let mut out = Writer::default();
    for (key, value) in object {
        let mut entry = Writer::default();
        entry.bytes(1, key.as_bytes());
        entry.bytes(2, &json_value(value));
        out.bytes(1, &entry.into_bytes());
    }
    out.into_bytes()
}
