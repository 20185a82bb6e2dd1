//! Specs that lead to a model, and specs that do not.

use std::error::Error as _;

use hotseat_agent::provider::{ConnectError, connect};
use hotseat_agent::{ModelSpec, ProviderKind, Secret};

fn refused(spec: &ModelSpec) -> ConnectError {
    connect(spec).err().expect("this spec leads nowhere")
}

const ALL: [ProviderKind; 5] = [
    ProviderKind::OpenAi,
    ProviderKind::Azure,
    ProviderKind::Anthropic,
    ProviderKind::Gemini,
    ProviderKind::Ollama,
];

#[test]
fn a_provider_that_wants_a_key_is_not_asked_without() {
    for kind in [ProviderKind::OpenAi, ProviderKind::Anthropic, ProviderKind::Gemini] {
        let mut spec = ModelSpec::new(kind, "model-1");
        let error = refused(&spec);
        assert!(matches!(error, ConnectError::MissingKey { .. }), "{kind}: {error}");
        assert!(error.to_string().contains("set `api_key`"), "{error}");

        spec.api_key = Some(Secret::new("sk-1"));
        assert_eq!(connect(&spec).unwrap().name(), "model-1");
    }
    assert!(connect(&ModelSpec::new(ProviderKind::Ollama, "model-1")).is_ok());
}

#[test]
fn azure_needs_an_address() {
    let error = refused(&ModelSpec::new(ProviderKind::Azure, "model-1"));
    assert!(matches!(error, ConnectError::MissingEndpoint { .. }), "{error}");
}

#[test]
fn an_address_that_is_none_is_refused_without_being_shown() {
    for kind in ALL {
        for endpoint in ["user:hush@nowhere", "ftp://user:hush@files.example", "http://", "hush"] {
            let mut spec = ModelSpec::new(kind, "model-1");
            spec.endpoint = Some(endpoint.to_owned());
            let error = refused(&spec);
            assert!(matches!(error, ConnectError::Endpoint { .. }), "{kind} {endpoint}: {error}");
            assert!(!error.to_string().contains("hush"), "{error}");
        }
    }
}

#[test]
fn headers_and_keys_that_cannot_be_sent_are_refused_without_being_shown() {
    for kind in ALL {
        let mut spec = ModelSpec::new(kind, "model-1");
        spec.endpoint = Some("http://localhost:1".to_owned());
        spec.api_key = Some(Secret::new("hush\nhush"));
        let error = refused(&spec);
        assert!(matches!(error, ConnectError::Header { .. }), "{kind}: {error}");
        assert!(!format!("{error:?} {:?}", error.source()).contains("hush"), "{error:?}");

        spec.api_key = None;
        spec.headers.insert("not a name".to_owned(), "x".to_owned());
        assert!(refused(&spec).to_string().contains("`not a name`"));
    }
}

#[test]
fn a_model_has_a_name() {
    for kind in ALL {
        let mut spec = ModelSpec::new(kind, "");
        spec.endpoint = Some("http://localhost:1".to_owned());
        assert!(matches!(refused(&spec), ConnectError::MissingName { .. }), "{kind}");
    }
}
