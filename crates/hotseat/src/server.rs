//! A server as a process: the store, the port, the agents, and how it ends.
//!
//! `web` and `serve` are this with different words around it.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use hotseat_agent::{AgentFile, FileProblem, ToolSpec, looks_native};
use hotseat_core::Seat;
use hotseat_server::{Access, App, Config, Door, STALLED_AFTER, Tls, serve};
use hotseat_store::Store;
use tokio::net::{TcpListener, TcpSocket};
use tokio::signal;

use crate::data::{DataFolder, ServerRecord, installation_key};
use crate::logging;
use crate::settings::{Auth, Settings};
use crate::telemetry::Telemetry;
use crate::worker::{WorkerProcess, find_python, supervise};

/// What a shell expects of a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// Connections that may wait to be taken. All who were connected come back at once after a
/// restart, and whoever finds no room tries again only after a second.
const KNOCKING: u32 = 4096;

/// Where a server is, to be told to whoever started it.
pub(crate) struct Running {
    /// Its address.
    pub(crate) url: String,
    /// What callers need.
    pub(crate) token: Option<String>,
    /// The address that opens the page.
    pub(crate) link: String,
}

/// Tells whoever started a server what they need to know.
pub(crate) trait Voice: Send + 'static {
    /// It listens. The link is to be written to stdout.
    fn listens(&self, running: &Running) -> Result<()>;

    /// Its first agent can be talked to, and this is who answers for its model.
    fn agent_is_ready(&self, running: &Running, agent: &str, seat: Seat);
}

/// Runs a server until it is told to stop.
pub(crate) fn run(settings: Settings, voice: impl Voice) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let telemetry = {
        // Its connection belongs to the runtime.
        let _inside = runtime.enter();
        Telemetry::start(settings.otlp_endpoint.as_deref())?
    };
    logging::start(settings.log_format, settings.log_level.as_deref(), telemetry.as_ref())?;
    let code = runtime.block_on(start(settings, voice));
    if let Some(telemetry) = telemetry {
        telemetry.stop();
    }
    let code = code?;
    // A blocking tool of the page's must not keep the process.
    runtime.shutdown_background();
    Ok(code)
}

async fn start(settings: Settings, voice: impl Voice) -> Result<ExitCode> {
    let (native, adk) = agents(&settings.agents)?;
    let data = DataFolder::open(&settings.data)?;
    let token = match &settings.auth {
        Auth::Given(token) => {
            data.keep_token(token)?;
            Some(token.clone())
        }
        Auth::Kept => Some(data.token()?),
        Auth::None => None,
    };
    let listener = listen(&settings)?;
    let tls = settings.tls.as_ref().map(|(cert, key)| Tls::load(cert, key)).transpose()?;
    if let Some(tls) = tls.clone() {
        reload_on_hangup(tls)?;
    }
    let store = Store::open(&settings.store, settings.ledger.limits).await?;
    let config = Config {
        address: listener.local_addr()?,
        access: token.clone().map_or(Access::Open, Access::Token),
        allowed_hosts: settings.allowed_hosts,
        cors_origins: settings.cors_origins,
        data: settings.data.clone(),
        eval_set_root: std::env::current_dir().context("the working folder is gone")?,
        ledger: settings.ledger,
        key: installation_key(&settings.data)?,
        stalled_after: STALLED_AFTER,
        seats: settings.seats,
        serve: settings.serve,
        people: settings.people,
        tls: tls.clone(),
    };
    let (address, url) = (config.address, config.url());
    let _record = ServerRecord::write(address, &url, &data.token_file());
    let app = App::new(store, config);

    let stop_signal = stop_signal()?;
    let link = token.as_ref().map_or_else(|| url.clone(), |token| format!("{url}/?token={token}"));
    let running = Running { url: url.clone(), token: token.clone(), link };
    voice.listens(&running)?;
    settings.opening.carry_out(&running.link);
    tokio::spawn(tell_agent(app.clone(), running, voice));
    let mut door = Door::new(listener);
    let needs_python = native.iter().any(|file| file.tools.iter().any(is_function));
    if !adk.is_empty() || needs_python {
        let python = find_python(settings.python);
        let artifacts = settings.data.join("artifacts");
        let mut worker_url = url;
        if tls.is_some() {
            let inside = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            worker_url = format!("http://{}", inside.local_addr()?);
            door = door.with_inside(inside);
        }
        let process = WorkerProcess { python, agents: adk, url: worker_url, token, artifacts };
        tokio::spawn(supervise(app.clone(), process));
    }
    for file in native {
        tokio::spawn(app.clone().host_native(file));
    }
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    let exit_with_parent = settings.exit_with_parent;
    let stop = async move {
        tokio::select! {
            by_hand = stop_signal => flag.store(by_hand, Ordering::Relaxed),
            () = parent_gone(), if exit_with_parent => {}
        }
    };
    serve(app, door, stop).await.context("the server stopped")?;
    let code = if interrupted.load(Ordering::Relaxed) { INTERRUPTED } else { 0 };
    Ok(ExitCode::from(code))
}

fn listen(settings: &Settings) -> Result<TcpListener> {
    let address = settings.address;
    bind(address).map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => anyhow::anyhow!(
            "port {} on {} is in use\nhint: stop what uses it, or choose another port with --port",
            address.port(),
            address.ip()
        ),
        _ => anyhow::Error::new(error).context(format!("could not listen on {address}")),
    })
}

fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Not on Windows, where it means that somebody else may take the port.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(KNOCKING)
}

/// Agents that run here, and those that a worker runs.
fn agents(given: &[String]) -> Result<(Vec<AgentFile>, Vec<String>)> {
    let mut native = Vec::new();
    let mut adk = Vec::new();
    for agent in given {
        let path = Path::new(agent);
        if looks_native(path) {
            let file = AgentFile::read(path, &|name| std::env::var(name).ok());
            native.push(file.map_err(with_hint)?);
        } else if is_yaml(path) && !path.exists() {
            bail!("there is no file {agent}\nhint: name an agent.yaml or an ADK agent's folder");
        } else {
            adk.push(agent.clone());
        }
    }
    Ok((native, adk))
}

/// What is wrong with a file, with what to do about it on a line of its own.
fn with_hint(mut problem: FileProblem) -> anyhow::Error {
    match problem.hint.take() {
        Some(hint) => anyhow::anyhow!("{problem}\nhint: {hint}"),
        None => problem.into(),
    }
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// Says once by which name the agent is talked to, and who answers: an ADK agent's name is only
/// known when a worker has loaded it, and who answers may hang on the name.
async fn tell_agent(app: App, running: Running, voice: impl Voice) {
    if let Some((name, seat)) = app.first_agent().await {
        voice.agent_is_ready(&running, &name, seat);
    }
}

fn is_function(tool: &ToolSpec) -> bool {
    matches!(tool, ToolSpec::Function(_))
}

/// Writes the link to stdout, alone, so that programs can read it too.
pub(crate) fn print_link(link: &str) -> Result<()> {
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{link}")?;
    stdout.flush()?;
    Ok(())
}

/// Resolves when standard input closes, which the system does when a parent dies.
async fn parent_gone() {
    let mut input = tokio::io::stdin();
    let _ = tokio::io::copy(&mut input, &mut tokio::io::sink()).await;
}

/// Resolves at the first signal to stop; true for Ctrl-C. Signals count from this call
/// on, so that whoever has read the link can stop the server properly.
#[cfg(unix)]
fn stop_signal() -> Result<impl Future<Output = bool> + Send> {
    use signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt()).context("could not listen for Ctrl-C")?;
    let mut terminate = signal(SignalKind::terminate()).context("could not listen for signals")?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => true,
            _ = terminate.recv() => false,
        }
    })
}

/// Reads the certificate again when it is told to, as those who renew certificates do.
#[cfg(unix)]
fn reload_on_hangup(tls: Tls) -> Result<()> {
    use signal::unix::{SignalKind, signal};
    let mut hangup = signal(SignalKind::hangup()).context("could not listen for signals")?;
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            match tls.reload() {
                Ok(()) => tracing::info!("the certificate was read again"),
                Err(error) => {
                    let error = format!("{:#}", anyhow::Error::from(error));
                    tracing::error!(error, "the certificate stays as it is");
                }
            }
        }
    });
    Ok(())
}

#[cfg(not(unix))]
fn reload_on_hangup(_tls: Tls) -> Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn stop_signal() -> Result<impl Future<Output = bool> + Send> {
    Ok(async {
        let _ = signal::ctrl_c().await;
        true
    })
}
