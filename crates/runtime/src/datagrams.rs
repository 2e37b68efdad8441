//! Datagrams of UDP in a namespace in which nothing has an address.
//!
//! They go to all hosts of a link (224.0.0.1, which every interface takes), and a circuit is a link to one host: the
//! host that it leads to takes them. So no addresses, routes or neighbours are set up, and none of them can lead a
//! packet where no circuit does.

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::sockopt::{
    set_ip_multicast_loop, set_socket_recv_buffer_size_force, set_socket_send_buffer_size_force,
};
use rustix::net::{
    AddressFamily, Ipv4Addr, RecvFlags, SendFlags, SocketAddrV4, SocketFlags, SocketType, bind, recv, sendto,
    socket_with,
};

use crate::system::set_option;

const ALL_HOSTS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 1);
/// The UDP port; no other program is in the namespaces.
const PORT: u16 = 7077;

/// A socket for datagrams, which never waits.
#[derive(Debug)]
pub struct Datagrams(OwnedFd);

impl Datagrams {
    /// A socket of an interface, or of all; with room for this many bytes, headers and the kernel's records included.
    ///
    /// # Errors
    /// The refusal of the system, in words.
    pub fn open(interface: Option<&str>, sent_bytes: usize, received_bytes: usize) -> Result<Self, String> {
        let made = || -> std::io::Result<OwnedFd> {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, flags, None)?;
            set_ip_multicast_loop(&socket, false)?;
            // A datagram that the interface's queue drops is an error of `send` then; it is silent otherwise.
            set_option(&socket, libc::IPPROTO_IP, libc::IP_RECVERR, &1_i32.to_ne_bytes())?;
            set_socket_send_buffer_size_force(&socket, sent_bytes)?;
            set_socket_recv_buffer_size_force(&socket, received_bytes)?;
            if let Some(name) = interface {
                // All that it sends leaves there, and it gets nothing else.
                set_option(&socket, libc::SOL_SOCKET, libc::SO_BINDTODEVICE, name.as_bytes())?;
            }
            bind(&socket, &SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, PORT))?;
            Ok(socket)
        };
        made().map(Self).map_err(|error| format!("no socket at {}: {error}", interface.unwrap_or("all ports")))
    }

    /// The socket that can be waited at.
    pub fn socket(&self) -> &OwnedFd {
        &self.0
    }

    /// Sends a datagram; whether there was room for it, in the socket and in the interface's queue.
    ///
    /// # Errors
    /// The refusal of the system.
    pub fn send(&self, datagram: &[u8]) -> Result<bool, String> {
        match sendto(&self.0, datagram, SendFlags::DONTWAIT, &SocketAddrV4::new(ALL_HOSTS, PORT)) {
            Ok(_) => Ok(true),
            Err(Errno::AGAIN | Errno::NOBUFS | Errno::INTR) => Ok(false),
            Err(error) => Err(format!("a packet was not sent: {error}")),
        }
    }

    /// The size of the next datagram, which is put into `into`; none where none came.
    ///
    /// # Errors
    /// The refusal of the system.
    pub fn receive(&self, into: &mut [u8]) -> Result<Option<usize>, String> {
        match recv(&self.0, into, RecvFlags::DONTWAIT) {
            Ok((size, _)) => Ok(Some(size)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(format!("a packet was not received: {error}")),
        }
    }
}
