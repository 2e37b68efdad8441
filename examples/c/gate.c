// Ranks of a job that wait for the circuits of each step: a process for each, which a controller leads.
//
//   lightloom circuits plan.json --send scpi://127.0.0.1:5025 --gate /dev/shm/gate &
//   gate /dev/shm/gate RANKS RUNS
#define _POSIX_C_SOURCE 200809L
#include <lightloom_gate.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND 1000000000u

static int failed(uint32_t rank, const char *what, LightloomGateStatus status) {
    fprintf(stderr, "rank %u: %s: %s\n", (unsigned)rank, what, lightloom_gate_words(status));
    return status;
}

// One rank: what a collective library does around the messages of each step.
static int run(const char *path, uint32_t rank, uint64_t runs) {
    LightloomGate *gate = NULL;
    LightloomGateStatus status = lightloom_gate_open(path, rank, 10ull * SECOND, &gate);
    if (status != LIGHTLOOM_GATE_STATUS_DONE)
        return failed(rank, "open", status);

    uint64_t steps = runs * lightloom_gate_steps(gate);
    for (uint64_t step = 0; step < steps && status == LIGHTLOOM_GATE_STATUS_DONE; step++) {
        status = lightloom_gate_wait_for(gate, step, 10ull * SECOND);
        // Here the data of the step are sent and received: its circuits are up.
        if (status == LIGHTLOOM_GATE_STATUS_DONE)
            status = lightloom_gate_done(gate, step);
    }

    if (status == LIGHTLOOM_GATE_STATUS_DONE)
        printf("rank %u: %llu steps, each on its circuits\n", (unsigned)rank, (unsigned long long)steps);
    else
        failed(rank, "step", status);
    lightloom_gate_close(gate);
    return status;
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: %s GATE RANKS RUNS\n", arguments[0]);
        return 2;
    }
    long ranks = atol(arguments[2]), runs = atol(arguments[3]);
    for (long rank = 0; rank < ranks; rank++) {
        if (fork() == 0)
            return run(arguments[1], (uint32_t)rank, (uint64_t)runs);
    }
    int worst = 0, ended = 0;
    while (wait(&ended) > 0) {
        int status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 1;
        worst = status > worst ? status : worst;
    }
    return worst;
}
