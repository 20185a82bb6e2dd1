//! Networks, as in `10.0.0.0/8`.

use std::net::IpAddr;
use std::str::FromStr;

/// The addresses that begin with the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

/// Text that is no network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no network: write an address, or as in 10.0.0.0/8 an address and how many of its bits count"
)]
pub struct InvalidNetwork(String);

impl Network {
    /// Whether an address is in the network. One of IPv4 that came over IPv6 is what it was.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(ours), IpAddr::V4(theirs)) => {
                same_start(ours.to_bits().into(), theirs.to_bits().into(), self.bits, 32)
            }
            (IpAddr::V6(ours), IpAddr::V6(theirs)) => {
                same_start(ours.to_bits(), theirs.to_bits(), self.bits, 128)
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

/// Whether two numbers of `width` bits have the same first ones.
fn same_start(one: u128, other: u128, bits: u32, width: u32) -> bool {
    // Shifting by all 128 bits is not defined, and leaves nothing to compare.
    (one ^ other).checked_shr(width - bits).unwrap_or(0) == 0
}

impl FromStr for Network {
    type Err = InvalidNetwork;

    fn from_str(text: &str) -> Result<Self, InvalidNetwork> {
        let invalid = || InvalidNetwork(text.chars().take(64).collect());
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.trim().parse().map_err(|_| invalid())?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(width), str::parse).map_err(|_| invalid())?;
        if bits > width {
            return Err(invalid());
        }
        Ok(Self { address, bits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_holds_what_begins_like_it() {
        for (network, address, expected) in [
            ("10.0.0.0/8", "10.255.1.2", true),
            ("10.0.0.0/8", "11.0.0.0", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("127.0.0.1", "::ffff:127.0.0.1", true),
            ("0.0.0.0/0", "8.8.8.8", true),
            ("0.0.0.0/0", "::1", false),
            ("::/0", "fe80::1", true),
            ("fd00::/8", "fd12::1", true),
            ("fd00::/8", "fe00::1", false),
            ("192.168.4.128/25", "192.168.4.127", false),
        ] {
            let network: Network = network.parse().unwrap();
            assert_eq!(
                network.contains(address.parse().unwrap()),
                expected,
                "{network:?} {address}"
            );
        }
        for text in ["", "10.0.0.0/33", "10.0.0/8", "::/129", "10.0.0.0/-1", "10.0.0.0/8/8"] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
    }
}
