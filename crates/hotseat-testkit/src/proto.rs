//! The gRPC contract, from the side of those who call.

#![expect(missing_docs, clippy::pedantic, reason = "generated; the contract itself is documented")]

tonic::include_proto!("hotseat.v1");
