/* SPDX-License-Identifier: MIT */
/* core_care.c - see core_care.h. */
#include "agent/core_care.h"

#include <stdlib.h>
#include <string.h>

#include "agent/core_drift.h"
#include "agent/core_errand.h"
#include "agent/core_op.h"
#include "base/mem.h"
#include "base/utf8.h"

struct care {
    struct kept *kept;
    char *version, *health; /* NULL: not known, or nothing was said */
    struct errand *asks_version, *asks_health;
    struct core_ident asked; /* whose health that is */
    bool has_version;        /* it was asked since the last start */
    bool is_spent;           /* there are no tries left to restart it with, and that was told */
    int64_t failures;        /* in a row */
    struct timer timer;      /* the next look at its health */
    void (*done)(void *arg); /* of a query; NULL: nobody waits */
    void *arg;
    struct drift *drift;
};

static bool has_health_checks(const struct kept *k)
{
    return k->hosted && k->has_spec && k->spec.extra.health_interval_s > 0 &&
           *k->spec.control.health_cmd && proc_policy_of(&k->spec).kind == PROC_RESIDENT;
}

int64_t care_timeout_ms(const struct proc_spec *spec)
{
    int64_t timeout_ms = proc_policy_of(spec).op_timeout_s * 1000;

    return timeout_ms < CARE_MS ? timeout_ms : CARE_MS;
}

/* The first bytes of it, without what is blank at its ends. */
static void set_text(char **slot, const char *text)
{
    size_t n;

    text += strspn(text, " \t\r\n");
    n = strlen(text);
    n = n > CARE_TEXT_BYTES ? utf8_whole(text, CARE_TEXT_BYTES) : n;
    while (n > 0 && strchr(" \t\r\n", text[n - 1]))
        n--;
    free(*slot);
    *slot = n ? xmemdup(text, n) : NULL;
}

static void tell_done(struct care *c)
{
    void (*done)(void *arg) = c->done;

    if (!done || c->asks_version || c->asks_health)
        return;
    c->done = NULL;
    done(c->arg);
}

/* ---- its version */

static void on_version(struct kept *k, void *arg, int status, const char *output,
                       const char *failure)
{
    struct care *c = arg;

    c->asks_version = NULL;
    set_text(&c->version, failure || status != 0 ? "" : output); /* its own file says why */
    core_tell_change(k);
    tell_done(c);
}

static void ask_version(struct care *c, const struct proc_spec *spec)
{
    c->has_version = true;
    if (!c->asks_version)
        c->asks_version = errand_run(c->kept, spec, "version", spec->control.version_cmd,
                                     care_timeout_ms(spec), on_version, c);
}

/* ---- its health */

static void set_unhealthy(struct care *c, bool is_unhealthy)
{
    struct kept *k = c->kept;

    k->cause.unhealthy_s = is_unhealthy ? k->core->wall_ms / 1000 : 0;
    if (core_is_known(k))
        book_process(k);
    core_tell_process(k);
}

static void restart(struct care *c)
{
    struct kept *k = c->kept;

    if (!k->hosted || !k->spec.extra.unhealthy_restarts ||
        c->failures < k->spec.extra.unhealthy_restarts || c->is_spent)
        return;
    c->is_spent = !keep_restart(k);
    if (c->is_spent)
        core_tell_event(k, "process_unhealthy",
                        "%s is still unhealthy after %lld restarts, and is left as it is",
                        k->meta.name, (long long)k->tries);
}

static void has_failed(struct care *c)
{
    struct kept *k = c->kept;

    c->failures++;
    if (!k->cause.unhealthy_s) {
        set_unhealthy(c, true);
        core_tell_event(k, "process_unhealthy", "%s is unhealthy: %s", k->meta.name,
                        c->health ? c->health : "its health command failed and said nothing");
    }
    restart(c);
}

static void is_well(struct care *c)
{
    struct kept *k = c->kept;

    c->failures = 0;
    c->is_spent = false;
    keep_forgive(k);
    if (!k->cause.unhealthy_s)
        return;
    set_unhealthy(c, false);
    core_tell_event(k, "process_healthy", "%s is healthy again", k->meta.name);
}

/* What is said of one that has ended meanwhile, or is being restarted, says nothing; nor does
 * that we could not ask: who has no room for a command has none for a restart. */
static bool counts(const struct care *c, int status)
{
    const struct kept *k = c->kept;

    return status != ERRAND_NOT_BEGUN && k->ident.pid && core_is_same(k->ident, c->asked) &&
           core_is_known(k) && !keep_is_in_work(k);
}

static void on_health(struct kept *k, void *arg, int status, const char *output,
                      const char *failure)
{
    struct care *c = arg;

    (void)k;
    c->asks_health = NULL;
    set_text(&c->health, failure ? failure : output);
    if (counts(c, status) && (failure || status != 0))
        has_failed(c);
    else if (counts(c, status))
        is_well(c);
    tell_done(c);
}

/* The one before it may still hang: that is no good sign. */
static void ask_health(struct care *c, const struct proc_spec *spec)
{
    if (c->asks_health)
        return;
    c->asked = c->kept->ident;
    c->asks_health = errand_run(c->kept, spec, "health", spec->control.health_cmd,
                                care_timeout_ms(spec), on_health, c);
    if (!c->asks_health)
        on_health(c->kept, c,
                  errand_has_begun(c->kept, "health") ? CORE_STATUS_UNKNOWN : ERRAND_NOT_BEGUN, "",
                  "the one before it still hangs");
}

static void on_time(void *care)
{
    struct care *c = care;
    struct kept *k = c->kept;

    timers_set(&k->core->timers, &c->timer,
               k->core->now_ms + k->spec.extra.health_interval_s * 1000);
    if (!keep_is_in_work(k))
        ask_health(c, &k->spec);
}

/* ---- its life */

static struct care *care_of(struct kept *k)
{
    struct care *c = k->care;

    if (c)
        return c;
    c = k->care = xalloc(sizeof(*c));
    c->kept = k;
    timer_init(&c->timer, on_time, c);
    return c;
}

static void look_at_health(struct care *c)
{
    struct kept *k = c->kept;
    struct timers *timers = &k->core->timers;
    int64_t due_ms = k->core->now_ms + k->spec.extra.health_interval_s * 1000;

    if (!k->ident.pid) {
        set_text(&c->health, "");
        c->failures = 0;
    }
    if (!k->ident.pid || !has_health_checks(k))
        timers_stop(timers, &c->timer);
    else if (!c->timer.place || c->timer.due_ms > due_ms)
        timers_set(timers, &c->timer, due_ms);
}

void care_look(struct kept *k)
{
    bool has_version = k->has_spec && *k->spec.control.version_cmd && core_is_known(k);
    struct care *c;

    if (!k->ident.pid)
        k->cause.unhealthy_s = 0; /* that was another one */
    if (!k->core->is_started ||
        (!k->care && !has_version && !has_health_checks(k) && !drift_is_wanted(k)))
        return;
    c = care_of(k);
    drift_look(k, &c->drift);
    look_at_health(c);
    if (has_version && !c->has_version && k->ident.pid && !keep_is_in_work(k))
        ask_version(c, &k->spec);
}

void care_on_start(struct kept *k)
{
    struct care *c = k->care;

    k->cause.unhealthy_s = 0;
    if (!c)
        return;
    c->has_version = c->is_spent = false;
    c->failures = 0;
    set_text(&c->health, "");
}

void care_on_done(struct kept *k, int code, const char *text)
{
    k->run = (struct core_ident){ 0 };
    if (k->care)
        k->care->failures = 0;
    if (code == CODE_DENIED && k->tries > 0)
        k->tries--; /* nothing was done */
    if (code == CODE_OK) {
        k->restarts++;
        k->core->restarted++;
        core_tell_event(k, "process_restart_success", "check %s unhealthy, and restart it success",
                        k->meta.name);
    } else {
        core_tell_event(k, "process_restart_failed",
                        "check %s unhealthy, and restart it failed: %s", k->meta.name, text);
    }
    book_process(k);
    core_tell_process(k);
    op_begin_next(k);
}

void care_on_file(struct kept *k, const char *path, const char *md5, const char *why)
{
    if (k->care && k->care->drift)
        drift_on_file(k, k->care->drift, path, md5, why);
}

void care_free(struct kept *k)
{
    struct care *c = k->care;

    if (!c)
        return;
    drift_free(c->drift); /* nobody forgets one that is known, but for the core's end */
    errand_drop(c->asks_version);
    errand_drop(c->asks_health);
    timers_stop(&k->core->timers, &c->timer);
    free(c->version);
    free(c->health);
    free(c);
    k->care = NULL;
}

/* ---- for others */

bool care_ask(struct kept *k, const struct proc_spec *spec, void (*done)(void *arg), void *arg)
{
    const struct proc_control *control = &spec->control;
    struct care *c;

    if (!*control->version_cmd && !*control->health_cmd)
        return false;
    c = care_of(k);
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

void care_forget(struct kept *k, void *arg)
{
    if (k->care && k->care->arg == arg)
        k->care->done = NULL;
}

void care_fill_view(const struct kept *k, struct proc_view *v)
{
    const struct care *c = k->care;

    v->version = c && c->version ? c->version : "";
    v->health = c && c->health ? c->health : "";
}
