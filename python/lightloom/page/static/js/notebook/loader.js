// A widget of a notebook, whose modules come along as texts: there is no server that has them.

/**
 * The arguments that notebooks give a widget that is shown, and the style sheet that it brings along.
 *
 * @typedef {{model: unknown, el: HTMLElement, style: string}} Told
 */

/**
 * The widget of the last of some modules, which exports `render`. modules: names and texts, in an order in which each
 * imports only from those before it, as `page:NAME`.
 *
 * @param {[name: string, text: string][]} modules
 * @param {string} style
 */
export function widgetOf(modules, style) {
  /** @type {Promise<{render: (told: Told) => () => void}> | null} */
  let loading = null;
  return {
    /** @param {Omit<Told, "style">} told */
    async render(told) {
      loading ??= lastOf(modules);
      return (await loading).render({ ...told, style });
    },
  };
}

/** @param {[name: string, text: string][]} modules */
async function lastOf(modules) {
  /** @type {Map<string, string>} */
  const places = new Map();
  let last = "";
  for (const [name, text] of modules) {
    const linked = text.replace(/ from "page:([^"]+)";$/gm, (_, of) => ` from "${places.get(of)}";`);
    last = URL.createObjectURL(new Blob([linked], { type: "text/javascript" }));
    places.set(name, last);
  }
  try {
    return await import(last);
  } finally {
    for (const place of places.values()) URL.revokeObjectURL(place);
  }
}
