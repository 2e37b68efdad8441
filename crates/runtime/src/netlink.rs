//! Circuits as the kernel has them: on a port's interface a u32 filter that redirects what comes in to another's way
//! out.
//!
//! Messages of rtnetlink, as `linux/rtnetlink.h`, `linux/pkt_cls.h` and `linux/tc_act/tc_mirred.h` say.

use rustix::fd::OwnedFd;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with};

// Kinds of messages and their flags.
const ERROR: u16 = 2;
const DONE: u16 = 3;
const NEW_FILTER: u16 = 44;
const DELETE_FILTER: u16 = 45;
const GET_FILTER: u16 = 46;
const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
const DUMP: u16 = 0x300;
const CREATE_NEW: u16 = 0x600;
const HEAD: usize = 16;
const TC_HEAD: usize = 20;
// Packets that come in at an interface; the filter's place and the protocol (IPv4, in the order of the network).
const INGRESS: u32 = 0xffff_0000;
const PRIORITY_AND_PROTOCOL: u32 = 1 << 16 | 0x0800_u16.to_be() as u32;
// Attributes.
const KIND: u16 = 1;
const OPTIONS: u16 = 2;
const NESTED: u16 = 0x8000;
const U32_SELECTOR: u16 = 5;
const U32_ACTIONS: u16 = 7;
const FIRST_ACTION: u16 = 1;
const MIRRED_PARAMETERS: u16 = 2;
// A packet that was redirected goes nowhere else.
const STOLEN: u32 = 4;
const REDIRECT_OUT: u32 = 1;
/// Byte offset of the interface in the parameters of a redirection.
const REDIRECT_TO: usize = 24;
/// Messages that are sent at once: their answers fit into the buffer of any socket.
const AT_ONCE: usize = 64;

/// A connexion to the kernel, in the namespace in which it was opened.
#[derive(Debug)]
pub struct Filters {
    socket: OwnedFd,
    sequence: u32,
}

impl Filters {
    /// # Errors
    /// The refusal of the system.
    pub fn open() -> Result<Self, String> {
        let refused = |error: rustix::io::Errno| format!("no netlink socket: {error}");
        // The first protocol of netlink is that of routes, interfaces and filters.
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None);
        let socket = socket.map_err(refused)?;
        bind(&socket, &SocketAddrNetlink::new(0, 0)).map_err(refused)?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Redirects what comes in at each first interface to its second one, by their indices; acknowledged by the kernel.
    ///
    /// # Errors
    /// The refusal of the kernel, such as for a filter where there is one.
    pub fn add(&mut self, circuits: &[(u32, u32)]) -> Result<(), String> {
        let circuits: Vec<_> = circuits.iter().map(|&(from, to)| (from, redirection(to))).collect();
        self.change(NEW_FILTER, CREATE_NEW, &circuits)
    }

    /// Removes the filters of interfaces; acknowledged by the kernel.
    ///
    /// # Errors
    /// The refusal of the kernel, such as where there is no filter.
    pub fn remove(&mut self, interfaces: &[u32]) -> Result<(), String> {
        let interfaces: Vec<_> = interfaces.iter().map(|&interface| (interface, Vec::new())).collect();
        self.change(DELETE_FILTER, 0, &interfaces)
    }

    /// Where what comes in at an interface is redirected to, as the kernel tells it.
    ///
    /// # Errors
    /// The refusal of the kernel.
    pub fn read(&mut self, interface: u32) -> Result<Option<u32>, String> {
        self.sequence += 1;
        self.say(&message(GET_FILTER, DUMP, self.sequence, interface, &[]))?;
        let (mut found, mut is_over) = (None, false);
        while !is_over {
            for (kind, body) in self.hear()? {
                match kind {
                    ERROR | DONE => is_over = true,
                    _ => found = found.or(redirected_to(&body)),
                }
            }
        }
        Ok(found)
    }

    fn change(&mut self, kind: u16, flags: u16, changes: &[(u32, Vec<u8>)]) -> Result<(), String> {
        for part in changes.chunks(AT_ONCE) {
            let mut messages = Vec::new();
            for (interface, attributes) in part {
                self.sequence += 1;
                messages.extend(message(kind, flags | ACKNOWLEDGE, self.sequence, *interface, attributes));
            }
            self.say(&messages)?;
            let mut left = part.len();
            while left > 0 {
                for (kind, body) in self.hear()? {
                    let number = body.first_chunk().map_or(0, |bytes| i32::from_ne_bytes(*bytes));
                    if kind == ERROR && number != 0 {
                        let error = std::io::Error::from_raw_os_error(-number);
                        return Err(format!("the kernel refused a filter: {error}"));
                    }
                    left -= usize::from(kind == ERROR);
                }
            }
        }
        Ok(())
    }

    fn say(&self, messages: &[u8]) -> Result<(), String> {
        send(&self.socket, messages, SendFlags::empty()).map(drop).map_err(|error| format!("netlink: {error}"))
    }

    /// Kind and body of the next messages.
    fn hear(&self) -> Result<Vec<(u16, Vec<u8>)>, String> {
        let mut buffer = [0; 1 << 15];
        let (size, _) =
            recv(&self.socket, &mut buffer, RecvFlags::empty()).map_err(|error| format!("netlink: {error}"))?;
        let mut messages = Vec::new();
        let mut rest = &buffer[..size];
        while rest.len() >= HEAD {
            let len = word(rest, 0) as usize;
            if !(HEAD..=rest.len()).contains(&len) {
                return Err("netlink: a message is longer than the data received".into());
            }
            messages.push((u16::from_ne_bytes([rest[4], rest[5]]), rest[HEAD..len].to_vec()));
            rest = &rest[len.next_multiple_of(4).min(rest.len())..];
        }
        Ok(messages)
    }
}

fn message(kind: u16, flags: u16, sequence: u32, interface: u32, attributes: &[u8]) -> Vec<u8> {
    let mut made = Vec::with_capacity(HEAD + TC_HEAD + attributes.len());
    made.extend(((HEAD + TC_HEAD + attributes.len()) as u32).to_ne_bytes());
    made.extend(kind.to_ne_bytes());
    made.extend((flags | REQUEST).to_ne_bytes());
    for number in [sequence, 0, 0, interface, 0, INGRESS, PRIORITY_AND_PROTOCOL] {
        made.extend(number.to_ne_bytes());
    }
    made.extend(attributes);
    made
}

/// A u32 filter that takes every datagram of UDP and redirects it to the way out of an interface.
fn redirection(to: u32) -> Vec<u8> {
    let words = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_ne_bytes()).collect::<Vec<u8>>();
    let parameters = attribute(MIRRED_PARAMETERS, &words(&[0, 0, STOLEN, 0, 0, REDIRECT_OUT, to]));
    let action = [attribute(KIND, b"mirred\0"), attribute(OPTIONS | NESTED, &parameters)].concat();
    let actions = attribute(U32_ACTIONS, &attribute(FIRST_ACTION, &action));
    // One key, the last one: the word at 8 of the header of IP has the protocol, 17, in its second byte.
    let key = [[0, 0xff, 0, 0], [0, 17, 0, 0]].concat();
    let selector = [vec![1, 0, 1, 0], words(&[0, 0, 0]), key, words(&[8, 0])].concat();
    let options = [actions, attribute(U32_SELECTOR, &selector)].concat();
    [attribute(KIND, b"u32\0"), attribute(OPTIONS, &options)].concat()
}

fn attribute(kind: u16, content: &[u8]) -> Vec<u8> {
    let len = content.len() + 4;
    let mut made = [(len as u16).to_ne_bytes(), kind.to_ne_bytes()].concat();
    made.extend(content);
    made.resize(len.next_multiple_of(4), 0);
    made
}

/// The interface that a filter redirects to, of the message that tells of it.
fn redirected_to(body: &[u8]) -> Option<u32> {
    let options = inside(body.get(TC_HEAD..)?, OPTIONS)?;
    let action = inside(inside(options, U32_ACTIONS)?, FIRST_ACTION)?;
    let parameters = inside(inside(action, OPTIONS)?, MIRRED_PARAMETERS)?;
    (parameters.len() >= REDIRECT_TO + 4).then(|| word(parameters, REDIRECT_TO))
}

/// The contents of an attribute of a kind.
fn inside(mut attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    while attributes.len() >= 4 {
        let len = usize::from(u16::from_ne_bytes([attributes[0], attributes[1]]));
        let kind = u16::from_ne_bytes([attributes[2], attributes[3]]) & !NESTED;
        if kind == wanted {
            return attributes.get(4..len);
        }
        attributes = attributes.get(len.max(4).next_multiple_of(4)..)?;
    }
    None
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages of `tc filter add dev D parent ffff: protocol ip prio 5 u32 match ip protocol 17 0xff action mirred
    /// egress redirect dev E` after the head (iproute2 6.1, D and E of indices 10 and 11), but for the priority.
    #[cfg(target_endian = "little")]
    const SENT_BY_TC: [&str; 8] = [
        "000000000a000000000000000000ffff08000100",
        "0800010075333200",
        "600002003800070034000100",
        "0b0001006d69727265640000",
        "2400028020000200",
        "0000000000000000040000000000000000000000010000000b000000",
        "24000500010001000000000000000000",
        "0000000000ff0000001100000800000000000000",
    ];

    #[test]
    #[cfg(target_endian = "little")]
    fn a_circuit_is_what_tc_makes_of_it() {
        let made = message(NEW_FILTER, 0, 1, 10, &redirection(11));
        let hex: String = made[HEAD..].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, SENT_BY_TC.concat());
        assert_eq!(word(&made, 0) as usize, made.len());
    }

    #[test]
    fn a_circuit_is_read_back() {
        let made = message(NEW_FILTER, 0, 1, 10, &redirection(0x0102_0304));
        assert_eq!(redirected_to(&made[HEAD..]), Some(0x0102_0304));
        assert_eq!(redirected_to(&made[HEAD..HEAD + TC_HEAD]), None);
        assert_eq!(redirected_to(&made[HEAD..made.len() - 60]), None);
    }
}
