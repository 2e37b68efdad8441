// Drawings of the page as files: SVG with its looks written into it, PNG at twice its size.

const LOOKS = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "paint-order", "opacity", "font-family", "font-size",
  "font-weight", "text-anchor", "dominant-baseline", "display", "visibility",
];

/** Text of an SVG file that looks as the drawing does now. */
export function svgTextOf(drawing) {
  const copy = drawing.cloneNode(true);
  const [sources, targets] = [drawing, copy].map((top) => [top, ...top.querySelectorAll("*")]);
  sources.forEach((source, place) => {
    const looks = getComputedStyle(source);
    for (const name of LOOKS) {
      const value = looks.getPropertyValue(name);
      if (value) targets[place].setAttribute(name, value);
    }
    for (const name of ["class", "style", "tabindex", "role"]) targets[place].removeAttribute(name);
  });
  const box = drawing.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", box.height);
  const page = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ x: box.x, y: box.y, width: box.width, height: box.height })) page.setAttribute(name, value);
  page.setAttribute("fill", getComputedStyle(document.querySelector(".card") ?? document.body).backgroundColor);
  copy.prepend(page);
  return new XMLSerializer().serializeToString(copy);
}

/** A PNG of a drawing. */
export async function pngOf(drawing) {
  const url = URL.createObjectURL(new Blob([svgTextOf(drawing)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(drawing.viewBox.baseVal.width * 2);
    canvas.height = Math.round(drawing.viewBox.baseVal.height * 2);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png");
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}
