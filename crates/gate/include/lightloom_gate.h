// The gate holds a step of a plan back until its circuits are up. A rank opens it, and for every step calls wait_for
// before it sends, and done once it has sent and received all of the step. `lightloom circuits PLAN --send ADDRESS
// --gate PATH` turns the switches when all ranks are done, and lets the next steps through.
//
// Steps are counted from 0, and go on over repetitions: step k of run r of a plan with n steps is r*n + k. Times are in
// nanoseconds; UINT64_MAX waits for ever. A gate is used by any threads at once, and closed once, when none uses it any
// more. A process that forks opens its gate after that. Linux only.

#ifndef LIGHTLOOM_GATE_H
#define LIGHTLOOM_GATE_H

// Generated from crates/gate/src by cbindgen; `make c-header` writes it anew.

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// The status of a call; the first three are the exit statuses of the command line.
typedef enum {
  // The call succeeded.
  LIGHTLOOM_GATE_STATUS_DONE = 0,
  // The system refused something, such as memory.
  LIGHTLOOM_GATE_STATUS_FAILED = 1,
  // The arguments are wrong: a null pointer, a rank that the gate does not have or that is open already, a file that
  // is no gate, or a step that is done before its circuits were up.
  LIGHTLOOM_GATE_STATUS_WRONG_INPUT = 2,
  // The circuits were not up, or the gate was not there, within the time.
  LIGHTLOOM_GATE_STATUS_TIMED_OUT = 3,
  // The controller's process ended without closing the gate: no circuits will change any more.
  LIGHTLOOM_GATE_STATUS_CONTROLLER_LOST = 4,
  // A rank ended, or closed the gate, before it was done with a step whose circuits have to go.
  LIGHTLOOM_GATE_STATUS_RANK_LOST = 5,
  // A switch did not make the circuits.
  LIGHTLOOM_GATE_STATUS_SWITCH_FAILED = 6,
  // The controller closed the gate: all runs that it was started for are over, or it was interrupted.
  LIGHTLOOM_GATE_STATUS_CLOSED = 7,
} LightloomGateStatus;

// A gate that a rank has open.
typedef struct LightloomGate LightloomGate;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Opens the gate at a path for a rank, from 0, waiting up to `timeout_ns` for its controller; `*gate` is the gate.
//
// WRONG_INPUT: a null pointer, a file that is no gate, a rank that it does not have, or that was opened before.
LightloomGateStatus lightloom_gate_open(const char *path, uint32_t rank, uint64_t timeout_ns, LightloomGate **gate);

// Returns when the circuits of a step are up; any other status says why they are not.
//
// The controller's end is noticed within 50 ms.
LightloomGateStatus lightloom_gate_wait_for(const LightloomGate *gate, uint64_t step, uint64_t timeout_ns);

// Says that this rank has sent and received all of a step, and of all steps before it: its circuits may go.
//
// WRONG_INPUT: a step whose circuits have not been up.
LightloomGateStatus lightloom_gate_done(const LightloomGate *gate, uint64_t step);

// The steps of one run of the plan; 0 for a null pointer.
uint32_t lightloom_gate_steps(const LightloomGate *gate);

// The rank that was lost, after RANK_LOST; UINT32_MAX where none was.
uint32_t lightloom_gate_lost_rank(const LightloomGate *gate);

// Closes a gate, unless it is null: the controller learns that this rank has left.
void lightloom_gate_close(LightloomGate *gate);

// A `LightloomGateStatus` in words, in English; it is never freed.
const char *lightloom_gate_words(int32_t status);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LIGHTLOOM_GATE_H */
