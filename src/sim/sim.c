/* SPDX-License-Identifier: MIT */
/* sim.c - time, chance, faults, the client, the verdict. */
#include "sim/sim.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "sim/sim_in.h"

/* xorshift64*: small, and the same everywhere. */
static uint64_t next_random(struct sim *s)
{
    s->rng ^= s->rng >> 12;
    s->rng ^= s->rng << 25;
    s->rng ^= s->rng >> 27;
    return s->rng * 0x2545F4914F6CDD1Du;
}

uint64_t sim_below(struct sim *s, uint64_t n)
{
    return (next_random(s) >> 11) % n;
}

bool sim_chance(struct sim *s, unsigned percent)
{
    bool yes = sim_below(s, 100) < percent;

    return yes && !s->is_calm;
}

void sim_trace(struct sim *s, const char *fmt, ...)
{
    char line[512];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    for (int i = 0; i < n && i < (int)sizeof(line) - 1; i++)
        s->report.digest = (s->report.digest ^ (unsigned char)line[i]) * 0x100000001B3u;
    s->report.digest ^= (uint64_t)s->now_ms;
    if (s->o->trace)
        fprintf(s->o->trace, "%9lld %s\n", (long long)s->now_ms, line);
}

void sim_fail(struct sim *s, const char *fmt, ...)
{
    char why[256];
    va_list ap;

    if (s->has_failed)
        return;
    va_start(ap, fmt);
    vsnprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    s->has_failed = true;
    err_set(s->err, ERR_CONFLICT, "seed %llu, at %lld ms: %s", (unsigned long long)s->o->seed,
            (long long)s->now_ms, why);
    sim_trace(s, "FAILED: %s", why);
}

static void on_event(void *arg)
{
    struct event *e = arg;
    struct sim *s = e->sim;
    uint64_t life = e->host < 0 ? s->server_life : s->hosts[e->host].life;

    if (!e->life || e->life == life)
        e->fn(e);
    free(e->json);
    free(e);
}

struct event *sim_later(struct sim *s, int64_t in_ms, int host, uint64_t life,
                        void (*fn)(struct event *e))
{
    struct event *e = xalloc(sizeof(*e));

    e->sim = s;
    e->host = host;
    e->life = life;
    e->fn = fn;
    timer_init(&e->timer, on_event, e);
    timers_set(&s->timers, &e->timer, s->now_ms + in_ms);
    return e;
}

char *sim_json(const struct shape *shape, const void *value)
{
    struct buf b = { 0 };
    char *copy;

    shape_write(shape, value, &b);
    copy = xmemdup(buf_data(&b), b.len);
    buf_free(&b);
    return copy;
}

/* On some hosts they come up one after the other, by priority or by name. */
static void order_spec(int host, int key, struct proc_extra *extra)
{
    static struct proc_word first[] = { { "p0" }, { "p1" }, { "nobody" } };

    if (host % 2)
        extra->priority = -key;
    if (key == 2 && host % 3)
        extra->after = (struct list){ first, ARRAY_LEN(first) };
}

/* Some stop by a command and some by a signal; some restart in two halves. */
void sim_spec(int host, int key, struct proc_spec *ret)
{
    shape_defaults(&proc_spec_shape, ret);
    ret->identity = (struct proc_identity){ "", "daemon", "/srv", "/srv/pid", "", "", "root" };
    ret->control.start_cmd = "start";
    ret->control.stop_cmd = key == 1 ? "" : "stop";
    ret->control.restart_cmd = (host + key) % 2 ? "restart" : "";
    ret->control.reload_cmd = "reload";
    ret->has_identity = ret->has_control = ret->has_policy = PRESENCE_GIVEN;
    ret->policy.start_check_s = 1 + key;
    ret->policy.stop_check_s = 2;
    ret->policy.op_timeout_s = 8;
    ret->policy.start_interval_s = 3;
    ret->policy.has_start_check = ret->policy.has_stop_check = PRESENCE_GIVEN;
    ret->policy.has_timeout = ret->policy.has_interval = PRESENCE_GIVEN;
    order_spec(host, key, &ret->extra);
}

/* A part of a command, its stop half or its start half, is run once in all
 * eternity. */
void sim_note_run(struct sim *s, int host, const struct core_run *run)
{
    char *key = xprintf("%d %s#%lld %s", host, run->task, (long long)run->item, run->line);

    s->report.runs++;
    if (!*run->task) {
        free(key);
        return;
    }
    if (!map_find_str(s->ran, key)) {
        map_put_str(s->ran, key, key);
        server_note_run(s, run);
        return;
    }
    sim_fail(s, "command run twice: %s", key);
    free(key);
}

/* ---- faults and requests, as long as it is not calm */

static void on_server_up(struct event *e)
{
    if (!e->sim->hub)
        server_start(e->sim);
}

static void on_host_up(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];

    if (!h->core)
        host_start(h);
}

/* Mostly back before anybody takes it for offline; some only after every deadline. */
static int64_t away_ms(struct sim *s)
{
    return 50 + (int64_t)sim_below(s, sim_below(s, 6) ? 8000 : 60000);
}

void sim_kill_agent(struct host *h, bool power_loss)
{
    host_kill(h, power_loss);
    sim_later(h->sim, away_ms(h->sim), h->n, 0, on_host_up);
}

static void hurt(struct sim *s)
{
    struct host *h = &s->hosts[sim_below(s, (uint64_t)s->o->agents)];
    uint64_t what = sim_below(s, 100);

    if (what < 20 && h->core) {
        sim_kill_agent(h, sim_below(s, 4) == 0);
    } else if (what < 26 && h->core) {
        host_upgrade(h);
        sim_later(s, 1 + (int64_t)sim_below(s, 50), h->n, 0, on_host_up);
    } else if (what < 36 && s->hub) {
        server_kill(s);
        sim_later(s, 50 + (int64_t)sim_below(s, 8000), -1, 0, on_server_up);
    } else if (what < 58 && h->link) {
        host_disconnect(h);
    } else if (what < 90) {
        host_kill_process(h);
    } else {
        h->wall_jump_ms += (int64_t)sim_below(s, 7200000) - 3600000;
    }
}

static void on_fault(struct event *e)
{
    struct sim *s = e->sim;

    if (s->is_calm)
        return;
    hurt(s);
    sim_later(s, (int64_t)sim_below(s, 6000), -1, 0, on_fault);
}

static void on_request(struct event *e)
{
    struct sim *s = e->sim;

    if (s->is_calm)
        return;
    if (s->hub && s->n_tasks < TASKS_MAX)
        server_operate(s);
    if (s->hub && sim_chance(s, 15))
        server_cancel(s);
    sim_later(s, (int64_t)sim_below(s, 4000), -1, 0, on_request);
}

/* ---- the run */

static void run_until(struct sim *s, int64_t end_ms)
{
    while (!s->has_failed) {
        int64_t next = timers_next_ms(&s->timers);
        struct timer *t;

        if (next > end_ms)
            break;
        if (next > s->now_ms)
            s->now_ms = next;
        t = timers_take(&s->timers, s->now_ms, UINT64_MAX);
        s->report.steps++;
        t->fn(t->arg);
    }
    s->now_ms = end_ms;
}

static void check_end(struct sim *s)
{
    for (int i = 0; i < s->o->agents; i++) {
        sim_events_check(s, i);
        sim_wanted_check(&s->hosts[i]);
    }
    for (int i = 0; i < s->n_tasks && !s->has_failed; i++) {
        const struct sim_task *t = &s->tasks[i];

        if (t->is_accepted && !t->is_stored)
            sim_fail(s, "task %s was accepted and is lost", t->id);
        for (int n = 0; t->is_stored && n < t->n; n++) {
            if (t->items[n].code == CODE_WAITING)
                sim_fail(s, "task %s item %d has not ended", t->id, n);
        }
    }
}

static void calm(struct sim *s)
{
    s->is_calm = true;
    sim_trace(s, "calm");
    if (!s->hub)
        server_start(s);
    for (int i = 0; i < s->o->agents; i++) {
        if (!s->hosts[i].core)
            host_start(&s->hosts[i]);
    }
}

static void drop_events(struct sim *s)
{
    struct timer *t;

    for (int i = 0; i < s->o->agents; i++)
        timers_stop(&s->timers, &s->hosts[i].wake);
    timers_stop(&s->timers, &s->server_wake);
    while ((t = timers_take(&s->timers, INT64_MAX, UINT64_MAX))) {
        struct event *e = t->arg;

        free(e->json);
        free(e);
    }
    timers_free(&s->timers);
}

static void sim_free(struct sim *s)
{
    struct map_entry *e;

    drop_events(s);
    for (int i = 0; i < s->o->agents; i++) {
        host_free(&s->hosts[i]);
        free(s->events[i].told);
    }
    hub_free(s->hub);
    for (size_t at = 0; (e = map_next(s->ran, &at));)
        free(e->value);
    map_free(s->ran);
    free(s->ran);
    free(s);
}

int sim_run(const struct sim_options *o, struct sim_report *ret, struct err *err)
{
    struct sim *s = xalloc(sizeof(*s));
    bool failed;

    s->o = o;
    s->err = err;
    s->rng = o->seed * 0x9E3779B97F4A7C15u + 1;
    s->now_ms = 1000;
    s->ran = xalloc(sizeof(*s->ran));
    server_start(s);
    for (int i = 0; i < o->agents; i++) {
        s->hosts[i].sim = s;
        s->hosts[i].n = i;
        snprintf(s->hosts[i].id, sizeof(s->hosts[i].id), "agent-%d", i);
        host_start(&s->hosts[i]);
    }
    sim_later(s, 500, -1, 0, on_fault);
    sim_later(s, 100, -1, 0, on_request);
    run_until(s, s->now_ms + o->minutes * 60000);
    calm(s);
    run_until(s, s->now_ms + 5 * 60000);
    check_end(s);
    failed = s->has_failed;
    *ret = s->report;
    sim_free(s);
    return failed ? -1 : 0;
}
