// Comma-separated values.

/** Rows of texts. */
export function rowsOfCsv(text) {
  const rows = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    if (!rows.length || rows.at(-1).isDone) rows.push([]);
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== ",") rows.at(-1).isDone = true;
  }
  return rows.filter((row) => row.length > 1 || row[0] !== "");
}
