/* SPDX-License-Identifier: MIT */
/* metrics.h - metrics of the server for Prometheus: GET /metrics, text format 0.0.4.
 *
 * One table.  A row has the name of a metric, its help text, and the location of its number: which
 * struct of counters of which part of the server, and the offset in it.  A new metric is one new
 * row; docs/reference/metrics.md is made from the table too.  Label values are bounded: names from
 * our own tables, never an agent, a host or an app. */
#ifndef API_PIPELINE_METRICS_H
#define API_PIPELINE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem/buf.h"
#include "server/fleet/agent_stats.h"

struct agents;
struct api;
struct http_server;
struct pushes;

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

/* The struct that has the number. */
enum metric_from {
    FROM_SERVER,  /* struct metrics_server */
    FROM_HTTP,    /* struct http_counters */
    FROM_ROUTES,  /* call_row_counts, one per row */
    FROM_CALLS,   /* struct call_counts */
    FROM_FLEET,   /* struct fleet_totals */
    FROM_AGENTS,  /* struct agents_counters */
    FROM_FIGURES, /* struct agent_stats_now */
    FROM_TASKS,   /* struct task_counts */
    FROM_STORE,   /* struct store_counters */
    FROM_EVENTS,  /* struct events_counters */
    FROM_PUSHES,  /* int64_t */
    METRIC_SOURCES
};

/* A metric with labels is an array of numbers at its offset. */
struct metric_labels {
    const char *names; /* for the documentation */
    size_t (*count)(void);
    /* Writes the labels of the i-th, as they appear between the braces; false: it has none and is
     * left out.  `first` is the address of the first number. */
    bool (*put)(const void *first, size_t i, struct buf *out);
    size_t stride;  /* bytes from one number to the next; 0: size of the number */
    bool is_sparse; /* numbers that are 0 are left out, because there are many */
};

struct metric {
    const char *name;
    enum metric_type type;
    const char *help;
    enum metric_from from;
    size_t offset;                      /* of an int64_t, a uint64_t or a struct hist */
    int64_t per;                        /* divisor to get the unit; 0: 1 */
    const struct metric_labels *labels; /* NULL: none */
};

extern const struct metric metrics[]; /* ends with a NULL name */
const char *metric_type_name(enum metric_type type);

/* Numbers that are computed for each request. */
struct metrics_server {
    int64_t one; /* always 1: for metrics that inform by their labels */
    int64_t start_ms, cpu_us, rss_bytes, size_bytes, fds, fds_max;
    const char *version;
};
struct metrics_room {
    struct metrics_server server;
    struct agent_stats_now agent_stats;
    int64_t pushes;
};

/* How to get a struct of enum metric_from; part NULL: not available, its metrics are left out. */
struct metrics_source {
    const void *(*get)(void *part, struct metrics_room *room);
    void *part;
};

/* For main: adds these parts and the api as sources. */
struct metrics_parts {
    struct agents *agents;
    struct pushes *pushes;
    struct http_server *http;
};
void metrics_watch(struct api *a, const struct metrics_parts *parts);

void metrics_write(const struct api *api, struct buf *out);

/* Escapes as the text format requires: "\" and line ends; in labels also quotes. */
void metrics_escape(const char *text, bool is_label, struct buf *out);

void metrics_page_write(struct buf *out); /* writes docs/reference/metrics.md */

#endif
