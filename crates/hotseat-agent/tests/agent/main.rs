//! Native agents from the outside: files, runs, MCP servers.

#[cfg(test)]
mod adk_file;
#[cfg(test)]
mod file;
#[cfg(test)]
mod history;
#[cfg(test)]
mod host;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod run;
#[cfg(test)]
mod tools;
