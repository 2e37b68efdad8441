//! Circuits as the kernel has them: on a port's interface a u32 filter that redirects what comes in to another's way
//! out. Messages of rtnetlink are those of `netlink-packet-route`, over a socket of our own.

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{
    TcAction, TcActionAttribute, TcActionMirror, TcActionMirrorOption, TcActionOption, TcActionType, TcAttribute,
    TcFilterU32, TcFilterU32Option, TcHandle, TcHeader, TcMessage, TcMirror, TcMirrorActionType, TcOption, TcU32Key,
    TcU32Selector, TcU32SelectorFlags,
};
use rustix::fd::OwnedFd;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with};

/// The filter's place among those of an interface, and the protocol: IPv4, in the order of the network.
const PRIORITY_AND_PROTOCOL: u32 = 1 << 16 | 0x0800_u16.to_be() as u32;
/// The word of the header of IP that has the protocol in its second byte, and which of it is UDP.
const PROTOCOL_AT: i32 = 8;
const PROTOCOL_MASK: u32 = 0x00ff_0000;
const UDP: u32 = 17 << 16;
/// Messages that are sent at once: their answers fit into the buffer of any socket.
const AT_ONCE: usize = 64;

type Message = NetlinkMessage<RouteNetlinkMessage>;

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
        let filters = circuits.iter().map(|&(from, to)| filter(from, redirection(to)));
        self.change(NLM_F_CREATE | NLM_F_EXCL, filters.map(RouteNetlinkMessage::NewTrafficFilter).collect())
    }

    /// Removes the filters of interfaces; acknowledged by the kernel.
    ///
    /// # Errors
    /// The refusal of the kernel, such as where there is no filter.
    pub fn remove(&mut self, interfaces: &[u32]) -> Result<(), String> {
        let filters = interfaces.iter().map(|&interface| filter(interface, Vec::new()));
        self.change(0, filters.map(RouteNetlinkMessage::DelTrafficFilter).collect())
    }

    /// Where what comes in at an interface is redirected to, as the kernel tells it.
    ///
    /// # Errors
    /// The refusal of the kernel.
    pub fn read(&mut self, interface: u32) -> Result<Option<u32>, String> {
        let asked = self.bytes(NLM_F_DUMP, RouteNetlinkMessage::GetTrafficFilter(filter(interface, Vec::new())));
        self.say(&asked)?;
        let (mut found, mut is_over) = (None, false);
        while !is_over {
            for payload in self.hear()? {
                match payload {
                    NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewTrafficFilter(told)) => {
                        found = found.or(redirected_to(&told));
                    }
                    NetlinkPayload::Error(_) | NetlinkPayload::Done(_) => is_over = true,
                    _ => {}
                }
            }
        }
        Ok(found)
    }

    fn change(&mut self, flags: u16, changes: Vec<RouteNetlinkMessage>) -> Result<(), String> {
        let mut changes = changes.into_iter().peekable();
        while changes.peek().is_some() {
            let part: Vec<_> = changes.by_ref().take(AT_ONCE).collect();
            let mut left = part.len();
            let messages: Vec<u8> = part.into_iter().flat_map(|one| self.bytes(flags | NLM_F_ACK, one)).collect();
            self.say(&messages)?;
            while left > 0 {
                for payload in self.hear()? {
                    let NetlinkPayload::Error(answer) = payload else { continue };
                    if answer.raw_code() != 0 {
                        return Err(format!("the kernel refused a filter: {}", answer.to_io()));
                    }
                    left -= 1;
                }
            }
        }
        Ok(())
    }

    /// The next message, as it is sent.
    fn bytes(&mut self, flags: u16, inner: RouteNetlinkMessage) -> Vec<u8> {
        self.sequence += 1;
        let mut header = NetlinkHeader::default();
        (header.flags, header.sequence_number) = (flags | NLM_F_REQUEST, self.sequence);
        serialized(Message::new(header, inner.into()))
    }

    fn say(&self, messages: &[u8]) -> Result<(), String> {
        send(&self.socket, messages, SendFlags::empty()).map(drop).map_err(|error| format!("netlink: {error}"))
    }

    /// The next messages without their heads.
    fn hear(&self) -> Result<Vec<NetlinkPayload<RouteNetlinkMessage>>, String> {
        let mut buffer = [0; 1 << 15];
        let (size, _) =
            recv(&self.socket, &mut buffer, RecvFlags::empty()).map_err(|error| format!("netlink: {error}"))?;
        let mut found = Vec::new();
        let mut rest = &buffer[..size];
        while !rest.is_empty() {
            let message = Message::deserialize(rest).map_err(|error| format!("netlink: {error}"))?;
            let len = (message.header.length as usize).next_multiple_of(4).min(rest.len());
            rest = &rest[len..];
            found.push(message.payload);
        }
        Ok(found)
    }
}

fn serialized(mut message: Message) -> Vec<u8> {
    message.finalize();
    let mut made = vec![0; message.buffer_len()];
    message.serialize(&mut made);
    made
}

/// A filter of what comes in at an interface.
fn filter(interface: u32, attributes: Vec<TcAttribute>) -> TcMessage {
    let header = TcHeader {
        index: interface.cast_signed(),
        parent: TcHandle { major: u16::MAX, minor: 0 },
        info: PRIORITY_AND_PROTOCOL,
        ..TcHeader::default()
    };
    TcMessage::from_parts(header, attributes)
}

/// A u32 filter that takes every datagram of UDP and redirects it to the way out of an interface.
fn redirection(to: u32) -> Vec<TcAttribute> {
    let mut mirror = TcMirror::default();
    // A packet that was redirected goes nowhere else.
    mirror.generic.action = TcActionType::Stolen;
    (mirror.eaction, mirror.ifindex) = (TcMirrorActionType::EgressRedir, to);
    let mut action = TcAction::default();
    action.attributes = vec![
        TcActionAttribute::Kind(TcActionMirror::KIND.to_string()),
        TcActionAttribute::Options(vec![TcActionOption::Mirror(TcActionMirrorOption::Parms(mirror))]),
    ];
    let mut key = TcU32Key::default();
    (key.mask, key.val, key.off) = (PROTOCOL_MASK, UDP, PROTOCOL_AT);
    let mut selector = TcU32Selector::default();
    (selector.flags, selector.nkeys, selector.keys) = (TcU32SelectorFlags::Terminal, 1, vec![key]);
    let options = [TcFilterU32Option::Action(vec![action]), TcFilterU32Option::Selector(selector)];
    vec![TcAttribute::Kind(TcFilterU32::KIND.to_string()), TcAttribute::Options(options.map(TcOption::U32).to_vec())]
}

/// The interface that a filter redirects to.
fn redirected_to(told: &TcMessage) -> Option<u32> {
    told.attributes.iter().find_map(|attribute| {
        let TcAttribute::Options(options) = attribute else { return None };
        let actions = options.iter().filter_map(|option| match option {
            TcOption::U32(TcFilterU32Option::Action(actions)) => Some(actions),
            _ => None,
        });
        actions.flatten().flat_map(|action| &action.attributes).find_map(|attribute| {
            let TcActionAttribute::Options(options) = attribute else { return None };
            options.iter().find_map(|option| match option {
                TcActionOption::Mirror(TcActionMirrorOption::Parms(mirror)) => Some(mirror.ifindex),
                _ => None,
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use netlink_packet_core::Parseable;

    use super::*;

    const HEAD: usize = 16;

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

    fn sent(from: u32, to: u32) -> Vec<u8> {
        let made = RouteNetlinkMessage::NewTrafficFilter(filter(from, redirection(to)));
        serialized(Message::new(NetlinkHeader::default(), made.into()))
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn a_circuit_is_what_tc_makes_of_it() {
        let hex: String = sent(10, 11)[HEAD..].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, SENT_BY_TC.concat());
    }

    #[test]
    fn a_circuit_is_read_back() {
        let made = sent(10, 0x0102_0304);
        let told = TcMessage::parse(&made[HEAD..]).unwrap();
        assert_eq!(redirected_to(&told), Some(0x0102_0304));
        assert_eq!(redirected_to(&filter(10, Vec::new())), None);
        assert!(TcMessage::parse(&made[HEAD..made.len() - 60]).map_or(true, |cut| redirected_to(&cut).is_none()));
    }
}
