// What a careless or hostile program does: null pointers, wrong text, indices out of range, plans that outlive fabrics,
// many threads. It ends with status 0 where the library answers all of it as the header says.
#include <lightloom.h>

#undef NDEBUG // asserts are what this program is for
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRONG LIGHTLOOM_STATUS_WRONG_INPUT
#define DONE LIGHTLOOM_STATUS_DONE

static void refuses(LightloomStatus status, const LightloomError *error, const char *field, const char *part) {
    assert(status == WRONG);
    if (strcmp(error->field, field) != 0 || strstr(error->message, part) == NULL) {
        fprintf(stderr, "%s: %s\n", error->field, error->message);
        abort();
    }
}

static void wrong_options(void) {
    static const char *const cases[][3] = {
        {"", "options", "JSON"},
        {"[]", "options", "object"},
        {"{}", "gpus", "nothing"},
        {"{\"gpus\": 1}", "gpus", "2 to"},
        {"{\"gpus\": -4}", "gpus", "whole number"},
        {"{\"gpus\": 1e99}", "gpus", "whole number"},
        {"{\"gpus\": 8, \"gpu\": 8}", "options", "did you mean `gpus`"},
        {"{\"gpus\": 8, \"ports\": 0}", "ports", "1 to"},
        {"{\"gpus\": 8, \"bandwidth\": \"fast\"}", "bandwidth", "fast"},
        {"{\"gpus\": 8, \"bandwidth\": []}", "bandwidth", "a rate such as"},
        {"{\"gpus\": 8, \"startup\": -1}", "startup", "it takes"},
        {"{\"gpus\": 8, \"dims\": \"3x3\"}", "dims", "it takes"},
        {"{\"gpus\": 8, \"dims\": [2, \"4\"]}", "dims", "sizes such as"},
        {"{\"gpus\": 8, \"reconfiguration_delay\": {}}", "reconfiguration_delay", "for each port"},
        {"{\"gpus\": 8, \"initial\": \"square\"}", "initial", "unknown name"},
        {"{\"gpus\": 8, \"optics\": \"smoke\"}", "optics", "unknown name"},
        {"{\"gpus\": 8, \"candidates\": []}", "candidates", "names such as"},
        {"{\"gpus\": 8, \"background_reconfiguration\": 1}", "background_reconfiguration", "true or false"},
        {"\xff", "options", "UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        LightloomFabric *fabric = NULL;
        LightloomError error;
        refuses(lightloom_fabric_new(cases[i][0], 0, &fabric, &error), &error, cases[i][1], cases[i][2]);
        assert(fabric == NULL);
        assert(lightloom_fabric_new(cases[i][0], 0, &fabric, NULL) == WRONG);
    }
}

static void wrong_pairs(void) {
    static const struct {
        LightloomOption options[2];
        const char *field, *part;
    } cases[] = {
        {{{"gpus", "1"}, {"ports", "1"}}, "gpus", "2 to"},
        {{{"gpus", "-4"}, {"ports", "1"}}, "gpus", "whole number"},
        {{{"gpus", "18446744073709551616"}, {"ports", "1"}}, "gpus", "whole number"},
        {{{"gpus", "8"}, {"gpus", "8"}}, "gpus", "twice"},
        {{{"gpus", "8"}, {"hop_delay", "fast"}}, "hop_delay", "fast"},
        {{{"gpus", "8"}, {"--hop-dela", "1us"}}, "options", "did you mean `hop_delay`"},
        {{{"gpus", "8"}, {"", "1us"}}, "options", "one of"},
        {{{"gpus", "8"}, {"candidates", ""}}, "candidates", "it takes"},
        {{{"gpus", "8"}, {"background-reconfiguration", "maybe"}}, "background_reconfiguration", "true or false"},
        {{{"gpus", "8"}, {"dims", "3x3"}}, "dims", "it takes"},
        {{{"gpus", "8"}, {"ports", NULL}}, "options", "null"},
        {{{"gpus", "8"}, {NULL, "1"}}, "options", "null"},
        {{{"gpus", "8"}, {"initial", "\xff"}}, "options", "UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        LightloomFabric *fabric = NULL;
        LightloomError error;
        refuses(lightloom_fabric_of_options(cases[i].options, 2, 0, &fabric, &error), &error, cases[i].field,
                cases[i].part);
        assert(fabric == NULL);
        assert(lightloom_fabric_of_options(cases[i].options, 2, 0, &fabric, NULL) == WRONG);
    }
    LightloomFabric *fabric = NULL;
    LightloomError error;
    LightloomOption gpus = {"gpus", "8"};
    refuses(lightloom_fabric_of_options(NULL, 0, 0, &fabric, &error), &error, "gpus", "nothing");
    refuses(lightloom_fabric_of_options(NULL, 1, 0, &fabric, &error), &error, "options", "null");
    refuses(lightloom_fabric_of_options(&gpus, SIZE_MAX, 0, &fabric, &error), &error, "options", "null");
    refuses(lightloom_fabric_of_options(&gpus, 1, 0, NULL, &error), &error, "fabric", "null");
}

// Both ways to describe a fabric lead to the same plan.
static void pairs_are_json(void) {
    static const LightloomOption options[] = {{"dims", "4x2"},       {"ports", "2"},
                                              {"--hop-delay", "1us"}, {"reconfiguration-delay", "2us"},
                                              {"planner", "auto"},    {"candidates", "ring,circulant:1,3"}};
    static const char json[] = "{\"dims\": [4, 2], \"ports\": 2, \"hop_delay\": 1e-6, \"reconfiguration_delay\": 2e-6,"
                               " \"candidates\": [\"ring\", \"circulant:1,3\"]}";
    LightloomFabric *of_options, *of_json;
    LightloomPlan *one, *other;
    LightloomError error;
    char *first, *second;
    assert(lightloom_fabric_of_options(options, sizeof options / sizeof *options, 0, &of_options, &error) == DONE);
    assert(lightloom_fabric_new(json, 0, &of_json, &error) == DONE);
    assert(lightloom_fabric_plan(of_options, "all-gather", 4096, &one, &error) == DONE);
    assert(lightloom_fabric_plan(of_json, "all-gather", 4096, &other, &error) == DONE);
    assert(lightloom_plan_write(one, &first, &error) == DONE);
    assert(lightloom_plan_write(other, &second, &error) == DONE);
    assert(strcmp(first, second) == 0);
    assert(lightloom_fabric_keep(of_options, other, &error) == DONE);
    lightloom_text_free(first);
    lightloom_text_free(second);
    lightloom_plan_free(one);
    lightloom_plan_free(other);
    lightloom_fabric_free(of_options);
    lightloom_fabric_free(of_json);
}

static void null_pointers(const LightloomFabric *fabric, const LightloomPlan *plan) {
    LightloomError error;
    LightloomFabric *other;
    LightloomPlan *found;
    LightloomSummary summary;
    char *text;
    refuses(lightloom_fabric_new(NULL, 0, &other, &error), &error, "options", "null");
    refuses(lightloom_fabric_new("{\"gpus\": 8}", 0, NULL, &error), &error, "fabric", "null");
    refuses(lightloom_fabric_plan(NULL, "all-reduce", 8, &found, &error), &error, "fabric", "null");
    refuses(lightloom_fabric_plan(fabric, NULL, 8, &found, &error), &error, "collective", "null");
    refuses(lightloom_fabric_plan(fabric, "all-reduce", 8, NULL, &error), &error, "plan", "null");
    refuses(lightloom_fabric_look_up(NULL, "all-reduce", 8, &found, &error), &error, "fabric", "null");
    refuses(lightloom_fabric_keep(fabric, NULL, &error), &error, "plan", "null");
    refuses(lightloom_plan_read(NULL, 3, &found, &error), &error, "json", "null");
    refuses(lightloom_plan_write(NULL, &text, &error), &error, "plan", "null");
    refuses(lightloom_plan_write(plan, NULL, &error), &error, "json", "null");
    refuses(lightloom_plan_summary(NULL, &summary, &error), &error, "plan", "null");
    refuses(lightloom_plan_summary(plan, NULL, &error), &error, "summary", "null");
    refuses(lightloom_plan_transfer(plan, 0, 0, NULL, &error), &error, "transfer", "null");
    lightloom_fabric_free(NULL);
    lightloom_plan_free(NULL);
    lightloom_text_free(NULL);
}

static void wrong_values(const LightloomFabric *fabric, const LightloomPlan *plan) {
    LightloomError error;
    LightloomPlan *found = NULL;
    LightloomStep step;
    LightloomTopology topology;
    LightloomCircuit circuit;
    LightloomTransfer transfer;
    LightloomPath path;
    LightloomChunk chunk;
    refuses(lightloom_fabric_plan(fabric, "all", 8, &found, &error), &error, "collective", "one of");
    refuses(lightloom_fabric_plan(fabric, "all-reduce", 0, &found, &error), &error, "size", "it takes");
    refuses(lightloom_fabric_plan(fabric, "all-reduce", UINT64_MAX, &found, &error), &error, "size", "it takes");
    assert(lightloom_fabric_look_up(fabric, "all-reduce", 12345, &found, &error) == LIGHTLOOM_STATUS_NOT_FOUND);
    refuses(lightloom_plan_read("{}", 2, &found, &error), &error, "plan", "schema");
    assert(found == NULL);
    refuses(lightloom_plan_step(plan, 99, &step, &error), &error, "step", "0 to");
    refuses(lightloom_plan_topology(plan, UINT32_MAX, &topology, &error), &error, "topology", "0 to");
    refuses(lightloom_plan_circuit(plan, 0, UINT64_MAX, &circuit, &error), &error, "circuit", "0 to");
    refuses(lightloom_plan_transfer(plan, 99, 0, &transfer, &error), &error, "step", "0 to");
    refuses(lightloom_plan_transfer(plan, 0, 99, &transfer, &error), &error, "transfer", "0 to");
    refuses(lightloom_plan_path(plan, 0, 99, &path, &error), &error, "path", "0 to");
    refuses(lightloom_plan_chunk(plan, 9999, &chunk, &error), &error, "chunk", "0 to");
}

// All that a plan says adds up: paths carry what transfers send, over circuits that are there.
static void walk(const LightloomPlan *plan) {
    LightloomError error;
    LightloomSummary summary;
    assert(lightloom_plan_summary(plan, &summary, &error) == DONE);
    double total_s = 0;
    for (uint32_t s = 0; s < summary.steps; s++) {
        LightloomStep step;
        LightloomTopology topology;
        assert(lightloom_plan_step(plan, s, &step, &error) == DONE);
        total_s += step.startup_s + step.propagation_s + step.transmission_s + step.reconfiguration_s;
        assert(lightloom_plan_topology(plan, step.topology, &topology, &error) == DONE);
        unsigned char *joined = calloc((size_t)summary.gpus * summary.gpus, 1);
        for (uint64_t i = 0; i < topology.circuits; i++) {
            LightloomCircuit circuit;
            assert(lightloom_plan_circuit(plan, step.topology, i, &circuit, &error) == DONE);
            assert(circuit.count >= 1);
            joined[(size_t)circuit.source * summary.gpus + circuit.destination] = 1;
        }
        double sent = 0, carried = 0;
        for (uint64_t i = 0; i < step.transfers; i++) {
            LightloomTransfer transfer;
            assert(lightloom_plan_transfer(plan, s, i, &transfer, &error) == DONE);
            double bytes = 0;
            for (size_t c = 0; c < transfer.chunk_count; c++) {
                LightloomChunk chunk;
                assert(lightloom_plan_chunk(plan, transfer.chunks[c], &chunk, &error) == DONE);
                bytes += chunk.bytes;
            }
            assert(bytes - transfer.bytes < 1e-6 * bytes && transfer.bytes - bytes < 1e-6 * bytes);
            sent += bytes;
        }
        for (uint64_t i = 0; i < step.paths; i++) {
            LightloomPath path;
            assert(lightloom_plan_path(plan, s, i, &path, &error) == DONE);
            assert(path.gpus[0] == path.source && path.gpus[path.gpu_count - 1] == path.destination);
            assert(path.gpu_count <= (size_t)step.hops + 1);
            for (size_t g = 1; g < path.gpu_count; g++)
                assert(joined[(size_t)path.gpus[g - 1] * summary.gpus + path.gpus[g]]);
            carried += path.bytes;
        }
        assert(sent - carried < 1e-6 * sent && carried - sent < 1e-6 * sent);
        LightloomPath beyond;
        assert(lightloom_plan_path(plan, s, step.paths, &beyond, NULL) == WRONG);
        free(joined);
    }
    assert(total_s - summary.total_s < 1e-9 * total_s && summary.total_s - total_s < 1e-9 * total_s);
    assert(summary.lower_bound_s <= summary.total_s * (1 + 1e-12));
}

static void *many_sizes(void *argument) {
    const LightloomFabric *fabric = argument;
    for (uint64_t round = 0; round < 40; round++) {
        LightloomPlan *plan;
        assert(lightloom_fabric_plan(fabric, "reduce-scatter", 8192 << (round % 5), &plan, NULL) == DONE);
        walk(plan);
        lightloom_plan_free(plan);
    }
    return NULL;
}

int main(void) {
    LightloomError error;
    LightloomFabric *fabric, *other;
    LightloomPlan *plan, *back, *found;
    wrong_options();
    wrong_pairs();
    pairs_are_json();
    assert(lightloom_fabric_new("{\"dims\": \"4x2\", \"ports\": 2}", 3, &fabric, &error) == DONE);
    assert(lightloom_fabric_new("{\"gpus\": 8, \"algorithm\": \"ring\"}", 0, &other, &error) == DONE);
    assert(lightloom_fabric_plan(fabric, "all-to-all", 1 << 20, &plan, &error) == DONE);
    null_pointers(fabric, plan);
    wrong_values(fabric, plan);
    walk(plan);

    char *text;
    assert(lightloom_plan_write(plan, &text, &error) == DONE);
    assert(lightloom_plan_read(text, strlen(text), &back, &error) == DONE);
    refuses(lightloom_fabric_keep(other, back, &error), &error, "plan", "a fabric other than this one");
    assert(lightloom_fabric_keep(fabric, back, &error) == DONE);
    assert(lightloom_fabric_look_up(fabric, "all-to-all", 1 << 20, &found, &error) == DONE);
    assert(found == back);
    char *number = strstr(text, "\"total_s\":");
    assert(number != NULL);
    number[strlen("\"total_s\":") + 1] = '9';
    assert(lightloom_plan_read(text, strlen(text), &found, &error) == WRONG);
    lightloom_text_free(text);

    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert(pthread_create(&threads[i], NULL, many_sizes, fabric) == 0);
    for (int i = 0; i < 4; i++)
        assert(pthread_join(threads[i], NULL) == 0);

    lightloom_fabric_free(fabric);
    lightloom_fabric_free(other);
    walk(plan);
    walk(back);
    lightloom_plan_free(plan);
    lightloom_plan_free(back);
    lightloom_plan_free(back);  // what look_up gave is the same plan, and a handle of its own
    return 0;
}
