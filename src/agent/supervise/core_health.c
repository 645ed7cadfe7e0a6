/* SPDX-License-Identifier: MIT */
/* core_health.c - see core_health.h. */
#include "agent/supervise/core_health.h"

#include <stdlib.h>
#include <string.h>

#include "agent/supervise/core_checks.h"
#include "agent/supervise/core_drift.h"
#include "agent/supervise/core_filewatch.h"
#include "agent/supervise/core_op.h"
#include "agent/supervise/core_side_command.h"
#include "base/mem/mem.h"
#include "base/text/utf8.h"

struct health {
    struct proc *proc;
    char *version, *health; /* NULL: unknown, or no output */
    struct side_command *asks_version, *asks_health;
    struct core_ident asked; /* the process that `health` refers to */
    bool has_version;        /* version_cmd ran since the last start */
    bool is_spent;           /* no restart is left, and this was reported */
    int64_t failures;        /* failures of health_cmd in a row */
    bool has_passed;         /* the last health_cmd of this run succeeded */
    struct checks *checks;   /* NULL: none */
    int64_t restarts;        /* restarts in a row without a healthy check */
    struct timer timer;      /* next run of health_cmd */
    void (*done)(void *arg); /* callback of a query; NULL: none */
    void *arg;
    struct drift *drift;
    struct filewatch *filewatch;
};

static bool is_watched(const struct proc *k)
{
    return k->hosted && k->has_spec && proc_policy_of(&k->spec).kind == PROC_RESIDENT;
}

static bool has_health_checks(const struct proc *k)
{
    return is_watched(k) && k->spec.extra.health_interval_s > 0 && *k->spec.control.health_cmd;
}

static bool has_checks(const struct proc *k)
{
    return is_watched(k) && k->spec.extra.checks.n > 0;
}

int64_t health_timeout_ms(const struct proc_spec *spec)
{
    int64_t timeout_ms = proc_policy_of(spec).op_timeout_s * 1000;

    return timeout_ms < HEALTH_MS ? timeout_ms : HEALTH_MS;
}

/* Stores the first bytes of the text without leading and trailing blanks. */
static void set_text(char **slot, const char *text)
{
    size_t n;

    text += strspn(text, " \t\r\n");
    n = utf8_cut(text, HEALTH_TEXT_BYTES);
    while (n > 0 && strchr(" \t\r\n", text[n - 1]))
        n--;
    free(*slot);
    *slot = n ? xmemdup(text, n) : NULL;
}

static void tell_done(struct health *c)
{
    void (*done)(void *arg) = c->done;

    if (!done || c->asks_version || c->asks_health)
        return;
    c->done = NULL;
    done(c->arg);
}

/* ---- version */

static void on_version(struct proc *k, void *arg, int status, const char *output,
                       const char *failure)
{
    struct health *c = arg;

    c->asks_version = NULL;
    set_text(&c->version, failure || status != 0 ? "" : output); /* its output file says why */
    core_tell_change(k);
    tell_done(c);
}

static void ask_version(struct health *c, const struct proc_spec *spec)
{
    c->has_version = true;
    if (!c->asks_version)
        c->asks_version = side_command_run(c->proc, spec, "version", spec->control.version_cmd,
                                           health_timeout_ms(spec), on_version, c);
}

/* ---- health */

static void set_unhealthy(struct health *c, bool is_unhealthy)
{
    struct proc *k = c->proc;

    k->cause.unhealthy_s = is_unhealthy ? k->core->wall_ms / 1000 : 0;
    if (core_is_known(k))
        journal_note_process(k);
    core_tell_process(k);
}

static int64_t failures_in_a_row(const struct health *c)
{
    int64_t failures = c->checks ? checks_failures(c->checks) : 0;

    return failures > c->failures ? failures : c->failures;
}

static void restart(struct health *c)
{
    struct proc *k = c->proc;

    if (!k->hosted || !k->spec.extra.unhealthy_restarts ||
        failures_in_a_row(c) < k->spec.extra.unhealthy_restarts || c->is_spent)
        return;
    c->is_spent =
        !k->spec.extra.keep_trying && c->restarts >= proc_policy_of(&k->spec).start_retries;
    if (c->is_spent)
        core_tell_event(k, "process_unhealthy",
                        "%s is still unhealthy after %lld restarts, and is left as it is",
                        k->meta.name, (long long)c->restarts);
    else
        c->restarts += restart_for_health(k);
}

static void note_failure(struct health *c)
{
    struct proc *k = c->proc;

    c->failures++;
    c->has_passed = false;
    if (!k->cause.unhealthy_s) {
        set_unhealthy(c, true);
        core_tell_event(k, "process_unhealthy", "%s is unhealthy: %s", k->meta.name,
                        c->health ? c->health : MSG("its health command failed and said nothing"));
    }
    restart(c);
}

/* It is healthy once nothing fails, and all that is looked at has succeeded. */
static void recover(struct health *c)
{
    struct proc *k = c->proc;

    if (c->failures || (has_health_checks(k) && !c->has_passed) ||
        (has_checks(k) && c->checks && !checks_pass(c->checks)))
        return;
    c->restarts = 0;
    c->is_spent = false;
    if (!k->cause.unhealthy_s)
        return;
    set_unhealthy(c, false);
    core_tell_event(k, "process_healthy", "%s is healthy again", k->meta.name);
}

static void note_success(struct health *c)
{
    c->failures = 0;
    c->has_passed = true;
    recover(c);
}

/* A result does not count if the process has exited meanwhile or is being restarted.  Neither
 * does a command that could not be started: a host without resources for a command has none for
 * a restart. */
static bool counts(const struct health *c, int status)
{
    const struct proc *k = c->proc;

    return status != SIDE_COMMAND_NOT_BEGUN && k->ident.pid && core_is_same(k->ident, c->asked) &&
           core_is_known(k) && !restart_is_in_progress(k);
}

static void on_health(struct proc *k, void *arg, int status, const char *output,
                      const char *failure)
{
    struct health *c = arg;

    (void)k;
    c->asks_health = NULL;
    set_text(&c->health, failure ? failure : output);
    if (counts(c, status) && (failure || status != 0))
        note_failure(c);
    else if (counts(c, status))
        note_success(c);
    tell_done(c);
}

/* If the previous health command still hangs, this is a failure. */
static void ask_health(struct health *c, const struct proc_spec *spec)
{
    if (c->asks_health)
        return;
    c->asked = c->proc->ident;
    c->asks_health = side_command_run(c->proc, spec, "health", spec->control.health_cmd,
                                      health_timeout_ms(spec), on_health, c);
    if (!c->asks_health)
        on_health(c->proc, c,
                  side_command_has_begun(c->proc, "health") ? CORE_STATUS_UNKNOWN
                                                            : SIDE_COMMAND_NOT_BEGUN,
                  "", MSG("the one before it still hangs"));
}

/* ---- checks */

static void note_check(struct health *c, const struct proc_check_view *check,
                       enum proc_check_state was)
{
    struct proc *k = c->proc;
    const struct core_effects *effects = k->core->effects;
    bool has_turned =
        check->state != (int64_t)was && (check->state == CHECK_FAILING || was == CHECK_FAILING);

    core_tell_change(k);
    if (has_turned && effects->check_changed)
        effects->check_changed(k->core->arg, k->meta.space, k->meta.name, check);
    if (check->state != CHECK_FAILING || k->cause.unhealthy_s)
        return;
    set_unhealthy(c, true);
    core_tell_event(k, "process_unhealthy", "%s is unhealthy: check %s: %s", k->meta.name,
                    check->name, check->text);
}

static void on_check(void *health, const struct proc_check_view *check, enum proc_check_state was)
{
    struct health *c = health;

    note_check(c, check, was);
    if (check->state == CHECK_FAILING)
        restart(c);
    else
        recover(c);
}

static void look_at_checks(struct health *c)
{
    struct proc *k = c->proc;
    bool is_wanted = has_checks(k);

    if (c->checks && (!is_wanted || !checks_are_of(c->checks, &k->spec))) {
        checks_free(c->checks);
        c->checks = NULL;
        core_tell_change(k);
    }
    if (is_wanted && !c->checks)
        c->checks = checks_new(k, &k->spec, on_check, c);
    if (c->checks)
        checks_watch(c->checks, k->ident.pid != 0);
}

static void health_on_time(void *health)
{
    struct health *c = health;
    struct proc *k = c->proc;

    timers_set(&k->core->timers, &c->timer,
               k->core->now_ms + k->spec.extra.health_interval_s * 1000);
    if (!restart_is_in_progress(k))
        ask_health(c, &k->spec);
}

/* ---- life cycle */

static struct health *health_of(struct proc *k)
{
    struct health *c = k->health;

    if (c)
        return c;
    c = k->health = xalloc(sizeof(*c));
    c->proc = k;
    timer_init(&c->timer, health_on_time, c);
    return c;
}

static void look_at_health(struct health *c)
{
    struct proc *k = c->proc;
    struct timers *timers = &k->core->timers;
    int64_t due_ms = k->core->now_ms + k->spec.extra.health_interval_s * 1000;

    if (!k->ident.pid) {
        set_text(&c->health, "");
        c->failures = 0;
        c->has_passed = false;
    }
    if (!k->ident.pid || !has_health_checks(k))
        timers_stop(timers, &c->timer);
    else if (!c->timer.place || c->timer.due_ms > due_ms)
        timers_set(timers, &c->timer, due_ms);
}

/* One list for both: the effect has one for a process. */
static void set_files(const struct proc *k, bool has_drift, bool has_filewatch)
{
    const struct list *configured = &k->spec.config_files, *watch = &k->spec.extra.watch;
    const struct core *c = k->core;
    struct arena a = { 0 };
    struct proc_config_file *files =
        arena_alloc(&a, (configured->n + watch->n + 1) * sizeof(*files));
    const struct proc_watch *w = watch->items;
    size_t n = 0;

    for (size_t i = 0; has_drift && i < configured->n; i++)
        files[n++] = ((const struct proc_config_file *)configured->items)[i];
    for (size_t i = 0; has_filewatch && i < watch->n; i++)
        files[n++] = (struct proc_config_file){ w[i].path, "" };
    c->effects->files(c->arg, k->meta.space, k->meta.name, k->spec.identity.user,
                      &(struct list){ files, n });
    arena_free(&a);
}

static void look_at_files(struct health *c)
{
    bool is_drift_new = drift_look(c->proc, &c->drift);
    bool is_filewatch_new = filewatch_look(c->proc, &c->filewatch);

    if (is_drift_new || is_filewatch_new)
        set_files(c->proc, c->drift != NULL, c->filewatch != NULL);
}

void health_look(struct proc *k)
{
    bool has_version = k->has_spec && *k->spec.control.version_cmd && core_is_known(k);
    struct health *c;

    if (!k->ident.pid)
        k->cause.unhealthy_s = 0; /* that was another process */
    if (!k->core->is_started || (!k->health && !has_version && !has_health_checks(k) &&
                                 !has_checks(k) && !drift_is_wanted(k) && !filewatch_is_wanted(k)))
        return;
    c = health_of(k);
    look_at_files(c);
    look_at_health(c);
    look_at_checks(c);
    if (has_version && !c->has_version && k->ident.pid && !restart_is_in_progress(k))
        ask_version(c, &k->spec);
}

void health_on_start(struct proc *k)
{
    struct health *c = k->health;

    k->cause.unhealthy_s = 0;
    if (!c)
        return;
    c->has_version = c->is_spent = c->has_passed = false;
    checks_reset(c->checks);
    c->failures = 0; /* `restarts` counts over several starts */
    set_text(&c->health, "");
}

void health_on_done(struct proc *k, int code, const char *text)
{
    struct health *c = k->health;

    k->run = (struct core_ident){ 0 };
    if (c) {
        c->failures = 0;
        checks_reset(c->checks);
    }
    if (c && code == CODE_DENIED && c->restarts > 0)
        c->restarts--; /* nothing was done */
    if (code == CODE_OK) {
        core_tell_event(k, "process_restart_success", "check %s unhealthy, and restart it success",
                        k->meta.name);
        restart_count(k);
    } else {
        core_tell_event(k, "process_restart_failed",
                        "check %s unhealthy, and restart it failed: %s", k->meta.name, text);
    }
    if (code != CODE_OK && code != CODE_DENIED && !k->ident.pid)
        restart_on_failure(k);
    journal_note_process(k);
    core_tell_process(k);
    op_begin_next(k);
}

void health_on_file(struct proc *k, const char *path, const char *md5, const char *why)
{
    if (k->health && k->health->drift)
        drift_on_file(k, k->health->drift, path, md5, why);
    if (k->health && k->health->filewatch)
        filewatch_on_file(k->health->filewatch, path, md5, why);
}

void health_free(struct proc *k)
{
    struct health *c = k->health;

    if (!c)
        return;
    filewatch_free(c->filewatch);
    drift_free(c->drift); /* a known process is freed only when the core ends */
    side_command_drop(c->asks_version);
    side_command_drop(c->asks_health);
    checks_free(c->checks);
    timers_stop(&k->core->timers, &c->timer);
    free(c->version);
    free(c->health);
    free(c);
    k->health = NULL;
}

/* ---- interface */

bool health_ask(struct proc *k, const struct proc_spec *spec, void (*done)(void *arg), void *arg)
{
    const struct proc_control *control = &spec->control;
    struct health *c;

    if (!*control->version_cmd && !*control->health_cmd)
        return false;
    c = health_of(k);
    if (*control->version_cmd)
        ask_version(c, spec);
    if (*control->health_cmd)
        ask_health(c, spec);
    if (!c->asks_version && !c->asks_health)
        return false;
    c->done = done;
    c->arg = arg;
    return true;
}

void health_forget(struct proc *k, void *arg)
{
    if (k->health && k->health->arg == arg)
        k->health->done = NULL;
}

void health_fill_view(const struct proc *k, struct proc_view *v)
{
    const struct health *c = k->health;

    v->version = c && c->version ? c->version : "";
    v->health = c && c->health ? c->health : "";
    v->checks = checks_views(c ? c->checks : NULL);
}
