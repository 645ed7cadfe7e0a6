/* SPDX-License-Identifier: MIT */
/* fleet_counts.h - counters of a simulated fleet: counted in each process, summed over processes,
 * shown as one line, a table or JSON.
 *
 * The rows are one table: another count is a member here and a row there. */
#ifndef FLEETSIM_FLEET_COUNTS_H
#define FLEETSIM_FLEET_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "wire/json/shape.h"

/* Time until the server acknowledged a result: bucket i counts those below 100 us times 2^(i/2). */
enum { FLEET_BUCKETS = 48 };

struct fleet_counts {
    /* Current values. */
    int64_t agents, expected, up, reached, parked, joining, procs, running;

    /* Since the start. */
    int64_t joined, sessions, lost, refused;
    int64_t commands, repeated, cancels, results, stored, failed;
    int64_t pushes, deaths, returns, snapshots;
    int64_t events, events_stored, pings, logs, lies, errors;
    int64_t unstored; /* results that are not acknowledged now */

    /* The maximum over the processes. */
    int64_t up_ns;     /* CLOCK_MONOTONIC: when `up` last changed */
    int64_t begun_ns;  /* when connecting started */
    int64_t all_up_ms; /* from begun_ns until all expected agents had a session; 0: not yet */
    int64_t rss_kb;    /* of the largest process */

    int64_t stored_in[FLEET_BUCKETS];
};

extern const struct shape fleet_counts_shape; /* all but the buckets */

void fleet_counts_add(struct fleet_counts *to, const struct fleet_counts *from);
void fleet_counts_stored(struct fleet_counts *c, int64_t took_us);
int64_t fleet_counts_stored_us(const struct fleet_counts *c,
                               int per_mille); /* 0: no result was stored */

/* All counts and buckets as one line, for the other process. */
void fleet_counts_write(const struct fleet_counts *c, struct buf *to);
int fleet_counts_read(const char *line, size_t n, struct fleet_counts *ret, struct err *err);

/* For people: a line while it runs and a table at the end.  For programs: JSON. */
void fleet_counts_line(const struct fleet_counts *c, int64_t ran_ms, struct buf *to);
void fleet_counts_table(const struct fleet_counts *c, int64_t ran_ms, struct buf *to);
void fleet_counts_json(const struct fleet_counts *c, int64_t ran_ms, struct buf *to);

int64_t fleet_now_ns(void); /* CLOCK_MONOTONIC */

#endif
