// Plans of collectives on GPUs that photonic circuit switches join: looked up or made, and walked step by step.
//
// Functions that can fail return a status and, unless `error` is null, say there what is wrong. A pointer is null, which
// is refused where it matters, or leads to what its type says for as long as the call lasts; text is UTF-8 and ends with
// a zero. Handles are used by any threads at once, and freed once, when no thread uses them any more. Pointers in what is
// filled in lead into the plan and hold until it is freed. Where nothing could be done, results stay as they were.
// Plans are made on all cores, or RAYON_NUM_THREADS threads; a process that forks plans before or after it, not both.

#ifndef LIGHTLOOM_H
#define LIGHTLOOM_H

// Generated from crates/c/src by cbindgen; `make c-header` writes it anew.

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// The number of the interface, which changes whenever a program must be compiled anew.
#define LIGHTLOOM_ABI_VERSION 2

// The status of a call; the first three are the exit statuses of the command line.
typedef enum {
  // The call succeeded.
  LIGHTLOOM_STATUS_DONE = 0,
  // Something that is no fault of what was given; please report it.
  LIGHTLOOM_STATUS_FAILED = 1,
  // The input is wrong, as the error says.
  LIGHTLOOM_STATUS_WRONG_INPUT = 2,
  // Nothing like it is kept.
  LIGHTLOOM_STATUS_NOT_FOUND = 3,
} LightloomStatus;

// Operation of a receiver on a chunk.
typedef enum {
  // The receiver keeps the chunk in place of its own.
  LIGHTLOOM_OPERATION_COPY = 0,
  // The receiver adds the chunk to its own.
  LIGHTLOOM_OPERATION_REDUCE = 1,
} LightloomOperation;

// A fabric, the options of its plans but collective and size, and the plans that were made. For use by all threads.
typedef struct LightloomFabric LightloomFabric;

// A plan that nothing changes any more. For use by all threads.
typedef struct LightloomPlan LightloomPlan;

// A fault: text that ends with a zero, cut where it is longer.
typedef struct {
  // The field that is wrong, such as `gpus`; empty where no field is.
  char field[64];
  // One line that names the field, the value and what is accepted.
  char message[1024];
} LightloomError;

// An option of a fabric: texts that end with a zero, read only during the call.
typedef struct {
  // Name of an option, such as `reconfiguration-delay`.
  const char *name;
  // Value as text, such as `10us`.
  const char *value;
} LightloomOption;

// Properties and cost of a plan. Times are in seconds, sizes in bytes.
typedef struct {
  // Name of the collective, such as `all-reduce`.
  const char *collective;
  // Name of the algorithm whose steps these are.
  const char *algorithm;
  // Name of the planner that chose the topologies.
  const char *planner;
  // The schedules that none of takes less than `lower_bound_s`, in words.
  const char *bound_class;
  // Bytes of one rank's whole buffer, as NCCL's tests count them.
  uint64_t size_bytes;
  // Time of the collective: the sum of the terms over the steps.
  double total_s;
  // No schedule of `bound_class` takes less.
  double lower_bound_s;
  // GPUs, which are ranks 0 to `gpus` - 1.
  uint32_t gpus;
  // Circuits out of and into one GPU.
  uint32_t ports;
  // Number of steps.
  uint32_t steps;
  // Number of topologies.
  uint32_t topologies;
  // Steps before which circuits change.
  uint32_t reconfigurations;
  // Number of chunks.
  uint32_t chunks;
  // Index of the topology that must be there before step 0; -1 where the plan may start on any.
  int64_t initial_topology;
} LightloomSummary;

// All circuits that are up during a step, which `lightloom_plan_circuit` has one by one.
typedef struct {
  // Name, such as `ring`.
  const char *name;
  // Pairs of GPUs that circuits join.
  uint64_t circuits;
} LightloomTopology;

// A chunk of the data.
typedef struct {
  // The rank that holds it before the first step; -1 where every rank does, each its own contribution to a sum.
  int64_t source;
  // The rank that must hold it after the last step; -1 where every rank must.
  int64_t destination;
  // Size of the chunk, bytes.
  double bytes;
} LightloomChunk;

// One step of a plan. Its transfers may all start together, once the step before has ended and circuits are up.
typedef struct {
  // Index of the topology that is in force.
  uint32_t topology;
  // Whether circuits change before the step.
  bool reconfigured;
  // GPUs on the longest path, less one.
  uint32_t hops;
  // Bytes on the busiest link over `transfer_bytes`.
  double load;
  // Bytes of the largest transfer.
  double transfer_bytes;
  // Time to start the step.
  double startup_s;
  // Delay of the hops.
  double propagation_s;
  // Time that the bytes take on the busiest link.
  double transmission_s;
  // Charge for the change of circuits before the step.
  double reconfiguration_s;
  // Barrier of all GPUs before the step.
  double barrier_s;
  // Number of transfers.
  uint64_t transfers;
  // Number of paths.
  uint64_t paths;
} LightloomStep;

// Parallel circuits from one GPU to another.
typedef struct {
  // GPU that sends.
  uint32_t source;
  // GPU that receives.
  uint32_t destination;
  // Number of parallel circuits, at least 1.
  uint32_t count;
} LightloomCircuit;

// Chunks that go from one rank to another in a step.
typedef struct {
  // Rank that sends.
  uint32_t source;
  // Rank that receives.
  uint32_t destination;
  // Operation of the receiver on them.
  LightloomOperation operation;
  // Bytes of all of them.
  double bytes;
  // Indices of the chunks, ascending.
  const uint32_t *chunks;
  // Number of `chunks`.
  size_t chunk_count;
} LightloomTransfer;

// A path of the bytes that a rank sends to another in a step.
typedef struct {
  // Rank that sends.
  uint32_t source;
  // Rank that receives.
  uint32_t destination;
  // Part of all that the one sends to the other which goes this way; those of a pair add up to 1.
  double share;
  // Bytes that go this way.
  double bytes;
  // GPUs on the way, the sender first, the receiver last.
  const uint32_t *gpus;
  // Number of `gpus`.
  size_t gpu_count;
} LightloomPath;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Describes a fabric and how it is planned on, as a JSON object with the names, units and defaults of the command
// line: `{"gpus": 64, "ports": 4, "dims": "8x8", "bandwidth": "800Gbps", "reconfiguration_delay": "10us"}`. These
// are the options of `lightloom plan`, which docs/reference/options.md lists, but for the collective, the size, the
// fabric and files. Numbers are seconds, bit/s and bytes. The fabric keeps `most_kept` plans, the least recently used
// going first; all where it is 0. Threads may share it.
LightloomStatus lightloom_fabric_new(const char *options,
                                     size_t most_kept,
                                     LightloomFabric **fabric,
                                     LightloomError *error);

// As `lightloom_fabric_new`, of `count` options whose names and values are those of the command line, without a parser
// or a writer of JSON:
// `{{"gpus", "64"}, {"dims", "8x8"}, {"reconfiguration-delay", "10us"}, {"candidates", "ring,torus:8x8"}}`.
// Names are the same, hyphens for underscores; yes or no is `true` or `false`.
LightloomStatus lightloom_fabric_of_options(const LightloomOption *options,
                                            size_t count,
                                            size_t most_kept,
                                            LightloomFabric **fabric,
                                            LightloomError *error);

// The plan for a collective (`all-reduce`, `reduce-scatter`, `all-gather`, `all-to-all`, `broadcast`, `reduce`,
// `gather`, `scatter`) of `size_bytes` in one rank's whole buffer: looked up, or made and kept. One of the threads that
// ask for the same plan makes it, on all cores, and the others wait. It has been executed symbolically and found right.
// Free it.
LightloomStatus lightloom_fabric_plan(const LightloomFabric *fabric,
                                      const char *collective,
                                      uint64_t size_bytes,
                                      LightloomPlan **plan,
                                      LightloomError *error);

// As `lightloom_fabric_plan`, but nothing is made: where nothing is kept, the answer is `LIGHTLOOM_STATUS_NOT_FOUND`
// and `plan` stays as it is.
LightloomStatus lightloom_fabric_look_up(const LightloomFabric *fabric,
                                         const char *collective,
                                         uint64_t size_bytes,
                                         LightloomPlan **plan,
                                         LightloomError *error);

// Keeps a plan for this fabric, such as one that was read, for its collective and size. The caller's handle stays the
// caller's, to be freed.
LightloomStatus lightloom_fabric_keep(const LightloomFabric *fabric, const LightloomPlan *plan, LightloomError *error);

// Frees a fabric and what it keeps. Plans that were handed out stay until they are freed. Null is nothing.
void lightloom_fabric_free(LightloomFabric *fabric);

// Reads a plan file's text of `length` bytes, as `lightloom plan --output` writes it, executes the plan symbolically
// and refuses it unless all that it says is right. Free it.
LightloomStatus lightloom_plan_read(const char *json, size_t length, LightloomPlan **plan, LightloomError *error);

// Writes a plan as the text of a plan file, to be freed by `lightloom_text_free`.
LightloomStatus lightloom_plan_write(const LightloomPlan *plan, char **json, LightloomError *error);

// Frees text that `lightloom_plan_write` made. Null is nothing.
void lightloom_text_free(char *text);

// Frees a plan, and with it all that was said of it. Null is nothing.
void lightloom_plan_free(LightloomPlan *plan);

// Properties and cost of a plan.
LightloomStatus lightloom_plan_summary(const LightloomPlan *plan, LightloomSummary *summary, LightloomError *error);

// The topology of that index, below `topologies` of the summary.
LightloomStatus lightloom_plan_topology(const LightloomPlan *plan,
                                        uint32_t index,
                                        LightloomTopology *topology,
                                        LightloomError *error);

// The chunk of that index, below `chunks` of the summary.
LightloomStatus lightloom_plan_chunk(const LightloomPlan *plan,
                                     uint32_t index,
                                     LightloomChunk *chunk,
                                     LightloomError *error);

// The step of that index, below `steps` of the summary.
LightloomStatus lightloom_plan_step(const LightloomPlan *plan,
                                    uint32_t index,
                                    LightloomStep *step,
                                    LightloomError *error);

// The circuits between the pair of that index of a topology, below its `circuits`; by source and destination. The
// change from one topology to the next is the difference of the two.
LightloomStatus lightloom_plan_circuit(const LightloomPlan *plan,
                                       uint32_t topology,
                                       uint64_t index,
                                       LightloomCircuit *circuit,
                                       LightloomError *error);

// The transfer of that index of a step, below its `transfers`; by source and destination.
LightloomStatus lightloom_plan_transfer(const LightloomPlan *plan,
                                        uint32_t step,
                                        uint64_t index,
                                        LightloomTransfer *transfer,
                                        LightloomError *error);

// Path number `index` of a step, less than the step's `paths`. Paths are ordered by source and destination.
LightloomStatus lightloom_plan_path(const LightloomPlan *plan,
                                    uint32_t step,
                                    uint64_t index,
                                    LightloomPath *path,
                                    LightloomError *error);

// `LIGHTLOOM_ABI_VERSION` of the library: a program compares it with the one that it was compiled with.
uint32_t lightloom_abi_version(void);

// The version of Lightloom, such as `0.1.0`; it is never freed.
const char *lightloom_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LIGHTLOOM_H */
