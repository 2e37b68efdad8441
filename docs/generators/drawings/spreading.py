"""How far a block can have come: the tree of ranks within some hops, on which the bounds for any algorithm stand."""

from __future__ import annotations

from docs.generators.drawings.svg import COLOURS, FAINT, INK, document, text

PORTS, HOPS = 2, 3
# Pixels: between levels, and the height of the last level.
ACROSS, HEIGHT, LEFT, TOP, DOT = 130, 210, 40, 52, 7


def holders(ports: int, hops: int) -> list[int]:
    """The most ranks at each distance: 1, d, d² and so on."""
    return [ports**distance for distance in range(hops + 1)]


def spreading_drawing() -> str:
    """The ranks that a block can have reached, hop by hop."""
    body = []
    levels = holders(PORTS, HOPS)
    for distance, count in enumerate(levels):
        x = LEFT + ACROSS * distance
        body += [
            text((x, 18), f"{distance} hop" + "s" * (distance != 1), 12, bold=True),
            text((x, 34), f"{sum(levels[: distance + 1])} hold it", 10.5, colour=FAINT),
        ]
        for index in range(count):
            y = _height(index, count)
            if distance:
                parent = _height(index // PORTS, count // PORTS)
                body.append(
                    f'<line class="hop" x1="{x - ACROSS + DOT}" y1="{parent:.1f}" x2="{x - DOT}" y2="{y:.1f}" '
                    f'stroke="{COLOURS["copy"]}" stroke-width="1.6"/>'
                )
            fill = COLOURS["copy"] if distance == 0 else "#ffffff"
            body.append(f'<circle cx="{x}" cy="{y:.1f}" r="{DOT}" fill="{fill}" stroke="{INK}"/>')
    title = f"With {PORTS} ports at most {', '.join(map(str, levels))} ranks are 0, 1, 2 and 3 hops away"
    return document(LEFT * 2 + ACROSS * HOPS, TOP + HEIGHT + 10, title, body)


def _height(index: int, count: int) -> float:
    return TOP + HEIGHT * (index + 0.5) / count
