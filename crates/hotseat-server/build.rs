//! Compiles the gRPC contract with protox, so that no protoc has to be installed.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = "../../proto";
    println!("cargo::rerun-if-changed={root}");
    let files = protox::compile(["hotseat/v1/hotseat.proto"], [root])?;
    tonic_prost_build::configure().build_client(false).bytes(".").compile_fds(files)?;
    Ok(())
}
