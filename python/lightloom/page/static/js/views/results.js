// Results: the papers' figures made again, with a verdict on each of their claims.

import { addressOf, isShown } from "../address.js";
import { ask, follow, wordsOf } from "../api.js";
import { paperAndOurs, paperAndOursLegend } from "../charts/paper-and-ours.js";
import { codes } from "../codes.js";
import { rowsOfCsv } from "../csv.js";
import { announce, append, h, replace, withCode } from "../dom.js";
import { downloads, json, text } from "../downloads.js";
import { foldOf } from "../fold.js";
import { counted } from "../quantities.js";
import { card, cardWith, table } from "../tables.js";
import { notice, Work } from "../work.js";

/** @import { Query } from "../address.js" */
/** @import { Claim, Figure, FigureEntry, Paper } from "../types.js" */

const MOST_ROWS = 300;
/** @type {Record<Claim["verdict"], string>} */
const VERDICTS = { holds: "holds", "does not hold": "fails", "not judged": "open" };

/**
 * Makes the view.
 *
 * @param {HTMLElement} root
 */
export function mount(root) {
  root.classList.add("wide");
  document.title = "Results – Lightloom";
  const { list, busy, notices, unknown, result, asCode, navigation, fold } = layout(root);
  const work = new Work({ notices, busy, result, wrong: () => false, right: () => {} });
  /** @type {Paper[] | null} */
  let papers = null;

  /** @param {Query} query */
  async function show(query) {
    if (!papers) {
      replace(list, h("p", { class: "quiet" }, "Loading…"));
      navigation.hidden = false;
      try {
        papers = (await ask("/api/figures")).papers;
      } catch (error) {
        navigation.hidden = true;
        replace(result, notice("bad", wordsOf(error)));
        isShown();
        return;
      }
    }
    const told = query.get("figure");
    const wanted = papers.flatMap(({ figures }) => figures).find(({ name }) => name === told) ?? null;
    const others = [...query.keys()].filter((name) => name !== "figure");
    replace(unknown, [
      told && !wanted ? notice("", `The address says figure=${told}: there is no figure of that name.`) : null,
      others.length ? notice("", `The address says ${others.join(", ")}: this view takes only figure.`) : null,
    ]);
    listFigures(list, papers, wanted);
    fold.say(wanted?.title ?? "All figures");
    if (wanted) {
      fold.fold();
      compute(wanted);
    } else {
      fold.unfold();
      work.stop();
      asCode.hide();
      replace(result, overview(papers));
      isShown();
    }
  }

  /** @param {FigureEntry} figure */
  function compute(figure) {
    replace(result, introduction(figure));
    work.run(
      async (signal) => {
        const begun = performance.now();
        const answer = await follow(
          "/api/reproduce",
          { figure: figure.name },
          {
            progress: ({ done, of }) => replace(busy, `${done} of ${of} points…`),
          },
          { signal },
        );
        draw(result, figure, answer, (performance.now() - begun) / 1000);
        asCode.tell({ command: `lightloom reproduce ${figure.name}` });
        announce(`${figure.name}: ${counted(answer.claims.length, "claim")}.`);
      },
      { words: "Computing the figure…" },
    );
  }

  return { show, leave: () => work.stop() };
}

const LEAD =
  "Figures and tables of five papers, computed on demand from their settings, next to the numbers that the papers " +
  "state.";

/** @param {HTMLElement} root */
function layout(root) {
  const list = h("div", { class: "listed" });
  const busy = h("span", { class: "busy" });
  const notices = h("div", { class: "notices" });
  const unknown = h("div", { class: "notices" });
  const result = h("div", { class: "result" });
  const asCode = codes();
  const navigation = h("nav", { class: "card list", "aria-label": "Figures" });
  const head = h("div", { class: "head" }, h("h1", {}, "Results"), h("p", { class: "quiet" }, LEAD), busy);
  const column = h("div", { class: "column" }, notices, unknown, result, asCode.element);
  const figures = h("div", { class: "figures" }, navigation, column);
  const main = h("main", { id: "result", tabindex: -1 }, head, figures);
  const words = { words: "Choose another", done: "Show the figure" };
  const fold = foldOf({ holder: navigation, part: list, ...words, next: () => main });
  append(navigation, [fold.button, list, fold.end]);
  append(root, [main]);
  return { list, busy, notices, unknown, result, asCode, navigation, fold };
}

/**
 * @param {HTMLElement} list
 * @param {Paper[]} papers
 * @param {FigureEntry | null} chosen
 */
function listFigures(list, papers, chosen) {
  /** @param {FigureEntry} figure */
  const link = (figure) =>
    h(
      "a",
      {
        href: addressOf("results", new Map([["figure", figure.name]])),
        "aria-current": figure === chosen ? "page" : null,
        title: figure.source,
      },
      h("span", {}, figure.title),
      h("span", { class: "counts" }, isComputed(figure) ? "" : "measured"),
    );
  replace(
    list,
    h("a", { href: "/results", "aria-current": chosen ? null : "page" }, "Overview"),
    papers.map((paper) => [
      h("h2", {}, paper.title),
      h(
        "ul",
        {},
        paper.figures.map((figure) => h("li", {}, link(figure))),
      ),
    ]),
  );
  list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}

/**
 * Whether the cost model makes a figure; others are measured on processes, only by the command line.
 *
 * @param {FigureEntry} figure
 */
const isComputed = (figure) => figure.engines.includes("model");

/** @param {Claim["verdict"]} word */
const verdict = (word) => h("span", { class: `verdict ${VERDICTS[word] ?? "open"}` }, word);

/** @param {Paper[]} papers */
function overview(papers) {
  const figures = papers.flatMap((paper) => paper.figures);
  const others = papers.flatMap((paper) => (paper.other_claims ?? []).map((claim) => ({ paper, claim })));
  const computed = figures.filter(isComputed).length;
  const words =
    `${counted(computed, "figure")} and tables of ${counted(papers.length, "paper")} are computed here when they ` +
    "are chosen, most in a few seconds: our times, the picture, and for each claim the paper’s number next to ours, " +
    "with a verdict.";
  const measured = "are measured on processes, which the command line does: lightloom reproduce NAME.";
  const more = `${figures.length - computed} more ${measured}`;
  return [
    card(
      "Choose a figure",
      h("p", { class: "sentence" }, words),
      figures.length > computed ? h("p", { class: "quiet" }, more) : null,
    ),
    others.length
      ? card(
          "Claims that no figure covers",
          claimTable(
            "Claims judged without a figure",
            others.map(({ claim }) => claim),
            others.map(({ paper }) => paper.title),
          ),
        )
      : null,
  ];
}

/** @param {FigureEntry} figure */
const introduction = (figure) => card(figure.title, h("p", { class: "quiet" }, figure.source));

/**
 * Claims as a table: the paper's numbers, ours, and how far apart they are.
 *
 * @param {string} caption
 * @param {Claim[]} claims
 * @param {string[] | null} papers titles of the paper of each claim, where there are several papers
 */
function claimTable(caption, claims, papers = null) {
  const isDrawn = claims.some(({ numbers }) => numbers);
  const rows = claims.map((claim, place) => ({
    cells: [
      verdict(claim.verdict),
      ...(papers ? [papers[place]] : []),
      [
        withCode(claim.text),
        h("p", { class: "narrow" }, inALine(claim)),
        h("p", { class: "quiet" }, withCode(remark(claim))),
      ],
      claim.paper,
      found(claim),
      ...(isDrawn ? [claim.deviation || "–", drawn(claim)] : []),
    ],
  }));
  const columns = [
    { head: "The paper says", words: true },
    ...["Paper", "Ours"].map((head) => ({ head, words: true, wide: true })),
  ];
  const apart = isDrawn
    ? [
        { head: "Deviation", right: true, wide: true },
        { head: "Side by side", wide: true },
      ]
    : [];
  return table({
    caption,
    columns: [{ head: "Verdict" }, ...(papers ? [{ head: "Of" }] : []), ...columns, ...apart],
    rows,
  });
}

/**
 * The content of the columns that narrow screens leave out.
 *
 * @param {Claim} claim
 */
const inALine = (claim) => [
  `Paper: ${claim.paper}. Ours: ${found(claim)}.`,
  claim.deviation && ` Deviation: ${claim.deviation}.`,
];

/**
 * Where a claim is, when it holds, and why it does not.
 *
 * @param {Claim} claim
 */
function remark({ where, rule, why }) {
  const holds = rule && rule !== "-" ? `${where}; holds if ${rule}` : where;
  return why ? `${holds}: ${why}` : holds;
}

/** @param {Claim} claim */
const found = ({ ours }) => (ours === "-" ? "not computed" : ours);

/** @param {Claim} claim */
const drawn = ({ numbers, paper, ours }) =>
  numbers ? paperAndOurs(numbers, `The paper ${paper}, ours ${ours}`) : null;

/**
 * @param {HTMLElement} result
 * @param {FigureEntry} figure
 * @param {Figure} answer
 * @param {number} seconds
 */
function draw(result, figure, answer, seconds) {
  const [head, ...rows] = rowsOfCsv(answer.csv);
  /** @type {Map<Claim["verdict"], number>} */
  const verdicts = new Map();
  for (const { verdict: word } of answer.claims) verdicts.set(word, (verdicts.get(word) ?? 0) + 1);
  const summary = [...verdicts].map(([word, count]) => h("li", {}, verdict(word), String(count)));
  replace(
    result,
    cardWith(
      figure.title,
      [h("ul", { class: "legend", "aria-label": "Verdicts on its claims" }, summary)],
      h("p", { class: "quiet" }, `${figure.source}.${seconds < 0.1 ? "" : ` Computed in ${seconds.toFixed(1)} s.`}`),
      h(
        "figure",
        { class: "pictures" },
        picture(answer.svg, `${figure.title}, as computed here`),
        answer.notes ? h("figcaption", {}, answer.notes) : null,
      ),
    ),
    answer.claims.length
      ? cardWith(
          "Claims",
          answer.claims.some(({ numbers }) => numbers) ? [paperAndOursLegend()] : [],
          claimTable(`Claims of ${figure.name}`, answer.claims),
        )
      : null,
    h(
      "details",
      { class: "behind card" },
      h("summary", {}, `${counted(rows.length, "row")} of data`),
      table({
        caption: `Data of ${figure.name}`,
        tall: true,
        columns: head.map((name, place) => ({ head: name, right: isNumber(rows[0]?.[place]) })),
        rows: rows.slice(0, MOST_ROWS).map((row) => ({ cells: row.map(short) })),
      }),
    ),
    h(
      "div",
      { class: "card" },
      downloads([
        json(`${figure.name}.json`, () => answer),
        text("CSV", `${figure.name}.csv`, "text/csv", () => answer.csv),
        text("SVG", `${figure.name}.svg`, "image/svg+xml", () => answer.svg),
      ]),
    ),
  );
}

/** @param {string} words */
const isNumber = (words) => words !== "" && Number.isFinite(Number(words));

/** @param {string} words */
const short = (words) => (isNumber(words) && words.length > 9 ? Number(words).toPrecision(5) : words);

/**
 * A drawing that the server made, as a picture: its content cannot act on the page.
 *
 * @param {string} svg
 * @param {string} alt
 */
function picture(svg, alt) {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  const image = h("img", { src: url, alt });
  image.addEventListener("load", () => URL.revokeObjectURL(url), { once: true });
  return image;
}
