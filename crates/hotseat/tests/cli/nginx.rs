//! Two servers behind a real nginx, with the configuration that is shipped.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use hotseat_testkit::{Api, HotseatProcess, Launch, ScriptedWorker, TestDatabase, sample, soon};
use reqwest::Method;
use serde_json::json;
use tonic::Code;

use crate::HOTSEAT;

const TOKEN: &str = "token-of-both-servers";

/// What is shipped.
const SHIPPED: &str = include_str!("../../../../deploy/nginx.conf");

/// How it is included. One process and everything in its own folder, so that nothing outlives
/// the test.
const AROUND: &str = "
daemon off;
master_process off;
pid nginx.pid;
events {}
http {
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    include hotseat.conf;
}
";

/// More calls than nginx allows on a connection before it asks for another.
const MANY: usize = 1_100;

/// Two servers, and nginx in front of them. It ends with this value.
struct Behind {
    /// The page, REST and streams.
    page: Api,
    /// Plugins and workers.
    grpc: Api,
    servers: Vec<HotseatProcess>,
    nginx: Child,
    _folder: tempfile::TempDir,
    _database: TestDatabase,
}

impl Behind {
    fn start() -> Self {
        let database = TestDatabase::create();
        let launch = || {
            let launch = Launch::new(HOTSEAT).variable("HOTSEAT_STORE", &database.url());
            launch.variable("HOTSEAT_TOKEN", TOKEN).start()
        };
        let servers = vec![launch(), launch()];
        let folder = tempfile::tempdir().unwrap();
        let [page, grpc] = free_ports();
        let ports =
            [(4687, servers[0].port()), (4688, servers[1].port()), (8080, page), (8081, grpc)];
        let configuration = ports.iter().fold(SHIPPED.to_owned(), |text, (shipped, port)| {
            let before = format!("127.0.0.1:{shipped}");
            assert!(text.contains(&before), "{before} is not in what is shipped");
            text.replace(&before, &format!("127.0.0.1:{port}"))
        });
        std::fs::write(folder.path().join("hotseat.conf"), configuration).unwrap();
        std::fs::write(folder.path().join("nginx.conf"), AROUND).unwrap();
        let nginx = nginx(folder.path(), page);
        let api = |port| Api::new(format!("http://127.0.0.1:{port}"), Some(TOKEN.to_owned()));
        let (page, grpc) = (api(page), api(grpc));
        Self { page, grpc, servers, nginx, _folder: folder, _database: database }
    }

    /// Restarts a server as a deployment does: told to stop, waited for, started again.
    async fn renew(&mut self, n: usize) {
        let server = self.servers.remove(n);
        let renewed = tokio::task::spawn_blocking(move || server.renew("TERM")).await.unwrap();
        self.servers.insert(n, renewed);
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        let _ = self.nginx.kill();
        let _ = self.nginx.wait();
    }
}

/// Starts nginx over a folder, and waits until it listens.
fn nginx(folder: &Path, port: u16) -> Child {
    let mut command = Command::new(program());
    command.arg("-p").arg(folder).args(["-c", "nginx.conf", "-e", "error.log"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut nginx = command.spawn().expect("nginx starts");
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    while TcpStream::connect(address).is_err() {
        let ended = nginx.try_wait().unwrap();
        let log = || std::fs::read_to_string(folder.join("error.log")).unwrap_or_default();
        assert!(ended.is_none(), "nginx ended: {}", log());
    }
    nginx
}

/// Debian keeps it off the path of those who are not root.
fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let mut programs = folders.map(|folder| folder.join("nginx"));
    programs.find(|program| program.exists()).expect("nginx: apt-get install nginx-light")
}

fn free_ports() -> [u16; 2] {
    let free = [(); 2].map(|()| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    free.map(|listener| listener.local_addr().unwrap().port())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_works_behind_nginx() {
    let behind = Behind::start();
    let page = behind.page.get("/").await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("<script"), "{}", page.body);
    // As the page does: with the cookie that its link leaves, and where it comes from.
    let link = behind.page.without_token().get(&format!("/?token={TOKEN}")).await;
    let cookie = link.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let made = |origin: &str| {
        let caller = behind.page.without_token();
        let request = caller.request(Method::POST, "/api/v1/sessions").json(&json!({}));
        let request = request.header("cookie", &cookie).header("origin", origin);
        async move { caller.send(request).await.status }
    };
    assert_eq!(made(&behind.page.url).await, 201);
    assert_eq!(made("http://127.0.0.1:1").await, 403, "another page on this machine");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_come_through_nginx_as_they_are_written() {
    let behind = Behind::start();
    let session = behind.page.session().await;
    let path = format!("/api/v1/sessions/{session}/stream");
    let mut stream = behind.page.stream(&path).await;
    stream.next_of("history_complete").await;
    let mut grpc = behind.grpc.grpc().await;
    let mut followed = grpc.subscribe(&session, 0).await;
    soon("the end of the history", followed.message()).await.unwrap();
    // Each is seen before the next one is written: nothing is held back until there is more.
    for n in 1..=20 {
        let event = sample::agent_event(&format!("e{n}"), "root", "…");
        assert_eq!(grpc.append(&session, &[event]).await.unwrap(), n);
        assert_eq!(stream.next_of("event").await.seq(), n);
        let seen = soon("an event over gRPC", followed.message()).await.unwrap();
        assert_eq!(seen.unwrap().seq, n);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_both_protocols_go_through_nginx_however_many_there_are() {
    let behind = Behind::start();
    let session = behind.page.session().await;
    let mut grpc = behind.grpc.grpc().await;
    let mut unsent = 0;
    for n in 0..MANY {
        let event = sample::agent_event(&format!("e{n}"), "root", "…");
        // nginx ends a connection after some calls. tonic may take one more for it, and then says
        // that it was not sent; a call that was sent and failed has another code.
        while let Err(status) = grpc.append(&session, std::slice::from_ref(&event)).await {
            assert_eq!(status.code(), Code::Cancelled, "{status:?}");
            unsent += 1;
            assert!(unsent <= MANY / 1000, "{status:?}");
        }
        if n % 100 == 0 {
            behind.page.show(&session).await;
        }
    }
    assert_eq!(behind.page.events(&session).await.len(), MANY);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_behind_nginx_is_given_its_runs() {
    let behind = Behind::start();
    let mut worker = ScriptedWorker::attach(&behind.grpc, "w", "adder").await;
    // Any of them may be asked.
    for server in &behind.servers {
        server.api.until_connected("adder", true).await;
    }
    let session = behind.page.session_with(&json!({"agent": "adder"})).await;
    behind.page.query(&session, "What is 2 + 3?").await.json(202);
    let run = worker.run().await;
    worker.begin(&run).await.unwrap();
    let turn = worker.grpc.ask(&session).await;
    behind.page.decide(&session, &turn, &sample::says("5")).await.json(200);
    let log = behind.page.events(&session).await;
    assert_eq!(log.last().unwrap()["kind"], "response");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_behind_nginx_are_restarted_in_turn_and_nobody_loses_anything() {
    let mut behind = Behind::start();
    let session = behind.page.session().await;
    let path = format!("/api/v1/sessions/{session}");
    let (mut written, mut seen) = (0, Vec::new());
    for n in [0, 1, 0] {
        behind.renew(n).await;
        for _ in 0..20 {
            written += 1;
            let event = sample::agent_event(&format!("e{written}"), "root", "…");
            let answer = behind.page.post(&format!("{path}/events"), &event).await;
            assert_eq!(answer.status, 201, "a server that was away is not asked: {answer:?}");
        }
        // Who followed comes back to where it was.
        let after = seen.last().copied().unwrap_or(0);
        let request = behind.page.request(Method::GET, &format!("{path}/stream"));
        let request = request.header("last-event-id", u64::to_string(&after));
        let mut stream = behind.page.stream_with(request).await;
        while seen.last() != Some(&written) {
            seen.push(stream.next_of("event").await.seq());
        }
    }
    assert_eq!(seen, (1..=written).collect::<Vec<_>>());
    assert_eq!(behind.page.events(&session).await.len() as u64, written);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_gone_behind_nginx_is_left_out() {
    let mut behind = Behind::start();
    let session = behind.page.session().await;
    behind.servers[0].kill();
    for n in 1..=20 {
        let event = sample::agent_event(&format!("h{n}"), "root", "…");
        let path = format!("/api/v1/sessions/{session}/events");
        assert_eq!(behind.page.post(&path, &event).await.status, 201);
        let mut grpc = behind.grpc.grpc().await;
        let event = sample::agent_event(&format!("g{n}"), "root", "…");
        assert_eq!(grpc.append(&session, &[event]).await.unwrap(), 2 * n);
    }
}
