// What NCCL does with a tuner plugin of interface 5: load it, look its table of functions up, give it a communicator, and
// ask it for every collective with a table of times of its own. Declarations by the facts of NCCL's public header.
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { ALGORITHMS = 7, PROTOCOLS = 3, ALL_GATHER = 2, ALL_REDUCE = 4, SEND = 6, RANKS = 8 };

typedef void (*Logger)(int level, unsigned long flags, const char *file, int line, const char *format, ...);
typedef struct {
    int domains, least, most;
} Domains;
typedef struct {
    const char *name;
    int (*init)(void **context, uint64_t communicator, size_t ranks, size_t nodes, Logger logger, Domains *domains,
                void *constants);
    int (*get_coll_info)(void *context, int collective, size_t bytes, int operations, float **costs, int algorithms,
                         int protocols, int registered, int *channels);
    int (*finalize)(void *context);
} Tuner;

static void logged(int level, unsigned long flags, const char *file, int line, const char *format, ...) {
    (void)flags, (void)file, (void)line;
    va_list list;
    va_start(list, format);
    printf("log %d: ", level);
    vprintf(format, list);
    printf("\n");
    va_end(list);
}

// NCCL's own times: LL is the fastest; the algorithms that these GPUs cannot do are -1.
static void own(float costs[ALGORITHMS][PROTOCOLS]) {
    for (int algorithm = 0; algorithm < ALGORITHMS; algorithm++)
        for (int protocol = 0; protocol < PROTOCOLS; protocol++)
            costs[algorithm][protocol] = algorithm < 2 ? 10.0f + protocol : -1.0f;
}

int main(int count, char **arguments) {
    if (count != 2)
        return 1;
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    Tuner *tuner = dlsym(library, "ncclTunerPlugin_v5");
    if (tuner == NULL || strcmp(tuner->name, "Lightloom") != 0)
        return 1;
    void *context = NULL;
    Domains domains = {1, RANKS, RANKS};
    double constants[256] = {0};
    int status = tuner->init(&context, 7, RANKS, 1, logged, &domains, constants);
    if (status != 0)
        return status;

    float costs[ALGORITHMS][PROTOCOLS];
    for (int call = 0; call < 1000; call++) {
        size_t bytes = (size_t)(call + 1) * 4096;
        int channels = 0;
        own(costs);
        if (tuner->get_coll_info(context, ALL_REDUCE, bytes, 1, (float **)costs, ALGORITHMS, PROTOCOLS, 0, &channels))
            return 1;
        int algorithm = 0, protocol = 0;
        for (int place = 0; place < ALGORITHMS * PROTOCOLS; place++) {
            float time = costs[place / PROTOCOLS][place % PROTOCOLS];
            if (time >= 0 && time < costs[algorithm][protocol])
                algorithm = place / PROTOCOLS, protocol = place % PROTOCOLS;
        }
        printf("%zu %d %d %d\n", bytes, algorithm, protocol, channels);
    }

    // Collectives that the table does not have, and one that NCCL numbers beyond them: nothing is written.
    int changed = 0;
    static const int others[] = {ALL_GATHER, SEND, 1000};
    for (int place = 0; place < 3; place++) {
        float before[ALGORITHMS][PROTOCOLS];
        int channels = 0;
        own(before);
        own(costs);
        if (tuner->get_coll_info(context, others[place], 4096, 1, (float **)costs, ALGORITHMS, PROTOCOLS, 0, &channels))
            return 1;
        changed += memcmp(before, costs, sizeof costs) != 0 || channels != 0;
    }
    printf("not in the table: %d of 3 changed\n", changed);

    // Careless calls are refused.
    int channels = 0;
    if (tuner->get_coll_info(NULL, ALL_REDUCE, 1, 1, (float **)costs, ALGORITHMS, PROTOCOLS, 0, &channels) != 4 ||
        tuner->get_coll_info(context, -1, 1, 1, (float **)costs, ALGORITHMS, PROTOCOLS, 0, &channels) != 4 ||
        tuner->init(NULL, 7, RANKS, 1, NULL, &domains, constants) != 4 || tuner->finalize(NULL) != 0)
        return 1;
    return tuner->finalize(context) || dlclose(library);
}
