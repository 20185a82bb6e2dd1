//! Between proto messages and what the log holds.
//!
//! The log holds JSON. Typed proto fields are filled from it for readers that
//! want them, and turned into it for callers that send no `raw_json`.

use hotseat_core::{Event, InvalidId, Kind, ModelRequest};
use hotseat_store::Session;
use jiff::Timestamp;
use prost::bytes::Bytes;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tonic::Status;

use crate::http::state_of;
use crate::proto;
use crate::service::App;

/// An id from a message.
pub(super) fn id<T: std::str::FromStr<Err = InvalidId>>(text: &str) -> Result<T, Status> {
    text.parse().map_err(|error: InvalidId| Status::invalid_argument(error.to_string()))
}

/// Proto has no absent strings; an empty one means absent here.
pub(super) fn given(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// JSON bytes of a message, checked to be JSON.
pub(super) fn raw_json(field: &str, bytes: &[u8]) -> Result<Box<RawValue>, Status> {
    serde_json::from_slice(bytes)
        .map_err(|error| Status::invalid_argument(format!("{field} is not valid JSON: {error}")))
}

pub(super) fn timestamp(at: Timestamp) -> prost_types::Timestamp {
    prost_types::Timestamp { seconds: at.as_second(), nanos: at.subsec_nanosecond() }
}

pub(super) fn session(app: &App, session: Session) -> proto::Session {
    proto::Session {
        url: format!("{}/sessions/{}", app.config.url(), session.id),
        state: state_of(&session).as_str().to_owned(),
        id: session.id.to_string(),
        created_at: Some(timestamp(session.created_at)),
        updated_at: Some(timestamp(session.updated_at)),
        description: session.description.unwrap_or_default(),
        status: session.status.as_str().to_owned(),
        agent: session.agent.unwrap_or_default(),
        app_name: session.app_name,
        user_id: session.user_id,
        last_seq: session.last_seq.get(),
        pending_turns: session.pending_turns,
        source: session.source,
    }
}

pub(super) fn event(event: Event) -> proto::SessionEvent {
    use proto::session_event::Payload;
    let payload = match event.kind {
        Kind::Request => ModelRequest::parse(&event.payload)
            .ok()
            .map(|request| Payload::LlmRequest(llm_request(&request))),
        Kind::Response => Some(Payload::LlmResponse(human_response(&event.payload))),
        Kind::Event | Kind::ToolRun | Kind::Run | Kind::Session | Kind::Message => None,
    };
    proto::SessionEvent {
        session_id: event.session_id.to_string(),
        seq: event.seq.get(),
        event_id: event.entry.event_id,
        timestamp: Some(timestamp(event.entry.timestamp)),
        turn_id: event.entry.turn_id.map(|turn| turn.to_string()).unwrap_or_default(),
        agent_name: event.entry.agent_name,
        kind: event.entry.kind.as_str().to_owned(),
        invocation_id: event.entry.invocation_id.unwrap_or_default(),
        author: event.entry.author,
        branch: event.entry.branch.unwrap_or_default(),
        parent_call_id: event.entry.parent_call_id.unwrap_or_default(),
        raw_json: bytes(event.entry.payload.get()),
        payload,
    }
}

fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

fn llm_request(request: &ModelRequest) -> proto::SimulatedLlmRequest {
    let declarations = request.tools.iter().map(|tool| proto::FunctionDeclaration {
        name: tool.name.clone(),
        description: tool.description.clone(),
        parameters: tool.parameters.to_string(),
    });
    let tools = vec![proto::Tool { function_declarations: declarations.collect() }];
    proto::SimulatedLlmRequest {
        contents: contents(&request.contents),
        system_instruction: request.system_instruction.clone().unwrap_or_default(),
        tools: if request.tools.is_empty() { Vec::new() } else { tools },
        output_schema: request.output_schema.as_ref().map(Value::to_string).unwrap_or_default(),
        raw_json: bytes(request.raw.get()),
        tools_json: bytes(&tool_facts(request).to_string()),
        state_json: bytes(&Value::Object(request.state.clone()).to_string()),
    }
}

/// What is known of the tools besides their declarations.
fn tool_facts(request: &ModelRequest) -> Value {
    let facts = request.tools.iter().map(|tool| {
        let mut facts = Map::new();
        facts.extend(tool.kind.iter().map(|kind| ("kind".to_owned(), json!(kind))));
        facts.extend(tool.error.iter().map(|error| ("error".to_owned(), json!(error))));
        (tool.name.clone(), Value::Object(facts))
    });
    Value::Object(facts.collect())
}

fn human_response(payload: &RawValue) -> proto::HumanResponse {
    let value: Value = serde_json::from_str(payload.get()).unwrap_or_default();
    proto::HumanResponse {
        candidates: contents(value["candidates"].as_array().map(Vec::as_slice).unwrap_or_default()),
        raw_json: bytes(payload.get()),
    }
}

fn contents(items: &[Value]) -> Vec<proto::Content> {
    items
        .iter()
        .map(|content| proto::Content {
            role: content["role"].as_str().unwrap_or_default().to_owned(),
            parts: content["parts"]
                .as_array()
                .map(|parts| parts.iter().map(part).collect())
                .unwrap_or_default(),
        })
        .collect()
}

fn part(part: &Value) -> proto::Part {
    use proto::part::Data;
    let field = |snake: &str, camel: &str| {
        part.get(snake).or_else(|| part.get(camel)).filter(|value| value.is_object())
    };
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let data = if let Some(words) = part["text"].as_str() {
        Some(Data::Text(words.to_owned()))
    } else if let Some(call) = field("function_call", "functionCall") {
        Some(Data::FunctionCall(proto::FunctionCall {
            name: text(call, "name"),
            args: call["args"].to_string(),
            id: text(call, "id"),
        }))
    } else {
        field("function_response", "functionResponse").map(|response| {
            Data::FunctionResponse(proto::FunctionResponse {
                name: text(response, "name"),
                response: response["response"].to_string(),
                id: text(response, "id"),
            })
        })
    };
    proto::Part { data, raw_json: bytes(&part.to_string()) }
}

/// The payload of a `request` event from what a caller sent.
pub(super) fn request_payload(
    request: &proto::SimulatedLlmRequest,
) -> Result<Box<RawValue>, Status> {
    let raw = if request.raw_json.is_empty() {
        raw_value(&typed_request(request)?)?
    } else {
        raw_json("request.raw_json", &request.raw_json)?
    };
    let mut payload = vec![("request", raw)];
    let parts = [
        ("output_schema", request.output_schema.as_bytes()),
        ("tools", &request.tools_json[..]),
        ("state", &request.state_json[..]),
    ];
    for (name, json) in parts {
        if !json.is_empty() {
            payload.push((name, raw_json(name, json)?));
        }
    }
    // Put together as text, so that what the caller sent stays as it was sent.
    let fields: Vec<_> =
        payload.iter().map(|(name, raw)| format!("\"{name}\":{}", raw.get())).collect();
    RawValue::from_string(format!("{{{}}}", fields.join(",")))
        .map_err(|error| Status::invalid_argument(error.to_string()))
}

fn typed_request(request: &proto::SimulatedLlmRequest) -> Result<Value, Status> {
    let mut config = Map::new();
    if !request.system_instruction.is_empty() {
        config.insert("systemInstruction".into(), json!(request.system_instruction));
    }
    let mut tools = Vec::new();
    for tool in &request.tools {
        let mut declarations = Vec::new();
        for declaration in &tool.function_declarations {
            let mut value =
                json!({"name": declaration.name, "description": declaration.description});
            if !declaration.parameters.is_empty() {
                value["parametersJsonSchema"] = json_text("parameters", &declaration.parameters)?;
            }
            declarations.push(value);
        }
        tools.push(json!({"functionDeclarations": declarations}));
    }
    if !tools.is_empty() {
        config.insert("tools".into(), Value::Array(tools));
    }
    Ok(json!({"contents": typed_contents(&request.contents)?, "config": config}))
}

/// The JSON of a decision from what a caller sent.
pub(super) fn decision(response: &proto::HumanResponse) -> Result<Value, Status> {
    if response.raw_json.is_empty() {
        return Ok(json!({"candidates": typed_contents(&response.candidates)?}));
    }
    serde_json::from_slice(&response.raw_json).map_err(|error| {
        Status::invalid_argument(format!("response.raw_json is not valid JSON: {error}"))
    })
}

fn typed_contents(contents: &[proto::Content]) -> Result<Vec<Value>, Status> {
    let mut values = Vec::new();
    for content in contents {
        let parts = content.parts.iter().map(typed_part).collect::<Result<Vec<_>, Status>>()?;
        let mut value = json!({"parts": parts});
        if !content.role.is_empty() {
            value["role"] = json!(content.role);
        }
        values.push(value);
    }
    Ok(values)
}

fn typed_part(part: &proto::Part) -> Result<Value, Status> {
    use proto::part::Data;
    if !part.raw_json.is_empty() {
        return serde_json::from_slice(&part.raw_json).map_err(|error| {
            Status::invalid_argument(format!("part.raw_json is not valid JSON: {error}"))
        });
    }
    let with_id = |mut value: Value, id: &str| {
        if !id.is_empty() {
            value["id"] = json!(id);
        }
        value
    };
    Ok(match &part.data {
        None => json!({}),
        Some(Data::Text(text)) => json!({"text": text}),
        Some(Data::FunctionCall(call)) => {
            let args =
                if call.args.is_empty() { json!({}) } else { json_text("args", &call.args)? };
            json!({"function_call": with_id(json!({"name": call.name, "args": args}), &call.id)})
        }
        Some(Data::FunctionResponse(response)) => {
            let value = json_text("response", &response.response)?;
            let value = json!({"name": response.name, "response": value});
            json!({"function_response": with_id(value, &response.id)})
        }
    })
}

fn json_text(field: &str, text: &str) -> Result<Value, Status> {
    serde_json::from_str(text)
        .map_err(|error| Status::invalid_argument(format!("{field} is not valid JSON: {error}")))
}

fn raw_value(value: &Value) -> Result<Box<RawValue>, Status> {
    serde_json::value::to_raw_value(value)
        .map_err(|error| Status::invalid_argument(error.to_string()))
}
