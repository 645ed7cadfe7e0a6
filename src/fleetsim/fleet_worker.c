/* SPDX-License-Identifier: MIT */
/* fleet_worker.c - see fleet_worker.h. */
#include "fleetsim/fleet_worker.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleetsim/fleet_crowd.h"
#include "fleetsim/fleet_lines.h"

struct worker {
    struct loop *loop;
    struct fleet_crowd *crowd;
    struct fleet_lines *front;
};

static void send_counts(struct worker *w)
{
    struct fleet_counts counts;
    struct buf line = { 0 };

    fleet_crowd_counts(w->crowd, &counts);
    fleet_counts_write(&counts, &line);
    fleet_lines_send(w->front, buf_data(&line), line.len);
    buf_free(&line);
}

/* `error` comes from the front: it asks for the last error of the links. */
static void send_answer(struct worker *w, const char *command)
{
    struct fleet_answer answer = { .error = fleet_crowd_error(w->crowd)->text };
    struct buf line = { 0 };

    if (strcmp(command, "error") != 0)
        fleet_crowd_do(w->crowd, command, &answer);
    shape_write(&fleet_answer_shape, &answer, &line);
    buf_addc(&line, '\n');
    fleet_lines_send(w->front, buf_data(&line), line.len);
    buf_free(&line);
}

static void on_line(void *arg, const char *line, size_t n)
{
    struct worker *w = arg;
    bool is_over = !strcmp(line, "stop");

    (void)n;
    if (is_over || !strcmp(line, "report"))
        send_counts(w);
    else
        send_answer(w, line);
    if (is_over)
        loop_stop(w->loop);
}

static void fleet_worker_on_end(void *arg)
{
    struct worker *w = arg;

    loop_stop(w->loop);
}

static const struct fleet_lines_owner owner = { on_line, fleet_worker_on_end };

static int run(struct worker *w, const struct fleet_settings *s, const struct fleet_plan *plan,
               const char *token, int64_t worker, int fd, struct err *err)
{
    if (loop_new(&clock_system, &w->loop, err) ||
        fleet_lines_new(w->loop, fd, &owner, w, &w->front, err))
        return -1;
    w->crowd = fleet_crowd_new(w->loop, s, plan, token, worker);
    return loop_run(w->loop, err);
}

/* Ctrl-C goes to all processes of a terminal, so workers ignore it; the front ends them. */
int fleet_worker_run(const struct fleet_settings *s, const struct fleet_plan *plan,
                     const char *token, int64_t worker, int fd)
{
    struct worker w = { 0 };
    struct err err = { 0 };
    int bad;

    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    bad = run(&w, s, plan, token, worker, fd, &err);
    if (bad)
        fprintf(stderr, "holdfast-sim: process %lld: %s\n", (long long)worker, err.text);
    fleet_crowd_free(w.crowd);
    fleet_lines_free(w.front);
    loop_free(w.loop);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
