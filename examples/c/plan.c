// Plans an AllReduce, looks it up again, and walks it: the circuits of every step, and what is sent along them.
//
//     plan [GPUS] [BYTES]
#include <lightloom.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void check(LightloomStatus status, const LightloomError *error) {
    if (status != LIGHTLOOM_STATUS_DONE) {
        fprintf(stderr, "error: %s\n", error->message);
        exit(status);
    }
}

static void print_step(const LightloomPlan *plan, uint32_t index) {
    LightloomError error;
    LightloomStep step;
    check(lightloom_plan_step(plan, index, &step, &error), &error);
    LightloomTopology topology;
    check(lightloom_plan_topology(plan, step.topology, &topology, &error), &error);
    printf("step %" PRIu32 ": %s%s, %" PRIu64 " transfers of up to %.0f bytes\n", index,
           step.reconfigured ? "change to " : "on ", topology.name, step.transfers, step.transfer_bytes);

    // What rank 0's switch ports and rank 0 do; a runtime does so for every rank.
    for (uint64_t i = 0; step.reconfigured && i < topology.circuits; i++) {
        LightloomCircuit circuit;
        check(lightloom_plan_circuit(plan, step.topology, i, &circuit, &error), &error);
        if (circuit.source == 0)
            printf("  connect %" PRIu32 " to %" PRIu32 "\n", circuit.source, circuit.destination);
    }
    for (uint64_t i = 0; i < step.transfers; i++) {
        LightloomTransfer transfer;
        check(lightloom_plan_transfer(plan, index, i, &transfer, &error), &error);
        if (transfer.source == 0)
            printf("  %s %zu chunks, the first %" PRIu32 ", at rank %" PRIu32 "\n",
                   transfer.operation == LIGHTLOOM_OPERATION_REDUCE ? "add" : "copy", transfer.chunk_count,
                   transfer.chunks[0], transfer.destination);
    }
    for (uint64_t i = 0; i < step.paths; i++) {
        LightloomPath path;
        check(lightloom_plan_path(plan, index, i, &path, &error), &error);
        if (path.source != 0)
            continue;
        printf("  %.0f bytes go by", path.bytes);
        for (size_t hop = 0; hop < path.gpu_count; hop++)
            printf(" %" PRIu32, path.gpus[hop]);
        printf("\n");
    }
}

int main(int count, char **arguments) {
    const char *gpus = count > 1 ? arguments[1] : "8";
    uint64_t bytes = count > 2 ? strtoull(arguments[2], NULL, 10) : 1 << 20;
    if (lightloom_abi_version() != LIGHTLOOM_ABI_VERSION) {
        fprintf(stderr, "error: the library is of another version than the header\n");
        return LIGHTLOOM_STATUS_FAILED;
    }

    const LightloomOption options[] = {{"gpus", gpus}, {"reconfiguration-delay", "1us"}};
    LightloomError error;
    LightloomFabric *fabric;
    check(lightloom_fabric_of_options(options, sizeof options / sizeof *options, 100, &fabric, &error), &error);

    LightloomPlan *plan, *again;
    check(lightloom_fabric_plan(fabric, "all-reduce", bytes, &plan, &error), &error);
    check(lightloom_fabric_look_up(fabric, "all-reduce", bytes, &again, &error), &error);
    lightloom_plan_free(again);
    lightloom_fabric_free(fabric);

    LightloomSummary summary;
    check(lightloom_plan_summary(plan, &summary, &error), &error);
    printf("%s of %" PRIu64 " bytes on %" PRIu32 " GPUs: %.3f us, at least %.3f us (%s, %s)\n", summary.collective,
           summary.size_bytes, summary.gpus, 1e6 * summary.total_s, 1e6 * summary.lower_bound_s, summary.algorithm,
           summary.planner);
    for (uint32_t i = 0; i < summary.steps; i++)
        print_step(plan, i);
    lightloom_plan_free(plan);
    return 0;
}
