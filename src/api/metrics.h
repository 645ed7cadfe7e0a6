/* SPDX-License-Identifier: MIT */
/* metrics.h - what the server counts, for Prometheus: GET /metrics, in its text format 0.0.4.
 *
 * One table.  A row says what a metric is called, what it means, and where its number stands:
 * in which of the counters that the parts of the server keep anyway, and at which offset.  So
 * one more metric is one more row, and docs/reference/metrics.md has its list from here too.  What
 * a label may say is bounded: names of our own tables, never an agent, a host or an app. */
#ifndef API_METRICS_H
#define API_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "server/figures.h"

struct agents;
struct api;
struct http_server;
struct pushes;

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

/* Where a number stands. */
enum metric_from {
    FROM_SERVER,  /* struct metrics_server */
    FROM_HTTP,    /* struct http_counters */
    FROM_ROUTES,  /* call_row_counts, one for each row */
    FROM_CALLS,   /* struct call_counts */
    FROM_FLEET,   /* struct fleet_totals */
    FROM_AGENTS,  /* struct agents_counters */
    FROM_FIGURES, /* struct figures_now */
    FROM_TASKS,   /* struct task_counts */
    FROM_STORE,   /* struct store_counters */
    FROM_EVENTS,  /* struct events_counters */
    FROM_PUSHES,  /* int64_t */
    METRIC_SOURCES
};

/* Numbers of a metric that has labels, one behind the other at its offset. */
struct metric_labels {
    const char *names; /* for people */
    size_t (*count)(void);
    /* Writes those of the i-th, as they stand between the braces; false: there is no such.
     * `first` is where the first number stands. */
    bool (*put)(const void *first, size_t i, struct buf *out);
    size_t stride;  /* bytes between two; 0: as large as one is */
    bool is_sparse; /* those that are 0 are left out: there could be too many */
};

struct metric {
    const char *name;
    enum metric_type type;
    const char *help;
    enum metric_from from;
    size_t offset;                      /* of an int64_t, a uint64_t or a struct hist */
    int64_t per;                        /* so many are one of its unit; 0: 1 */
    const struct metric_labels *labels; /* NULL: none */
};

extern const struct metric metrics[]; /* ends with a NULL name */
const char *metric_type_name(enum metric_type type);

/* What is not kept, but found out when somebody asks. */
struct metrics_server {
    int64_t one; /* for metrics that say something by their labels */
    int64_t start_ms, cpu_us, rss_bytes, size_bytes, fds, fds_max;
    const char *version;
};
struct metrics_room {
    struct metrics_server server;
    struct figures_now figures;
    int64_t pushes;
};

/* Where a struct of enum metric_from is to be had; part NULL: nowhere, and its metrics are not
 * told. */
struct metrics_source {
    const void *(*get)(void *part, struct metrics_room *room);
    void *part;
};

/* For main: these, too, and what the api knows, from now on. */
struct metrics_parts {
    struct agents *agents;
    struct pushes *pushes;
    struct http_server *http;
};
void metrics_watch(struct api *a, const struct metrics_parts *parts);

void metrics_write(const struct api *api, struct buf *out);

/* The text format's own rules: "\" and line ends, in labels quotes too. */
void metrics_escape(const char *text, bool is_label, struct buf *out);

void metrics_page_write(struct buf *out); /* docs/reference/metrics.md */

#endif
