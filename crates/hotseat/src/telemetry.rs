//! Traces, sent to a collector by OTLP over gRPC where one is named.
//!
//! Only our own spans are sent, without the lines of the log inside them: what was said
//! is in no span, and it must stay so whatever is logged. A collector that is gone costs
//! nothing but its traces.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::{Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

/// The variable that OpenTelemetry's own programs read.
const USUAL_VARIABLE: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// How long one sending may take.
const SENDING: Duration = Duration::from_secs(5);

/// How long the last spans may take when the server stops.
const LAST_SENDING: Duration = Duration::from_secs(3);

/// A connection to a collector.
pub(crate) struct Telemetry(SdkTracerProvider);

impl Telemetry {
    /// Traces to the collector that is named here or in the usual variable; none without one.
    /// Has to be called inside the runtime that the connection shall live in.
    pub(crate) fn start(endpoint: Option<&str>) -> Result<Option<Self>> {
        let usual = std::env::var(USUAL_VARIABLE).ok();
        let named = endpoint.map(str::to_owned).or(usual).filter(|text| !text.trim().is_empty());
        let Some(endpoint) = named else { return Ok(None) };
        if !endpoint.starts_with("http://") {
            bail!(
                "the collector `{endpoint}` cannot be reached: traces are sent without TLS\n\
                 hint: name one as http://HOST:4317"
            );
        }
        let exporter = SpanExporter::builder()
            .with_tonic()
            .with_endpoint(&endpoint)
            .with_timeout(SENDING)
            .build()
            .with_context(|| format!("the collector `{endpoint}` cannot be used"))?;
        let mut resource = Resource::builder();
        if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
            resource = resource.with_service_name("hotseat");
        }
        let provider = SdkTracerProvider::builder()
            .with_resource(resource.build())
            .with_batch_exporter(exporter)
            .build();
        Ok(Some(Self(provider)))
    }

    /// What takes our spans from the program.
    pub(crate) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let ours = filter_fn(|metadata| {
            metadata.is_span()
                && metadata.target().starts_with("hotseat")
                && *metadata.level() <= Level::INFO
        });
        let tracer = self.0.tracer("hotseat");
        tracing_opentelemetry::layer().with_tracer(tracer).with_filter(ours)
    }

    /// Sends what is left.
    pub(crate) fn stop(self) {
        if let Err(error) = self.0.shutdown_with_timeout(LAST_SENDING) {
            tracing::warn!(%error, "the last traces could not be sent");
        }
    }
}
