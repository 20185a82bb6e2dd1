//! Native agents from the outside: files, runs, MCP servers.

mod adk_file;
mod file;
mod history;
mod host;
mod mcp;
mod run;
mod tools;
