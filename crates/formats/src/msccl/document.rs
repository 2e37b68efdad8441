//! MSCCL XML as a tree of plain values, with every number checked against its range.

use std::collections::BTreeMap;

use model::{Collective, Error, MAX_GPUS, Rank, Result};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Attributes of one element; the format's longest has eleven.
const MAX_ATTRIBUTES: usize = 64;
/// Chunks of all buffers of all GPUs together, and chunks that all steps handle together.
const MAX_SLOTS: u64 = 1 << 22;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Buffer {
    Input,
    Output,
    Scratch,
}

/// The action of a step; the names are those of the XML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Nop,
    S,
    R,
    Rcs,
    Rrs,
    Rrc,
    Rrcs,
    Cpy,
    Re,
}

#[derive(Debug)]
pub(super) struct Instruction {
    pub kind: Kind,
    pub src: (Buffer, u32),
    pub dst: (Buffer, u32),
    pub count: u32,
    /// Thread block and step of the same GPU that must be done before.
    pub waits_on: Option<(u32, u32)>,
}

#[derive(Debug)]
pub(super) struct Block {
    pub send: Option<Rank>,
    pub recv: Option<Rank>,
    pub channel: u32,
    pub instructions: Vec<Instruction>,
}

#[derive(Debug)]
pub(super) struct Gpu {
    pub input: u32,
    pub output: u32,
    pub scratch: u32,
    /// (input offset, output offset) of data that is in place before the first step.
    pub copies: Vec<(u32, u32)>,
    pub blocks: Vec<Block>,
}

#[derive(Debug)]
pub(super) struct Program {
    pub name: String,
    pub collective: Collective,
    /// Chunks of the larger of a GPU's input and output.
    pub chunks: u32,
    /// Whether input and output are one memory.
    pub in_place: bool,
    pub root: Rank,
    pub gpus: Vec<Gpu>,
}

impl Program {
    pub(super) fn ranks(&self) -> u32 {
        self.gpus.len() as u32
    }
}

/// # Errors
/// Text that is not XML, that is not MSCCL's, or that has numbers out of range.
pub(super) fn parse(xml: &str) -> Result<Program> {
    let mut reader = Reader::from_str(xml);
    let mut open: Vec<String> = Vec::new();
    let mut builder = Builder::default();
    loop {
        let event = reader.read_event().map_err(|error| bad("xml", &format!("{error}")))?;
        match event {
            Event::Start(element) => {
                builder.element(&open, &element)?;
                open.push(element.name().as_ref().to_string());
            }
            Event::Empty(element) => builder.element(&open, &element)?,
            Event::End(_) => {
                open.pop();
            }
            Event::Eof if open.is_empty() => return builder.finish(),
            Event::Eof => return Err(bad("xml", "the text ends inside an element")),
            Event::Text(text) if text.chars().all(char::is_whitespace) => {}
            Event::Comment(_) | Event::Decl(_) => {}
            Event::DocType(_) | Event::GeneralRef(_) => {
                return Err(bad("xml", "XML document types and entities are not read"));
            }
            Event::Text(_) | Event::CData(_) | Event::PI(_) => {
                return Err(bad("xml", "there is text between the elements"));
            }
        }
    }
}

fn bad(place: &str, reason: &str) -> Error {
    let one_line =
        |text: &str| -> String { text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect() };
    Error::malformed(format!("schedule.{}", one_line(place)), one_line(reason))
}

/// Builds the tree from elements as they open.
#[derive(Default)]
struct Builder {
    header: Option<Program>,
    ranks: u32,
    slots: u64,
    handled: u64,
}

impl Builder {
    fn element(&mut self, open: &[String], element: &BytesStart<'_>) -> Result<()> {
        let name = element.name().as_ref().to_string();
        let path: Vec<&str> = open.iter().map(String::as_str).chain([name.as_str()]).collect();
        match (path.as_slice(), &mut self.header) {
            (["algo"], None) => self.algo(&Attributes::of("algo".into(), element)?),
            (["algo", "gpu"], Some(_)) => self.gpu(element),
            (["algo", "gpu", "copy"], Some(program)) => {
                let place = format!("gpu[{}].copy", program.gpus.len().saturating_sub(1));
                let attributes = Attributes::of(place, element)?;
                let copy = (attributes.number("i_off")?, attributes.number("o_off")?);
                program.gpus.last_mut().into_iter().for_each(|gpu| gpu.copies.push(copy));
                Ok(())
            }
            (["algo", "gpu", "tb"], Some(program)) => block(program, element),
            (["algo", "gpu", "tb", "step"], Some(program)) => step(program, &mut self.handled, element),
            _ => Err(bad("xml", &format!("element `{}` is not expected here", path.join(" › ")))),
        }
    }

    fn algo(&mut self, attributes: &Attributes) -> Result<()> {
        self.ranks = attributes.number("ngpus")?;
        if !(2..=MAX_GPUS).contains(&self.ranks) {
            return Err(attributes.fault("ngpus", &format!("{} is not 2 to {MAX_GPUS}", self.ranks)));
        }
        let chunks = attributes.number("nchunksperloop")?;
        if chunks == 0 || u64::from(chunks) * u64::from(self.ranks) > MAX_SLOTS {
            let reason =
                format!("{chunks} chunks on each of {} GPUs; all GPUs together may have 1 to {MAX_SLOTS}", self.ranks);
            return Err(attributes.fault("nchunksperloop", &reason));
        }
        let coll = attributes.text("coll")?;
        let collective = Collective::parse(coll).map_err(|error| attributes.fault("coll", &error.to_string()))?;
        let root = attributes.optional("root")?.unwrap_or(0);
        if root >= self.ranks {
            return Err(attributes.fault("root", &format!("there is no GPU {root}")));
        }
        let name = attributes.text("name")?.trim();
        if name.is_empty() || name.len() > 200 || name.chars().any(char::is_control) {
            return Err(attributes.fault("name", "it must be one line of 1 to 200 bytes"));
        }
        let flag = |key| Ok::<_, Error>(attributes.optional(key)?.unwrap_or(0) != 0);
        // A file for both ways is read as out of place, unless it has no output buffer to use.
        let in_place = flag("inplace")? && !flag("outofplace")?;
        self.header = Some(Program { name: name.into(), collective, chunks, in_place, root, gpus: Vec::new() });
        Ok(())
    }

    fn gpu(&mut self, element: &BytesStart<'_>) -> Result<()> {
        let Some(program) = &mut self.header else { return Ok(()) };
        let index = program.gpus.len() as u32;
        let attributes = Attributes::of(format!("gpu[{index}]"), element)?;
        let id = attributes.number("id")?;
        if id != index || id >= self.ranks {
            return Err(attributes.fault("id", &format!("it is {id}; ids are 0 to {} in order", self.ranks - 1)));
        }
        let sizes = ["i_chunks", "o_chunks", "s_chunks"].map(|key| attributes.number(key));
        let [input, output, scratch] = sizes;
        let gpu = Gpu { input: input?, output: output?, scratch: scratch?, copies: Vec::new(), blocks: Vec::new() };
        self.slots += u64::from(gpu.input) + u64::from(gpu.output) + u64::from(gpu.scratch);
        if self.slots > MAX_SLOTS {
            return Err(attributes
                .fault("s_chunks", &format!("the buffers of all GPUs have more than {MAX_SLOTS} chunks together")));
        }
        program.gpus.push(gpu);
        Ok(())
    }

    fn finish(self) -> Result<Program> {
        let mut program = self.header.ok_or_else(|| bad("xml", "there is no `algo` element"))?;
        if program.ranks() != self.ranks {
            let reason = format!("it is {}, and the file has {} gpu elements", self.ranks, program.ranks());
            return Err(bad("algo.ngpus", &reason));
        }
        program.in_place |= program.gpus.iter().all(|gpu| gpu.output == 0);
        Ok(program)
    }
}

fn block(program: &mut Program, element: &BytesStart<'_>) -> Result<()> {
    let (ranks, rank) = (MAX_GPUS, program.gpus.len().saturating_sub(1));
    let Some(gpu) = program.gpus.last_mut() else { return Ok(()) };
    let attributes = Attributes::of(format!("gpu[{rank}].tb[{}]", gpu.blocks.len()), element)?;
    let id = attributes.number("id")?;
    if id as usize != gpu.blocks.len() {
        return Err(attributes.fault("id", &format!("it is {id}; ids count from 0 in order")));
    }
    let peer = |key| match attributes.number_or_none(key)? {
        Some(peer) if peer >= ranks || peer as usize == rank => {
            Err(attributes.fault(key, &format!("{peer} is not another GPU")))
        }
        peer => Ok(peer),
    };
    let (send, recv) = (peer("send")?, peer("recv")?);
    gpu.blocks.push(Block { send, recv, channel: attributes.number("chan")?, instructions: Vec::new() });
    Ok(())
}

fn step(program: &mut Program, handled: &mut u64, element: &BytesStart<'_>) -> Result<()> {
    let rank = program.gpus.len().saturating_sub(1);
    let Some(gpu) = program.gpus.last_mut() else { return Ok(()) };
    let block_index = gpu.blocks.len().saturating_sub(1);
    let Some(block) = gpu.blocks.last_mut() else { return Ok(()) };
    let attributes =
        Attributes::of(format!("gpu[{rank}].tb[{block_index}].step[{}]", block.instructions.len()), element)?;
    let number = attributes.number("s")?;
    if number as usize != block.instructions.len() {
        return Err(attributes.fault("s", &format!("it is {number}; steps count from 0 in order")));
    }
    let kind = match attributes.text("type")? {
        "nop" => Kind::Nop,
        "s" => Kind::S,
        "r" => Kind::R,
        "rcs" => Kind::Rcs,
        "rrs" => Kind::Rrs,
        "rrc" => Kind::Rrc,
        "rrcs" => Kind::Rrcs,
        "cpy" => Kind::Cpy,
        "re" => Kind::Re,
        other => {
            let reason = format!("`{other}` is not one of s, r, rcs, rrs, rrc, rrcs, cpy, re, nop");
            return Err(attributes.fault("type", &reason));
        }
    };
    let place = |buffer: &str, offset: &str| {
        if kind == Kind::Nop {
            return Ok((Buffer::Input, 0));
        }
        let which = match attributes.text(buffer)? {
            "i" => Buffer::Input,
            "o" => Buffer::Output,
            "s" => Buffer::Scratch,
            other => return Err(attributes.fault(buffer, &format!("`{other}` is not one of i, o, s"))),
        };
        Ok((which, attributes.number(offset)?))
    };
    let (src, dst) = (place("srcbuf", "srcoff")?, place("dstbuf", "dstoff")?);
    let count = attributes.number("cnt")?;
    if (count == 0) != (kind == Kind::Nop) {
        return Err(attributes.fault("cnt", &format!("{count} chunks; nop has 0 and every other type at least 1")));
    }
    *handled += u64::from(count);
    if *handled > MAX_SLOTS {
        return Err(attributes.fault("cnt", &format!("all steps together move more than {MAX_SLOTS} chunks")));
    }
    let waits_on = match (attributes.number_or_none("depid")?, attributes.number_or_none("deps")?) {
        (Some(block), Some(step)) => Some((block, step)),
        (None, _) => None,
        (Some(_), None) => {
            return Err(
                attributes.fault("deps", "it is -1, and depid names a thread block; it takes a step of that block")
            );
        }
    };
    block.instructions.push(Instruction { kind, src, dst, count, waits_on });
    Ok(())
}

/// Attributes of one element, by name.
struct Attributes {
    place: String,
    values: BTreeMap<String, String>,
}

impl Attributes {
    fn of(place: String, element: &BytesStart<'_>) -> Result<Self> {
        let mut values = BTreeMap::new();
        // The reader's own check for doubled names is quadratic.
        for (index, attribute) in element.attributes().with_checks(false).enumerate() {
            let attribute = attribute.map_err(|error| bad(&place, &error.to_string()))?;
            let (key, value) = (attribute.key.as_ref().to_string(), attribute.value.to_string());
            if index >= MAX_ATTRIBUTES {
                return Err(bad(&place, &format!("the element has more than {MAX_ATTRIBUTES} attributes")));
            }
            if value.contains('&') {
                return Err(bad(&format!("{place}.{key}"), "XML entities (`&…;`) are not read"));
            }
            if values.insert(key.clone(), value).is_some() {
                return Err(bad(&format!("{place}.{key}"), "it is given twice"));
            }
        }
        Ok(Self { place, values })
    }

    fn fault(&self, key: &str, reason: &str) -> Error {
        bad(&format!("{}.{key}", self.place), reason)
    }

    fn text(&self, key: &str) -> Result<&str> {
        self.values.get(key).map(String::as_str).ok_or_else(|| self.fault(key, "it is missing"))
    }

    fn number(&self, key: &str) -> Result<u32> {
        let text = self.text(key)?;
        text.parse().map_err(|_| self.fault(key, &format!("`{text}` is not a number from 0 to 2^32 - 1")))
    }

    fn optional(&self, key: &str) -> Result<Option<u32>> {
        if self.values.contains_key(key) { self.number(key).map(Some) } else { Ok(None) }
    }

    /// A number, or -1 for none.
    fn number_or_none(&self, key: &str) -> Result<Option<u32>> {
        if self.text(key)? == "-1" { Ok(None) } else { self.number(key).map(Some) }
    }
}
