// The processor time of looking up a plan and walking through it, compared with making it, as
// docs/how-to/plan-from-c.md states it.
//
//     cc -O2 benches/c/look_up.c $(pkg-config --cflags --libs lightloom) -o look_up && ./look_up
#include <lightloom.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SIZES = 64, ROUNDS = 200000 };

static double processor_s(void) { return (double)clock() / CLOCKS_PER_SEC; }

static void check(LightloomStatus status) {
    if (status != LIGHTLOOM_STATUS_DONE)
        abort();
}

int main(void) {
    LightloomFabric *fabric;
    LightloomPlan *plan;
    check(lightloom_fabric_new("{\"gpus\": 64}", 0, &fabric, NULL));
    double start_s = processor_s();
    for (uint64_t i = 0; i < SIZES; i++) {
        check(lightloom_fabric_plan(fabric, "all-reduce", (i + 1) << 16, &plan, NULL));
        lightloom_plan_free(plan);
    }
    double made_s = (processor_s() - start_s) / SIZES;

    start_s = processor_s();
    for (uint64_t i = 0; i < ROUNDS; i++) {
        check(lightloom_fabric_look_up(fabric, "all-reduce", (i % SIZES + 1) << 16, &plan, NULL));
        lightloom_plan_free(plan);
    }
    double found_s = (processor_s() - start_s) / ROUNDS;

    check(lightloom_fabric_plan(fabric, "all-reduce", 1 << 16, &plan, NULL));
    LightloomSummary summary;
    check(lightloom_plan_summary(plan, &summary, NULL));
    uint64_t items = 0;
    start_s = processor_s();
    for (int round = 0; round < 1000; round++)
        for (uint32_t s = 0; s < summary.steps; s++) {
            LightloomStep step;
            check(lightloom_plan_step(plan, s, &step, NULL));
            for (uint64_t i = 0; i < step.transfers; i++, items++) {
                LightloomTransfer transfer;
                check(lightloom_plan_transfer(plan, s, i, &transfer, NULL));
            }
        }
    double walked_s = (processor_s() - start_s) / (double)items;
    printf("64 GPUs, %d sizes: a plan is made in %.3g ms and looked up in %.3g us, %.0f times faster; a transfer takes %.2g us\n",
           SIZES, 1e3 * made_s, 1e6 * found_s, made_s / found_s, 1e6 * walked_s);
    lightloom_plan_free(plan);
    lightloom_fabric_free(fabric);
    return 0;
}
