//! An agent whose MCP server died is not ready, until the server is back.

use std::path::Path;
use std::process::Command;

use hotseat_agent::AgentFile;
use serde_json::Value;

use hotseat_testkit::{TestServer, soon};

/// A server over standard input and output, without tools worth naming. It leaves its process
/// id behind, and does not start where a file called `broken` is.
const MCP_SERVER: &str = r#"
import json, os, sys
if os.path.exists("broken"):
    sys.exit("the secret of the server")
with open("pid", "w") as file:
    file.write(str(os.getpid()))
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    result = {}
    if asked["method"] == "initialize":
        result = {"protocolVersion": asked["params"]["protocolVersion"],
                  "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif asked["method"] == "tools/list":
        result = {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"#;

const AGENT: &str = "name: desk
instructions: You help at the desk.
tools: [{type: mcp, name: numbers, command: python3, args: [server.py]}]
";

fn kill(folder: &Path) {
    let id = std::fs::read_to_string(folder.join("pid")).unwrap();
    assert!(Command::new("kill").args(["-9", &id]).status().unwrap().success());
}

/// Asks until the answer has this status.
async fn until(server: &TestServer, path: &str, status: u16) -> Value {
    soon("another answer", async {
        loop {
            let answer = server.api.without_token().get(path).await;
            if answer.status == status {
                return serde_json::from_str(&answer.body).unwrap();
            }
        }
    })
    .await
}

#[tokio::test]
async fn an_agent_whose_mcp_server_died_is_not_ready_until_it_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    std::fs::write(file("server.py"), MCP_SERVER).unwrap();
    std::fs::write(file("agent.yaml"), AGENT).unwrap();
    let server = TestServer::told(|config| config.serve.single = true).await;
    let agent = AgentFile::read(folder.path(), &|_| None).unwrap();
    tokio::spawn(server.app.clone().host_native(agent));
    server.api.until_connected("desk", true).await;
    until(&server, "/ready", 200).await;

    std::fs::write(file("broken"), "").unwrap();
    kill(folder.path());
    let problem = until(&server, "/ready", 503).await;
    let words = "the MCP server `numbers` of agent `desk` does not answer";
    assert_eq!((&problem["code"], &problem["detail"]), (&"not_ready".into(), &words.into()));
    let health = until(&server, "/health/agent", 503).await;
    assert_eq!((&health["agent_ready"], &health["problems"][0]), (&false.into(), &words.into()));
    // The server itself lives.
    let health = until(&server, "/health", 200).await;
    assert_eq!((&health["status"], &health["agent_ready"]), (&"healthy".into(), &false.into()));

    std::fs::remove_file(file("broken")).unwrap();
    assert_eq!(until(&server, "/ready", 200).await["agent_ready"], true);
    // One that only died is started again, and nobody is bothered.
    kill(folder.path());
    std::fs::remove_file(file("pid")).unwrap();
    soon("a new process", async {
        while !file("pid").exists() {
            server.api.get("/ready").await.json(200);
        }
    })
    .await;
}
