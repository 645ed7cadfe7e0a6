/* SPDX-License-Identifier: MIT */
/* core_filewatch.c - see core_filewatch.h. */
#include "agent/supervise/core_filewatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/supervise/core_cause.h"
#include "agent/supervise/core_op.h"
#include "base/mem/mem.h"

enum { AGAIN_MS = 1000 }; /* while an operation is in progress */

struct filewatch_file {
    char *path;
    int64_t action;                     /* enum proc_on_change */
    char base[MD5_TEXT_SIZE];           /* what the process runs with; "": not seen yet */
    char now[MD5_TEXT_SIZE];            /* if it has changed */
    bool is_changed, is_asked, is_gone; /* is_asked: `now` is being compared once more */
};

struct filewatch {
    struct proc *proc;
    struct filewatch_file *files;
    size_t n;
    struct timer timer;
    int64_t acted_ms; /* the last restart or reload; 0: none */
};

static const struct list *wanted_files(const struct proc *k)
{
    return &k->spec.extra.watch;
}

bool filewatch_is_wanted(const struct proc *k)
{
    return k->has_spec && k->hosted && wanted_files(k)->n > 0 &&
           proc_policy_of(&k->spec).kind == PROC_RESIDENT;
}

/* ---- whether it counts */

static bool is_starting(const struct proc *k)
{
    const struct op *op = TAILQ_FIRST(&k->ops);

    return op && op_is_acting(op) && op_row(op) && op_row(op)->outcome == MAKES_RUN;
}

static bool counts(const struct proc *k)
{
    return k->hosted && k->wanted == PROC_RUNNING && k->ident.pid && !is_starting(k);
}

static void accept(struct filewatch_file *f)
{
    memcpy(f->base, f->now, sizeof(f->base));
    f->is_changed = f->is_asked = false;
}

static void settle_in(struct filewatch *w, int64_t ms)
{
    struct core *c = w->proc->core;

    timers_set(&c->timers, &w->timer, c->now_ms + ms);
}

/* ---- actions */

static const char *phrase_of(int64_t action)
{
    return action == ON_CHANGE_RESTART  ? MSG("it is restarted")
           : action == ON_CHANGE_RELOAD ? MSG("it is reloaded")
                                        : MSG("nothing is done");
}

static void filewatch_tell(const struct filewatch *w, const struct filewatch_file *f,
                           int64_t action)
{
    core_tell_event(w->proc, "process_config_changed", "%s of %s has changed: %s", f->path,
                    w->proc->meta.name, phrase_of(action));
}

static int64_t report_and_find(struct filewatch *w)
{
    int64_t action = ON_CHANGE_REPORT;

    for (size_t i = 0; i < w->n; i++) {
        struct filewatch_file *f = &w->files[i];

        if (!f->is_changed)
            continue;
        if (f->action > action)
            action = f->action;
        if (f->action != ON_CHANGE_REPORT)
            continue;
        filewatch_tell(w, f, ON_CHANGE_REPORT);
        accept(f);
    }
    return action;
}

/* The path is journaled with the operation, so that a next agent can say why it was restarted. */
static void filewatch_begin(struct filewatch *w, int64_t action)
{
    struct proc *k = w->proc;
    const char *path = NULL;

    for (size_t i = 0; i < w->n; i++) {
        struct filewatch_file *f = &w->files[i];

        if (!f->is_changed)
            continue;
        path = path && f->action != action ? path : f->path;
        filewatch_tell(w, f, action);
        accept(f);
    }
    w->acted_ms = k->core->now_ms;
    if (action == ON_CHANGE_RESTART) {
        k->cause.changed_s = 0;
        cause_set_text(&k->cause.changed_file, path);
        op_new_ours(k, PROC_OP_RESTART, ORIGIN_FILE);
    } else {
        op_new_ours(k, PROC_OP_RELOAD, ORIGIN_FILE_RELOAD);
    }
    op_begin_next(k);
}

static void act(struct filewatch *w)
{
    struct proc *k = w->proc;
    int64_t action = report_and_find(w), due_ms = w->acted_ms + FILEWATCH_EACH_MS;

    if (action == ON_CHANGE_REPORT)
        return;
    if (w->acted_ms && k->core->now_ms < due_ms)
        settle_in(w, due_ms - k->core->now_ms);
    else if (restart_is_in_progress(k) || !restart_is_wanted(k))
        settle_in(w, AGAIN_MS);
    else
        filewatch_begin(w, action);
}

/* Content that was read while it was being written may be half of it: it is read once more. */
static void ask_again(struct filewatch *w)
{
    const struct core *c = w->proc->core;
    bool is_any = false;

    for (size_t i = 0; i < w->n; i++) {
        w->files[i].is_asked = w->files[i].is_changed;
        is_any |= w->files[i].is_changed;
    }
    if (is_any)
        c->effects->files_again(c->arg, w->proc->meta.space, w->proc->meta.name);
}

static void filewatch_on_time(void *filewatch)
{
    struct filewatch *w = filewatch;

    if (counts(w->proc)) {
        ask_again(w);
        return;
    }
    for (size_t i = 0; i < w->n; i++) {
        if (w->files[i].is_changed)
            accept(&w->files[i]);
    }
}

/* ---- files */

static void filewatch_on_gone(struct filewatch *w, struct filewatch_file *f, const char *why)
{
    bool is_news = !f->is_gone && counts(w->proc);

    f->is_changed = f->is_asked = false;
    f->is_gone = true;
    if (is_news)
        core_tell_event(w->proc, "process_config_changed", "%s of %s %s; nothing is done", f->path,
                        w->proc->meta.name, why && *why ? why : MSG("can not be read"));
}

static bool is_awaited(const struct filewatch *w)
{
    for (size_t i = 0; i < w->n; i++) {
        if (w->files[i].is_asked)
            return true;
    }
    return false;
}

static void filewatch_on_content(struct filewatch *w, struct filewatch_file *f, const char *md5)
{
    bool is_confirmed = f->is_changed && f->is_asked && !strcmp(f->now, md5);
    bool was_changed = f->is_changed && !strcmp(f->now, md5);

    f->is_gone = f->is_asked = false;
    snprintf(f->now, sizeof(f->now), "%s", md5);
    if (!*f->base || !strcmp(f->base, md5) || !counts(w->proc)) {
        accept(f);
        return;
    }
    f->is_changed = true;
    if (!was_changed)
        settle_in(w, FILEWATCH_MS);
    else if (is_confirmed && !w->timer.place && !is_awaited(w))
        act(w);
}

void filewatch_on_file(struct filewatch *w, const char *path, const char *md5, const char *why)
{
    for (size_t i = 0; i < w->n; i++) {
        if (strcmp(w->files[i].path, path) != 0)
            continue;
        if (*md5)
            filewatch_on_content(w, &w->files[i], md5);
        else
            filewatch_on_gone(w, &w->files[i], why);
    }
}

/* ---- the end of a restart or reload */

static void note_reload(struct proc *k, int code, const char *text)
{
    if (code != CODE_OK)
        core_tell_event(k, "process_config_changed", "%s could not be reloaded: %s", k->meta.name,
                        text);
}

static void note_restart(struct proc *k, int code, const char *text)
{
    const char *file = k->cause.changed_file ? k->cause.changed_file : "";

    if (code == CODE_OK) {
        k->cause.changed_s = k->core->wall_ms / 1000;
        core_tell_event(k, "process_restart_success", "%s was restarted, for %s has changed",
                        k->meta.name, file);
        restart_count(k);
        return;
    }
    core_tell_event(k, "process_restart_failed", "%s has changed, and the restart of %s failed: %s",
                    file, k->meta.name, text);
    if (code != CODE_DENIED && !k->ident.pid)
        restart_on_failure(k);
}

void filewatch_on_done(struct proc *k, int64_t number, int code, const char *text)
{
    k->run = (struct core_ident){ 0 };
    if (number == PROC_OP_RELOAD)
        note_reload(k, code, text);
    else
        note_restart(k, code, text);
    journal_note_process(k);
    core_tell_process(k);
    op_begin_next(k);
}

struct op *filewatch_resume(struct proc *k)
{
    struct op *op;

    if (k->run_origin == ORIGIN_FILE_RELOAD)
        return op_new_ours(k, PROC_OP_RELOAD, ORIGIN_FILE_RELOAD);
    op = op_new_ours(k, PROC_OP_RESTART, ORIGIN_FILE);
    op->half = restart_resumed_half(k);
    return op;
}

/* ---- life cycle */

static bool filewatch_is_same(const struct filewatch *w, const struct list *files)
{
    const struct proc_watch *f = files->items;

    if (w->n != files->n)
        return false;
    for (size_t i = 0; i < w->n; i++) {
        if (strcmp(w->files[i].path, f[i].path) != 0 || w->files[i].action != f[i].on_change)
            return false;
    }
    return true;
}

void filewatch_free(struct filewatch *w)
{
    if (!w)
        return;
    timers_stop(&w->proc->core->timers, &w->timer);
    for (size_t i = 0; i < w->n; i++)
        free(w->files[i].path);
    free(w->files);
    free(w);
}

static struct filewatch *filewatch_new(struct proc *k)
{
    const struct proc_watch *f = wanted_files(k)->items;
    struct filewatch *w = xalloc(sizeof(*w));

    w->proc = k;
    w->n = wanted_files(k)->n;
    w->files = xalloc(w->n * sizeof(*w->files));
    for (size_t i = 0; i < w->n; i++) {
        w->files[i].path = xstrdup(f[i].path);
        w->files[i].action = f[i].on_change;
    }
    timer_init(&w->timer, filewatch_on_time, w);
    return w;
}

bool filewatch_look(struct proc *k, struct filewatch **slot)
{
    bool is_wanted = filewatch_is_wanted(k);

    if (is_wanted ? *slot && filewatch_is_same(*slot, wanted_files(k)) : !*slot)
        return false;
    filewatch_free(*slot);
    *slot = is_wanted ? filewatch_new(k) : NULL;
    return true;
}
