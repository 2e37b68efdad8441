// Comma-separated values.

/**
 * Rows of texts.
 *
 * @param {string} text
 */
export function rowsOfCsv(text) {
  /** @type {string[][]} */
  const rows = [];
  let isDone = true;
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    if (isDone) rows.push([]);
    rows[rows.length - 1].push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    isDone = end !== ",";
  }
  return rows.filter((row) => row.length > 1 || row[0] !== "");
}
