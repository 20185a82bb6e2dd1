//! The gRPC contract, as compiled by the build script.
#![expect(
    clippy::pedantic,
    unreachable_pub,
    reason = "generated; the proto file is its documentation"
)]

tonic::include_proto!("hotseat.v1");
