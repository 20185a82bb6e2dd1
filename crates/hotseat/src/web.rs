//! `hotseat web`: the server, the page and the worker.

use std::io::{IsTerminal, Write};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use hotseat_server::{Access, App, Config, STALLED_AFTER, serve};
use hotseat_store::Store;
use tokio::net::TcpListener;
use tokio::signal;

use crate::args::Web;
use crate::data::{DataFolder, ServerRecord, installation_key};
use crate::logging;
use crate::settings::{Auth, Settings};
use crate::worker::{WorkerProcess, find_python, supervise};

/// What a shell expects of a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

pub(crate) fn run(web: Web) -> Result<ExitCode> {
    let settings = Settings::decide(web)?;
    logging::start(settings.log_format, settings.log_level.as_deref())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(start(settings))?;
    // A blocking tool of the page's must not keep the process.
    runtime.shutdown_background();
    Ok(code)
}

async fn start(settings: Settings) -> Result<ExitCode> {
    let data = DataFolder::open(&settings.data)?;
    let token = match &settings.auth {
        Auth::Given(token) => {
            data.keep_token(token)?;
            Some(token.clone())
        }
        Auth::Kept => Some(data.token()?),
        Auth::None => None,
    };
    let listener = listen(&settings).await?;
    let store = Store::sqlite(&settings.database, settings.ledger.limits)?;
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
    };
    let (address, url) = (config.address, config.url());
    let _record = ServerRecord::write(address, &url, &data.token_file());
    let app = App::new(store, config);

    let stop_signal = stop_signal()?;
    let link = token.as_ref().map_or_else(|| url.clone(), |token| format!("{url}/?token={token}"));
    announce(&link, settings.open_browser)?;
    if !settings.agents.is_empty() {
        let python = find_python(settings.python);
        let artifacts = settings.data.join("artifacts");
        let process = WorkerProcess { python, agents: settings.agents, url, token, artifacts };
        tokio::spawn(supervise(app.clone(), process));
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
    serve(app, listener, stop).await.context("the server stopped")?;
    let code = if interrupted.load(Ordering::Relaxed) { INTERRUPTED } else { 0 };
    Ok(ExitCode::from(code))
}

async fn listen(settings: &Settings) -> Result<TcpListener> {
    let address = settings.address;
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => anyhow::anyhow!(
            "port {} on {} is in use\nhint: stop what uses it, or choose another port with --port",
            address.port(),
            address.ip()
        ),
        _ => anyhow::Error::new(error).context(format!("could not listen on {address}")),
    })
}

/// The link goes to stdout, alone, so that programs can read it too.
#[expect(clippy::print_stderr, reason = "this is what the user came for")]
fn announce(link: &str, open_browser: bool) -> Result<()> {
    let mut stdout = std::io::stdout();
    eprintln!("Hotseat {} is ready. Open this link; Ctrl-C stops it.", env!("CARGO_PKG_VERSION"));
    writeln!(stdout, "{link}")?;
    stdout.flush()?;
    if open_browser && stdout.is_terminal() {
        open(link);
    }
    Ok(())
}

/// Opens the link where there is a desktop. That it cannot is no error: the link is printed.
fn open(link: &str) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let desktop = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    if desktop {
        let _ = Command::new(opener)
            .arg(link)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
    }
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

#[cfg(not(unix))]
fn stop_signal() -> Result<impl Future<Output = bool> + Send> {
    Ok(async {
        let _ = signal::ctrl_c().await;
        true
    })
}
