//! User at the other end of a local TCP connection.

use std::net::SocketAddr;

/// Returns false if the process at the other end of a connection to 127.0.0.1 belongs to another user. Only Linux
/// provides the user. On other systems, only the secrets of the page protect it.
pub fn is_own_user(peer: SocketAddr, own: SocketAddr) -> bool {
    if !cfg!(target_os = "linux") {
        return true;
    }
    #[expect(clippy::disallowed_methods, reason = "a table of the kernel")]
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let user = find_user(&table, peer, own);
    user.is_none_or(|user| user == rustix::process::geteuid().as_raw())
}

/// Finds the user of the socket with the local address `local` and the remote address `remote` in the kernel's table.
fn find_user(table: &str, local: SocketAddr, remote: SocketAddr) -> Option<u32> {
    let (local, remote) = (hexadecimal(local)?, hexadecimal(remote)?);
    table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let is_it = fields.get(1) == Some(&local.as_str()) && fields.get(2) == Some(&remote.as_str());
        is_it.then(|| fields.get(7)?.parse().ok()).flatten()
    })
}

/// Returns an address as in the kernel's table: the bytes of the address as a number of this machine, and the port.
fn hexadecimal(address: SocketAddr) -> Option<String> {
    let SocketAddr::V4(address) = address else {
        return None;
    };
    let number = u32::from_ne_bytes(address.ip().octets());
    Some(format!("{number:08X}:{:04X}", address.port()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn the_user_of_a_connection_is_found_in_the_table_of_the_kernel() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                     0: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 1 1\n   \
                     1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 2 1\n";
        let server: SocketAddr = "127.0.0.1:8080".parse().unwrap();
        let client: SocketAddr = "127.0.0.1:50000".parse().unwrap();
        assert_eq!(find_user(table, client, server), Some(1001));
        assert_eq!(find_user(table, server, client), Some(0));
        assert_eq!(find_user(table, "127.0.0.1:1".parse().unwrap(), server), None);
    }
}
