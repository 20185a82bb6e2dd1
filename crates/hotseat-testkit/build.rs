//! Compiles the gRPC contract a second time, for callers: a test that used the
//! server's own types could not tell whether both sides agree with the contract.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = "../../proto";
    println!("cargo::rerun-if-changed={root}");
    let files = protox::compile(["hotseat/v1/hotseat.proto"], [root])?;
    tonic_prost_build::configure().build_server(false).bytes(".").compile_fds(files)?;
    Ok(())
}
