//! What is generated from the contracts, and kept in the repository so that
//! users of the Python package and readers of the API need no tools.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use prost::Message;

/// A file that is generated: where it is, and what it should hold.
struct Generated {
    path: PathBuf,
    bytes: Vec<u8>,
}

pub(crate) fn write(root: &Path) -> Result<()> {
    for file in generated(root)? {
        if let Some(folder) = file.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&file.path, file.bytes)
            .with_context(|| format!("could not write {}", file.path.display()))?;
    }
    Ok(())
}

pub(crate) fn check(root: &Path) -> Result<()> {
    for file in generated(root)? {
        if std::fs::read(&file.path).ok().as_deref() != Some(&file.bytes) {
            bail!("{} is out of date: run `cargo xtask codegen`", file.path.display());
        }
    }
    Ok(())
}

fn generated(root: &Path) -> Result<Vec<Generated>> {
    Ok(vec![
        Generated {
            path: root.join("python/hotseat/_proto/hotseat.v1.binpb"),
            bytes: descriptors(root)?,
        },
        Generated { path: root.join("docs/openapi.json"), bytes: openapi()? },
    ])
}

/// The compiled contract. The Python package builds its messages from it when it is
/// imported, which works with every version of the protobuf library.
fn descriptors(root: &Path) -> Result<Vec<u8>> {
    let files = protox::compile(["hotseat/v1/hotseat.proto"], [root.join("proto")])
        .context("the gRPC contract does not compile")?;
    Ok(files.encode_to_vec())
}

fn openapi() -> Result<Vec<u8>> {
    let mut text = serde_json::to_string_pretty(&hotseat_server::openapi())?;
    text.push('\n');
    Ok(text.into_bytes())
}
