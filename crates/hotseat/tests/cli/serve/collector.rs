//! A collector of traces, over a real socket.

use std::fmt::Write as _;

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::trace::v1::Span;
use tokio::sync::mpsc;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

/// Collects what is sent. It stops with the runtime of its test.
pub(super) struct Collector {
    pub(super) url: String,
    sent: mpsc::UnboundedReceiver<ExportTraceServiceRequest>,
}

struct Service(mpsc::UnboundedSender<ExportTraceServiceRequest>);

#[tonic::async_trait]
impl TraceService for Service {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.0.send(request.into_inner()).expect("the test reads");
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Collector {
    pub(super) fn start() -> Self {
        let incoming = TcpIncoming::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let url = format!("http://{}", incoming.local_addr().unwrap());
        let (sender, sent) = mpsc::unbounded_channel();
        let server = Server::builder().add_service(TraceServiceServer::new(Service(sender)));
        tokio::spawn(async move { server.serve_with_incoming(incoming).await.unwrap() });
        Self { url, sent }
    }

    /// All spans that came so far, and everything that came as text.
    pub(super) fn spans(&mut self) -> (Vec<Span>, String) {
        let (mut spans, mut all) = (Vec::new(), String::new());
        while let Ok(sent) = self.sent.try_recv() {
            writeln!(all, "{sent:?}").unwrap();
            let scopes = sent.resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
            spans.extend(scopes.flat_map(|scope| scope.spans));
        }
        (spans, all)
    }
}
