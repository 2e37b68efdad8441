//! A rank's treatment of packets that came: it keeps them for their step, or queues them to be passed on.

use super::{Rank, UnderWay, Waiting};
use crate::transport::Transport;
use crate::wire::Header;

impl<T: Transport> Rank<'_, T> {
    /// Takes all packets that came; a fault is of a step.
    pub(super) fn receive(&mut self) -> Result<(), (usize, String)> {
        for port in 0..self.request.ports {
            let mut payload = self.spare.pop().unwrap_or_default();
            loop {
                let received = self.transport.receive(port, &mut payload);
                let at = self.under_way.first().map_or(0, |one| one.step);
                let Some(header) = received.map_err(|why| (at, why))? else { break };
                self.take(&header, &mut payload).map_err(|why| (header.step as usize, why))?;
            }
            self.spare.push(payload);
        }
        Ok(())
    }

    /// Keeps a packet, or queues it to be passed on; then another buffer takes the place of its own.
    fn take(&mut self, header: &Header, payload: &mut Vec<u8>) -> Result<(), String> {
        let step = header.step as usize;
        let next = self.next_rank(header)?;
        let found = |all: &[UnderWay]| all.iter().position(|one| one.step == step);
        let place = found(&self.under_way).or_else(|| {
            // The sender was released for the step, of which this rank has not heard yet.
            self.hear();
            found(&self.under_way)
        });
        let place = place.ok_or_else(|| format!("a packet of message {} arrived out of its step", header.message))?;
        self.under_way[place].came += u64::from(header.size);
        let Some(next) = next else { return self.stage(place, header, payload) };
        let out = self.port_to(next, header)?;
        let one = &mut self.under_way[place];
        one.times.forwarded_bytes += u64::from(header.size);
        one.waiting += 1;
        let passed = std::mem::replace(payload, self.spare.pop().unwrap_or_default());
        let header = Header { hop: header.hop + 1, ..*header };
        self.waiting[out as usize].push_back(Waiting::Forwarded(header, passed));
        Ok(())
    }

    /// The rank that a packet goes on to; `None` where it has come to its end.
    fn next_rank(&self, header: &Header) -> Result<Option<u32>, String> {
        let program = &self.request.program;
        let message = header.message as usize;
        let place = header.hop as usize + 1;
        let is_of_step = program.step.get(message) == Some(&header.step);
        if !is_of_step || program.path(message).get(place) != Some(&self.number) {
            return Err(format!(
                "a packet of message {message} arrived that is not for this rank; circuits lead elsewhere than planned"
            ));
        }
        Ok(program.path(message).get(place + 1).copied())
    }

    fn port_to(&mut self, next: u32, header: &Header) -> Result<u32, String> {
        let (request, number) = (self.request, self.number);
        let found = || request.turns_to(header.step as usize, number, next);
        let turns = self.turns.entry((header.step, next)).or_insert_with(found);
        if turns.is_empty() {
            return Err(format!("no circuit leads to rank {next}"));
        }
        let packet = (header.offset / u64::from(self.request.packet_bytes)) as usize;
        Ok(turns[packet % turns.len()])
    }

    /// Puts a packet of a message of this rank where the message is collected.
    fn stage(&mut self, place: usize, header: &Header, payload: &[u8]) -> Result<(), String> {
        let share = &self.shares[header.step as usize];
        let wanted = header.message as usize;
        let found = share.received.binary_search_by_key(&wanted, |received| received.message);
        let received =
            found.map(|place| share.received[place]).map_err(|_| format!("message {wanted} is not for this rank"))?;
        let begin = (received.staged_at + header.offset) as usize;
        let place = self.under_way[place].staged.get_mut(begin..begin + payload.len());
        place.ok_or_else(|| format!("message {wanted} is too long"))?.copy_from_slice(payload);
        Ok(())
    }
}
