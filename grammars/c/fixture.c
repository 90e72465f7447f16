/* Reads a thermometer. */
#include <stdio.h>
#include "thermo.h"

#define MAX_SAMPLES 64
#define TO_KELVIN(c) ((c) + 273.15)

/* One reading. */
struct sample {
    double celsius;
    long when;
};

typedef struct {
    struct sample samples[MAX_SAMPLES];
    int count;
} log_t;

typedef int (*reader_fn)(const char *port);

enum unit { UNIT_C, UNIT_F };

union raw {
    unsigned char bytes[4];
    float value;
};

static int errors = 0;
const char *names[] = { "in", "out" };
extern int verbose;

int read_port(const char *port, struct sample *out);

/* Adds a sample to the log.
 * Returns 0 when it is full. */
static int log_add(log_t *log, struct sample one)
{
    if (log->count == MAX_SAMPLES) {
        errors++;
        return 0;
    }
    log->samples[log->count++] = one;
    return 1;
}

char *unit_name(enum unit unit) {
    return unit == UNIT_C ? strdup("C") : strdup("F");
}

#ifdef THERMO_MAIN
int main(int argc, char **argv) {
    log_t log = {0};
    struct sample one = { TO_KELVIN(20.0), time(NULL) };
    printf("%d\n", log_add(&log, one));
    return 0;
}
#endif

#define READ_PORT(port) read_port(port, &last)

THERMO_BEGIN_DECLS
THERMO_PUBFUN int THERMO_CALL thermo_open(const char *port) THERMO_PURE;
static int __init thermo_start(void) { return READ_PORT("a"); }
THERMO_END_DECLS

struct driver driver = { .open = thermo_open, .start = thermo_start };

START_TEST(opens)
{
    thermo_open("a");
}
END_TEST
