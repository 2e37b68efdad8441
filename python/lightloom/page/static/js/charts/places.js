// Where GPUs are drawn: on a ring, or as the grid that they are.

/**
 * A place in a drawing.
 *
 * @typedef {{x: number, y: number}} Place
 */

const SIDE = 640;
const EDGE = 26;
// The edge of grids, whose wrap-around circuits bulge.
const GRID_EDGE = 46;

/**
 * Places of GPUs in a square of 640 units, the last dimension fastest.
 *
 * @param {number} gpus
 * @param {number[]} [dims]
 * @returns {Place[]}
 */
export function placesOf(gpus, dims) {
  const sides = dims?.filter((side) => side > 1) ?? [];
  if (sides.length === 2) return plane(gpus, sides[0], sides[1]);
  if (sides.length === 3) return layers(gpus, sides);
  const radius = SIDE / 2 - EDGE;
  return Array.from({ length: gpus }, (_, gpu) => {
    const angle = (2 * Math.PI * gpu) / gpus - Math.PI / 2;
    return { x: SIDE / 2 + radius * Math.cos(angle), y: SIDE / 2 + radius * Math.sin(angle) };
  });
}

/**
 * @param {number} gpus
 * @param {number} rows
 * @param {number} columns
 */
function plane(gpus, rows, columns) {
  const inner = SIDE - 2 * GRID_EDGE;
  const step = { x: inner / (columns - 1), y: inner / (rows - 1) };
  return Array.from({ length: gpus }, (_, gpu) => {
    const [row, column] = [Math.floor(gpu / columns) % rows, gpu % columns];
    return { x: GRID_EDGE + column * step.x, y: GRID_EDGE + row * step.y };
  });
}

/**
 * Three dimensions as tilted planes, one behind the other.
 *
 * @param {number} gpus
 * @param {number[]} sides
 */
function layers(gpus, [depth, rows, columns]) {
  const each = rows * columns;
  const shear = 0.34;
  const height = (SIDE - 2 * EDGE) / depth;
  return Array.from({ length: gpus }, (_, gpu) => {
    const [layer, row, column] = [Math.floor(gpu / each), Math.floor((gpu % each) / columns), gpu % columns];
    const across = (column + 0.5) / columns;
    const down = rows > 1 ? row / (rows - 1) : 0.5;
    const width = (SIDE - 2 * EDGE) * (1 - shear);
    return {
      x: EDGE + across * width + (1 - down) * shear * (SIDE - 2 * EDGE),
      y: EDGE + height * (layer + 0.12 + down * 0.68),
    };
  });
}

/**
 * The path of a circuit between two places, bent so that its opposite is seen next to it; ends stop short of GPUs.
 *
 * @param {Place} from
 * @param {Place} to
 * @param {number} radius
 * @param {boolean} isRound
 */
export function arc(from, to, radius, isRound) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const pull = isRound ? 0.34 * Math.min(1, length / SIDE) : 0;
  const bend = isRound ? Math.min(12, length * 0.12) : Math.min(44, length * 0.13);
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  const control = {
    x: middle.x + (SIDE / 2 - middle.x) * pull + (-dy / length) * bend,
    y: middle.y + (SIDE / 2 - middle.y) * pull + (dx / length) * bend,
  };
  const start = towards(from, control, radius + 1);
  const end = towards(to, control, radius + 3.5);
  return `M${round(start.x)} ${round(start.y)}Q${round(control.x)} ${round(control.y)} ${round(end.x)} ${round(end.y)}`;
}

/**
 * @param {Place} from
 * @param {Place} to
 * @param {number} distance
 */
function towards(from, to, distance) {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  return { x: from.x + ((to.x - from.x) / length) * distance, y: from.y + ((to.y - from.y) / length) * distance };
}

/** @param {number} value */
const round = (value) => value.toFixed(1);

/**
 * Radius of a GPU's mark, by how many there are.
 *
 * @param {number} gpus
 */
export const radiusOf = (gpus) =>
  gpus <= 16 ? 14 : gpus <= 40 ? 11 : gpus <= 72 ? 9 : gpus <= 160 ? 5 : gpus <= 400 ? 3 : 2;
