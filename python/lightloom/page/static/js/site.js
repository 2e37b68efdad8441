// Where the page is: a server's, or files of a demo, whose answers are prepared.

/** Whether no server answers, but files that `lightloom serve --export` wrote: their HTML says where they are. */
export const isDemo = document.querySelector("base") !== null;

/** The path below which views and files are: `/` of a server; that of its folder of a demo. */
export const base = isDemo ? new URL(document.baseURI).pathname : "/";
