/* SPDX-License-Identifier: MIT */
/* agent_trim.c - see agent_trim.h. */
#include "agent/shell/agent_trim.h"

#include <stdlib.h>

#include "agent/exec/outlog_trim.h"
#include "agent/shell/agent_base.h"
#include "agent/shell/forwarder.h"
#include "agent/shell/trimmer.h"
#include "agent/supervise/core.h"
#include "base/io/log.h"
#include "base/io/loop.h"
#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "base/os/time.h"
#include "model/operation.h"

enum {
    WALK_FILES = 256,       /* files of the folder per step */
    WALK_MS = 3600 * 1000,  /* interval of walks through the folder */
    KEEP_S = 7 * 24 * 3600, /* age of output files of removed processes */
};

struct trims {
    struct agent_base *agent;
    uint64_t max_bytes;      /* the common limit */
    struct trimmer *trimmer; /* NULL: no thread; files are trimmed on the loop */
    struct forwarder *forwarder;
    bool has_new_pids;
    uint64_t turn;    /* of pids */
    struct map known; /* file names of all processes; valid during a step of a walk */
    bool is_walking;
    int64_t walked_ms;
};

/* Only start and restart commands write to the file of the process itself. */
void output_name(const char *space, const char *name, const char *what, char to[OUTLOG_NAME_SIZE])
{
    char *key = xprintf("%s:%s", space, name);

    outlog_name(key, operation_is_own_output(what) ? "" : what, to);
    free(key);
}

uint64_t trims_max(const struct trims *t, const char *file)
{
    return t->trimmer ? trimmer_max(t->trimmer, file) : t->max_bytes;
}

void trims_set_max(struct trims *t, const char *file, int64_t max_bytes)
{
    if (t->trimmer)
        trimmer_set_max(t->trimmer, file, max_bytes);
}

void trims_set_all(struct trims *t, int64_t max_bytes)
{
    t->max_bytes = (uint64_t)max_bytes;
    if (t->trimmer)
        trimmer_set_all(t->trimmer, (uint64_t)max_bytes);
}

void trims_look(struct trims *t, const char *file)
{
    struct agent_base *a = t->agent;
    const struct outlog_space space = outlog_space(a->outlog, file);
    uint64_t max_bytes = trims_max(t, file);
    struct err err;
    bool ignored;

    if (!outlog_is_over(&space, max_bytes))
        return;
    if (t->trimmer)
        trimmer_look(t->trimmer, file);
    else if (outlog_trim(a->outlog, file, max_bytes, &ignored, &err))
        LOG(a->log, LOG_WARN, "output can not be trimmed; it is tried again when there is more",
            log_err(&err));
}

/* ---- forwarding */

void trims_forward(struct trims *t, const char *file, const char *space, const char *name,
                   const struct proc_spec *spec)
{
    enum proc_output kind = (enum proc_output)spec->extra.output;
    uint64_t at = 0;

    if (kind == OUTPUT_FILE && forwarder_is_idle(t->forwarder))
        return;
    if (kind != OUTPUT_FILE)
        at = outlog_end(t->agent->outlog, file, OUTLOG_NO_WAIT);
    forwarder_follow(t->forwarder, file, space, name, kind, at);
}

void trims_set_pid(struct trims *t, const char *file, int64_t pid)
{
    forwarder_set_pid(t->forwarder, file, pid, ++t->turn);
}

void trims_on_watch(struct trims *t)
{
    t->has_new_pids = true;
}

static void set_running_pid(void *trims, const char *space, const char *name,
                            struct core_ident ident)
{
    struct trims *t = trims;
    char file[OUTLOG_NAME_SIZE];

    output_name(space, name, "start", file);
    forwarder_set_pid(t->forwarder, file, ident.pid, t->turn);
}

/* The core lists a process before the commands that are about to start it. */
void trims_on_turn(struct trims *t)
{
    if (!t->has_new_pids)
        return;
    t->has_new_pids = false;
    t->turn++;
    if (!forwarder_is_idle(t->forwarder))
        core_each_running(t->agent->core, set_running_pid, t);
}

/* ---- walk through the folder */

static void add_known(void *trims, const char *space, const char *name,
                      const struct proc_spec *spec)
{
    struct trims *t = trims;
    char file[OUTLOG_NAME_SIZE], *old;

    (void)spec;
    output_name(space, name, "start", file);
    old = map_del_str(&t->known, file);
    free(old);
    old = xstrdup(file);
    map_put_str(&t->known, old, old);
}

static bool trim_is_known(struct trims *t, const char *process)
{
    if (!t->known.n)
        core_each(t->agent->core, add_known, t);
    return map_find_str(&t->known, process) != NULL;
}

static void forget_known(struct trims *t)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&t->known, &at));)
        free(e->value);
    map_free(&t->known);
}

static void on_file(void *trims, const char *name, const char *process, int64_t wall_s)
{
    struct trims *t = trims;
    struct agent_base *a = t->agent;
    int64_t now_s = clock_wall_ms(loop_clock(a->loop)) / 1000;
    struct err err;

    if (forwarder_has(t->forwarder, name) && !trim_is_known(t, process))
        forwarder_follow(t->forwarder, name, "", "", OUTPUT_FILE, 0);
    if (now_s - wall_s < KEEP_S || trim_is_known(t, process))
        trims_look(t, name);
    else if (outlog_remove(a->outlog, name, &err))
        LOG(a->log, LOG_WARN, "old output can not be removed", log_err(&err));
}

static void trim_walk(struct trims *t, size_t files)
{
    t->is_walking = outlog_walk(t->agent->outlog, files, on_file, t);
    forget_known(t);
    if (!t->is_walking)
        t->walked_ms = loop_now_ms(t->agent->loop);
}

void trims_on_tick(struct trims *t)
{
    int64_t since_ms = loop_now_ms(t->agent->loop) - t->walked_ms;

    if (!t->trimmer || !trimmer_has_news(t->trimmer))
        trim_walk(t, SIZE_MAX);
    else if (t->is_walking || since_ms >= WALK_MS)
        trim_walk(t, WALK_FILES);
}

/* ---- start and end */

static void set_known(void *trims, const char *space, const char *name,
                      const struct proc_spec *spec)
{
    char file[OUTLOG_NAME_SIZE];

    if (!spec->extra.log_max_bytes && !spec->extra.output)
        return;
    output_name(space, name, "start", file);
    trims_set_max(trims, file, spec->extra.log_max_bytes);
    trims_forward(trims, file, space, name, spec);
}

struct trims *trims_new(struct agent_base *a, int64_t max_bytes)
{
    struct trims *t = xalloc(sizeof(*t));
    char *path = xprintf("%s/output", a->dir);
    const struct forward_options options = forward_defaults();
    struct err err;

    t->agent = a;
    t->forwarder = forwarder_new(a->outlog, path, &options);
    t->has_new_pids = true;
    t->max_bytes = (uint64_t)max_bytes;
    t->is_walking = true; /* files may have grown before the start */
    if (trimmer_new(a->outlog, path, t->max_bytes, a->log, &t->trimmer, &err))
        LOG(a->log, LOG_WARN, "output is looked at every 10 s, and may grow large meanwhile",
            log_err(&err));
    core_each(a->core, set_known, t);
    free(path);
    return t;
}

bool trims_free(struct trims *t, int64_t wait_ms)
{
    bool has_ended;

    if (!t)
        return true;
    has_ended = trimmer_free(t->trimmer, wait_ms);
    has_ended = forwarder_free(t->forwarder, wait_ms) && has_ended;
    forget_known(t);
    free(t);
    return has_ended;
}
