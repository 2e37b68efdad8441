// Types only, in a file of their own because many modules share them, and nothing that runs imports it: answers of the
// server as `page/interface` and `schemas` of the package describe them, without the keys that the page does not read.

/**
 * A value of an option, as the server tells it.
 *
 * @typedef {string | number | boolean} Value
 */

/**
 * What a request asks for: values by the names of options.
 *
 * @typedef {Record<string, unknown>} Body
 */

/**
 * An error. field: the option that is wrong. status: in a stream, that of the answer.
 *
 * @typedef {{error: string, field?: string, status?: number, retry_after_s?: number}} ServerError
 */

/**
 * An option of a verb. kind: what it takes, such as `bytes`. names: the registry that its names are of.
 *
 * @typedef {{
 *   name: string, flag: string, help: string, kind: string, unit: string, default: Value | null, otherwise: string,
 *   choices: string[] | null, names: string | null, required: boolean, group: string, example: string | null,
 *   least?: number, most?: number, expert?: boolean,
 * }} Option
 */

/**
 * An entry of a registry: its name, its meaning, and what else its kind has.
 *
 * @typedef {{name: string, summary: string, [more: string]: string}} Entry
 */

/**
 * A problem worth starting from.
 *
 * @typedef {{
 *   name: string, summary: string, verb: string, options: Record<string, Value>, axes?: Record<string, Value>,
 * }} Preset
 */

/**
 * The table of options. fabrics: by name, options of which a fabric says something else than their defaults.
 * model_ranks: of models that ship, by name.
 *
 * @typedef {{
 *   ranges: Record<string, {from: string, to: string, points: number}>,
 *   version: string, verbs: Record<string, {options: Option[]}>, registries: Record<string, Entry[]>,
 *   presets: Preset[], fabrics: Record<string, Record<string, string>>, model_ranks: Record<string, number>,
 *   limits: {gpus: number, points: number, seconds: number, bytes: number},
 * }} OptionTable
 */

/**
 * Circuits in parallel from a GPU to another.
 *
 * @typedef {[source: number, target: number, circuits: number]} Link
 */

/** @typedef {"startup" | "propagation" | "transmission" | "reconfiguration" | "barrier"} Term */

/**
 * Seconds by term; a barrier that takes no time is left out.
 *
 * @typedef {Record<`${Exclude<Term, "barrier">}_s`, number> & {barrier_s?: number}} Terms
 */

/**
 * Electrical switches inside islands of GPUs. bandwidth_bps: of a GPU inside its island.
 *
 * @typedef {{gpus: number, bandwidth_bps: number, hop_delay_s: number}} Electrical
 */

/**
 * A fabric of a plan, or of a training iteration, which has no grid.
 *
 * @typedef {{
 *   dims?: number[], ports: number, bandwidth_bps: number | number[], startup_s: number, barrier_s?: number, hop_delay_s: number,
 *   reconfiguration_delay_s: number, reconfiguration_delay_per_port_s?: number,
 *   reconfiguration_delays_by_port_s?: number[], positions?: string, failed?: string[], optics?: string,
 *   electrical?: Electrical, pair_rates?: string,
 * }} Fabric
 */

/**
 * Circuits that are there together. They have `links`, or `representatives` where a symmetry says the others.
 *
 * @typedef {{id: number, name: string, links?: Link[]}} Topology
 */

/**
 * A step of a plan. topology: `id` of its topology. transfer_bytes: of its largest transfer. load: of the busiest
 * circuit, over these; electrical_load: that of the busiest GPU through the switch of its island.
 *
 * @typedef {Terms & {
 *   index: number, topology: number, reconfigured: boolean, transfer_bytes: number, hops: number, load: number,
 *   electrical_load?: number,
 * }} Step
 */

/**
 * A plan: `lightloom.plan/1`.
 *
 * @typedef {{
 *   collective: string, algorithm: string, planner: string, gpus: number, size_bytes: number, fabric: Fabric,
 *   total_s: number, reconfigurations: number, lower_bound_s: number, bound_class: string, topologies: Topology[],
 *   steps: Step[],
 * }} Plan
 */

/**
 * The time of a planner with an algorithm. topology: that of a plan whose circuits never change, else empty.
 *
 * @typedef {Terms & {
 *   planner: string, algorithm: string, topology: string, total_s: number, reconfigurations: number,
 * }} ComparisonRow
 */

/**
 * All planners on one problem.
 *
 * @typedef {{
 *   rows: ComparisonRow[], lower_bound_s: number, bound_class: string,
 *   not_applicable: {planner: string, algorithm: string, topology: string, reason: string}[],
 * }} Comparison
 */

/** @typedef {"x" | "y"} Letter */

/**
 * An axis of a map. per_pair: whether sizes are those of blocks between pairs. The page varies only options that are
 * numbers: bytes, seconds, bit/s or counts.
 *
 * @typedef {{option: string, kind: string, per_pair: boolean, values: number[]}} Axis
 */

/**
 * A cell of a map: numbers and names are null where nothing serves the point.
 *
 * @typedef {{
 *   x_index: number, y_index: number, x: number, y: number, total_s: number | null, against_s: number | null,
 *   speedup: number | null, reconfigurations: number | null, planner: string | null, algorithm: string | null,
 *   topologies: string | null, against_algorithm: string | null, against_topologies: string | null,
 *   lower_bound_s: number | null, gap: number | null, reason?: string,
 * }} Cell
 */

/**
 * A map: `lightloom.map/1`.
 *
 * @typedef {{x: Axis, y: Axis, against: string | null, cells: Cell[]}} CellMap
 */

/**
 * Loads of a step's circuits: `lightloom.loads/1`. paths: null where there are too many. flows: places in paths.
 *
 * @typedef {{source: number, destination: number, bytes: number, gpus: number[]}} Path
 * @typedef {{
 *   paths: Path[] | null,
 *   links: {source: number, target: number, circuits: number, bytes: number, flows: number[] | null}[],
 * }} Loads
 */

/**
 * What switches join, by configuration: `lightloom.ports/1`. ends, ranks: what is at each port, from port 1 on.
 *
 * @typedef {[ingress: number, egress: number]} Joined
 * @typedef {{connections: Joined[], connect: Joined[], disconnect: Joined[]}} Setting
 * @typedef {{
 *   name: string, ports: number, ends: string[], ranks: (number | null)[], failed_ingress: number[],
 *   failed_egress: number[],
 * }} Switch
 * @typedef {{
 *   numbering: string, switches: Switch[], configurations: {steps: number[], switches: Setting[]}[],
 * }} Ports
 */

/**
 * Where a chunk goes: `lightloom.journey/1`. source, destination: null for all GPUs. steps: its transfers by step.
 *
 * @typedef {{source: number, destination: number, operation: "copy" | "reduce"}} Carrying
 * @typedef {{
 *   chunk: number, chunks: number, source: number | null, destination: number | null, bytes: number,
 *   steps: Carrying[][],
 * }} Journey
 */

/**
 * A box of a timeline. role: an axis or group, or `=compute`, `=dark` or `=hidden`. event: place of its event.
 *
 * @typedef {{first_s: number, last_s: number, role: string, words: string, event: number, lane: number}} Box
 */

/**
 * A row of a timeline.
 *
 * @typedef {{name: string, lanes: number, boxes: Box[]}} TimelineRow
 */

/**
 * Iteration times by policy, at each delay; null where a policy does not serve it.
 *
 * @typedef {{
 *   delays_s: number[], policies_s: Record<string, (number | null)[]>, lower_bounds_s: number[],
 * }} BreakEven
 */

/**
 * An event of a training iteration. node: of the workload, by its id. plan: place of its plan.
 *
 * @typedef {{
 *   node: string, start_s: number, end_s: number, plan: number | null, reconfiguration_exposed_s: number,
 * }} TrainingEvent
 */

/**
 * A node of a workload: computation, a collective along an axis or in groups, or messages.
 *
 * @typedef {{id: string, axis?: string, group?: string | string[], size_bytes?: number}} WorkloadNode
 */

/**
 * A workload: `lightloom.workload/1`. mesh: sizes of its axes, by name.
 *
 * @typedef {{name?: string, ranks: number, mesh?: Record<string, number>, nodes: WorkloadNode[]}} Workload
 */

/**
 * A training iteration: `lightloom.training/1`, with its break-even and timeline where they are asked for.
 *
 * @typedef {{
 *   policy: string, total_s: number, compute_s: number, exposed_communication_s: number, lower_bound_s: number,
 *   bound_class: string, reconfigurations: number, reconfiguration_hidden_s: number,
 *   reconfiguration_exposed_s: number, policies: Record<string, number | null>, policy_notes: Record<string, string>,
 *   fabric: Fabric, workload: Workload, events: TrainingEvent[], plans: Plan[],
 *   break_even?: BreakEven, timeline?: TimelineRow[],
 * }} Training
 */

/**
 * A request as a command and as Python. files: those that both read, by name.
 *
 * @typedef {{command: string, python: string, files: Record<string, string>}} Code
 */

/**
 * Numbers of a paper, a range or twice the same, and ours.
 *
 * @typedef {{paper_least: number, paper_most: number, ours: number, unit: string}} Numbers
 */

/**
 * A claim of a paper, judged.
 *
 * @typedef {{
 *   text: string, where: string, paper: string, ours: string, rule: string,
 *   verdict: "holds" | "does not hold" | "not judged", why: string, deviation: string, numbers: Numbers | null,
 * }} Claim
 */

/**
 * A switch with a number of ports; null where a value is not known. radix: GPUs that it joins. reason: why it cannot be
 * recommended, or empty.
 *
 * @typedef {{
 *   switch: string, reconfiguration_delay_s: number | null, ports: number, total_s: number | null,
 *   never_change_s: number | null, packet_switch_s: number, radix: number | null, usable: boolean, reason: string,
 *   source: string | null,
 * }} AdviceRow
 */

/**
 * Which switch a job needs: `lightloom.advice/1`.
 *
 * @typedef {{
 *   job: string, gpus: number, rows: AdviceRow[], recommended: string | null, recommended_ports: number | null,
 *   sensitivity: {input: string, switch: string | null, ports: number | null, changes: boolean}[], reasons: string[],
 * }} Advice
 */

/**
 * A figure that can be made again. engines: that make it.
 *
 * @typedef {{name: string, title: string, source: string, engines: string[]}} FigureEntry
 */

/**
 * A paper with its figures, and claims that none of these covers.
 *
 * @typedef {{name: string, title: string, figures: FigureEntry[], other_claims: Claim[]}} Paper
 */

/**
 * A figure made again: `lightloom.figure/1`.
 *
 * @typedef {{
 *   figure: string, title: string, source: string, notes: string, claims: Claim[], csv: string, svg: string,
 * }} Figure
 */

/**
 * Answers by the path that is asked. That of circuits is only passed on as a file.
 *
 * @typedef {{
 *   "/api/options": OptionTable, "/api/plan": Plan, "/api/compare": Comparison, "/api/map": CellMap,
 *   "/api/train": Training, "/api/advise": Advice, "/api/loads": Loads, "/api/ports": Ports,
 *   "/api/journey": Journey, "/api/explain": {topologies: string[], names: string[]}, "/api/circuits": unknown,
 *   "/api/as-code": Code, "/api/figures": {papers: Paper[]}, "/api/reproduce": Figure,
 * }} Answers
 */

/**
 * Data of `row` events, by the path that is followed.
 *
 * @typedef {{
 *   "/api/compare": ComparisonRow, "/api/map": Cell, "/api/advise": AdviceRow, "/api/reproduce": never,
 * }} Rows
 */

/**
 * Data of `progress` events.
 *
 * @typedef {{done: number, of: number}} Progress
 */

export {};
