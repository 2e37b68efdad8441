//! Rings through blocks of ranks, of which only the ends have optical ports.

use model::{Error, Link, Result, Shape, Topology, Translations};

use crate::family::Family;
use crate::parameters::{Parameters, remainder};

/// The ranks of a block are a line of electrical links, rank to next rank; the last of a block is joined to
/// the first of the block an offset away: gcd(offset, blocks) separate rings.
pub(crate) struct BlockRing;

impl Family for BlockRing {
    fn name(&self) -> &'static str {
        "block-ring"
    }

    fn summary(&self) -> &'static str {
        "one-way rings through blocks of consecutive ranks, joined to the block an offset away; \
         all ports in parallel"
    }

    fn source(&self) -> &'static str {
        "BRIDGE §3.7"
    }

    fn parameters(&self) -> &'static str {
        ":BLOCK[,OFFSET]"
    }

    fn build(&self, shape: &Shape, parameters: &str) -> Result<Topology> {
        let gpus = shape.gpus();
        let parameters = Parameters {
            family: self.name(),
            text: parameters,
            accepts: "block-ring:BLOCK[,OFFSET], BLOCK a number of GPUs that divides all of them, OFFSET a number of \
                      blocks that is not a multiple of all of them",
        };
        let numbers = parameters.offsets(|index| (index < 2).then_some(gpus)).map_err(|_| parameters.refuse())?;
        let refuse = |wrong: String| {
            let takes = "BLOCK divides the number of GPUs, OFFSET is not a multiple of the number of blocks";
            Error::refused("topology", format!("{}:{}", self.name(), parameters.text), format!("{wrong}; {takes}"))
        };
        let block = u32::try_from(numbers[0]).ok().filter(|&block| gpus.is_multiple_of(block));
        let block = block.ok_or_else(|| refuse(format!("{} does not divide {gpus} GPUs", numbers[0])))?;
        let (given, blocks) = (numbers.get(1).copied().unwrap_or(1), gpus / block);
        let offset = remainder(given, blocks);
        if offset == 0 {
            return Err(refuse(format!("{given} is a multiple of {blocks} blocks")));
        }
        let name = match numbers.get(1) {
            Some(given) => format!("{}:{block},{given}", self.name()),
            None => format!("{}:{block}", self.name()),
        };
        // Inside blocks u → u + 1, and from the end of block b to the start of block b + offset.
        let count = shape.ports();
        let electrical = (1..block).map(|dst| Link { src: dst - 1, dst, count });
        let optical = Link { src: block - 1, dst: offset * block, count };
        Topology::new(name, Translations::periodic(gpus, block), electrical.chain([optical]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(gpus: u32, parameters: &str) -> Result<Topology> {
        BlockRing.build(&Shape::new(gpus, &[], 1).unwrap(), parameters)
    }

    #[test]
    fn blocks_stay_and_their_ends_move() {
        let pairs = |topology: Topology| topology.expanded().iter().map(|l| (l.src, l.dst)).collect::<Vec<_>>();
        let by_two = pairs(build(12, "3,2").unwrap());
        let electrical = [(0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (7, 8), (9, 10), (10, 11)];
        assert!(electrical.iter().all(|link| by_two.contains(link)));
        let optical: Vec<_> = by_two.into_iter().filter(|link| !electrical.contains(link)).collect();
        assert_eq!(optical, [(2, 6), (5, 9), (8, 0), (11, 3)]);
    }

    #[test]
    fn neighbouring_blocks_make_the_ring_and_blocks_of_one_the_shifted_rings() {
        let shape = Shape::new(12, &[], 1).unwrap();
        for block in [1, 2, 3, 4, 6] {
            let ring = build(12, &block.to_string()).unwrap();
            assert!(ring.same_links(&crate::build("ring", &shape).unwrap()), "{block}");
        }
        let shifted = crate::build("shifted-ring:5", &shape).unwrap();
        assert!(build(12, "1,5").unwrap().same_links(&shifted));
        assert!(build(12, "1,-7").unwrap().same_links(&shifted));
    }

    #[test]
    fn blocks_that_do_not_fit_are_refused() {
        for wrong in ["", "5", "12", "0", "-3", "3,4", "3,0", "3,1,1", "two", "4,"] {
            let error = build(12, wrong).unwrap_err().to_string();
            assert!(error.starts_with("topology: ") && error.contains("BLOCK"), "{error}");
        }
        let why = |parameters| build(12, parameters).unwrap_err().reason();
        assert!(why("5").starts_with("5 does not divide 12 GPUs; "), "{}", why("5"));
        assert!(why("3,4").starts_with("4 is a multiple of 4 blocks; "), "{}", why("3,4"));
    }
}
