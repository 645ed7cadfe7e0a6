/* SPDX-License-Identifier: MIT */
/* fleet_crowd.c - see fleet_crowd.h. */
#include "fleetsim/fleet_crowd.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/mem/mem.h"

/* An identity is read from the disk and checked, so only a few agents start per turn. */
enum { BEGIN_MS = 5, BEGIN_TURN = 10, CHANGE_MS = 10, KILL_TRIES = 8, SECOND_MS = 1000 };
enum { MILLION = 1000 * 1000 };

struct fleet_crowd {
    struct fleet_world world;
    struct fleet_agent *agents;
    int64_t n, begun, first, step; /* agent i has the number first + i * step */
    struct timer begin, change;
    uint64_t random;
    int64_t rate_milli;         /* thousandths of a change per second */
    int64_t due_ms, owed_micro; /* time of the last update; millionths of a change still to do */
};

#define ANSWER_AT(member) .offset = offsetof(struct fleet_answer, member)

/* clang-format off */
static const struct field answer_fields[] = {
    { "done", .type = FIELD_INT, ANSWER_AT(done), .doc = "to so many" },
    { "at_ns", .type = FIELD_INT, ANSWER_AT(at_ns), .doc = "when, CLOCK_MONOTONIC" },
    { "error", .type = FIELD_STR, ANSWER_AT(error), .max = sizeof(((struct err *)NULL)->text), .flags = FIELD_OMIT_EMPTY, .doc = "why not" },
    { 0 },
};
const struct shape fleet_answer_shape = { "fleet_answer", sizeof(struct fleet_answer), answer_fields };
/* clang-format on */

/* ---- start */

static void begin_next(struct fleet_crowd *c)
{
    struct fleet_agent *a = &c->agents[c->begun++];

    if (fleet_agent_begin(a, &c->world.last_error))
        c->world.counts.refused++;
}

static void on_begin(void *arg)
{
    struct fleet_crowd *c = arg;
    int n = 0;

    while (c->begun < c->n && c->world.counts.joining < c->world.s->at_once && n++ < BEGIN_TURN)
        begin_next(c);
    if (c->begun < c->n)
        timer_set(c->world.loop, &c->begin, n > 0 ? 0 : BEGIN_MS);
}

/* ---- changes */

static bool kill_some(struct fleet_crowd *c)
{
    struct fleet_agent *a = &c->agents[fleet_random(&c->random) % (uint64_t)c->n];

    return a->is_up && a->procs.n &&
           fleet_agent_die(a, fleet_random(&a->random) % a->procs.n, c->world.s->back_ms);
}

/* A process killed here comes back, which is a change too, so half as many are killed.  Some are
 * dead or offline already; if most are, the rate is not reached. */
static void kill_one(struct fleet_crowd *c)
{
    for (int tries = 0; tries < KILL_TRIES && !kill_some(c); tries++)
        ;
}

static void on_change(void *arg)
{
    struct fleet_crowd *c = arg;
    int64_t now_ms = loop_now_ms(c->world.loop);

    c->owed_micro += (now_ms - c->due_ms) * c->rate_milli;
    c->due_ms = now_ms;
    for (; c->owed_micro >= 2 * MILLION; c->owed_micro -= 2 * MILLION)
        kill_one(c);
    if (c->rate_milli)
        timer_set(c->world.loop, &c->change, CHANGE_MS);
}

/* Sets this process's share of the rate. */
static void set_rate(struct fleet_crowd *c, int64_t rate)
{
    c->rate_milli = rate * SECOND_MS * c->n / c->world.s->agents;
    c->due_ms = loop_now_ms(c->world.loop);
    c->owed_micro = 0;
    timer_stop(c->world.loop, &c->change);
    if (c->rate_milli)
        timer_set(c->world.loop, &c->change, CHANGE_MS);
}

/* ---- commands */

static struct fleet_agent *find_agent(struct fleet_crowd *c, int64_t number)
{
    int64_t at = number - c->first;

    return at >= 0 && at % c->step == 0 && at / c->step < c->n ? &c->agents[at / c->step] : NULL;
}

/* Reads a number after blanks; *ret_rest is the text after it. */
static bool fleet_crowd_read_number(const char *text, int64_t *ret, const char **ret_rest)
{
    char *end;

    *ret = strtoll(text, &end, 10);
    *ret_rest = end;
    return end != text && (*end == '\0' || *end == ' ');
}

static void do_die(struct fleet_crowd *c, const char *rest, struct fleet_answer *ret)
{
    int64_t number, proc, back_ms = c->world.s->back_ms;
    struct fleet_agent *a;

    if (!fleet_crowd_read_number(rest, &number, &rest) ||
        !fleet_crowd_read_number(rest, &proc, &rest) || proc < 0 ||
        (*rest && !fleet_crowd_read_number(rest, &back_ms, &rest)) || *rest) {
        ret->error = "die AGENT PROC [BACK_MS]: numbers, counted from 0";
        return;
    }
    a = find_agent(c, number);
    if (a && fleet_agent_die(a, (size_t)proc, back_ms))
        ret->done = 1;
}

static void do_drop(struct fleet_crowd *c, const char *rest, struct fleet_answer *ret)
{
    struct fleet_agent *one;
    int64_t number;

    if (!strcmp(rest, "all")) {
        for (int64_t i = 0; i < c->n; i++)
            ret->done += fleet_agent_drop(&c->agents[i]);
        return;
    }
    if (!fleet_crowd_read_number(rest, &number, &rest) || *rest) {
        ret->error = "drop AGENT or drop all: a number, counted from 0";
        return;
    }
    one = find_agent(c, number);
    ret->done = one && fleet_agent_drop(one);
}

static void do_rate(struct fleet_crowd *c, const char *rest, struct fleet_answer *ret)
{
    int64_t rate;

    if (!fleet_crowd_read_number(rest, &rate, &rest) || *rest || rate < 0 || rate > 1000 * 1000) {
        ret->error = "rate N: changes a second, 0 to 1000000";
        return;
    }
    set_rate(c, rate);
    ret->done = c->n;
}

static const struct {
    const char *word;
    void (*fn)(struct fleet_crowd *c, const char *rest, struct fleet_answer *ret);
} commands[] = {
    { "die", do_die },
    { "drop", do_drop },
    { "rate", do_rate },
};

void fleet_crowd_do(struct fleet_crowd *c, const char *line, struct fleet_answer *ret)
{
    size_t n = strcspn(line, " ");
    const char *rest = line + n + (line[n] == ' ');

    *ret = (struct fleet_answer){ .error = "" };
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (strlen(commands[i].word) != n || strncmp(commands[i].word, line, n) != 0)
            continue;
        commands[i].fn(c, rest, ret);
        ret->at_ns = fleet_now_ns();
        return;
    }
    ret->error = "no such command: there are die, drop, rate, report, plan and stop";
}

/* ---- counts */

static void count_procs(struct fleet_crowd *c, struct fleet_counts *ret)
{
    ret->procs = ret->running = 0;
    for (int64_t i = 0; i < c->n; i++) {
        const struct fleet_procs *p = &c->agents[i].procs;

        ret->procs += (int64_t)p->n;
        ret->running += (int64_t)p->running;
    }
}

void fleet_crowd_counts(struct fleet_crowd *c, struct fleet_counts *ret)
{
    struct rusage usage;

    *ret = c->world.counts;
    count_procs(c, ret);
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        ret->rss_kb = usage.ru_maxrss;
}

const struct err *fleet_crowd_error(const struct fleet_crowd *c)
{
    return &c->world.last_error;
}

/* ---- life cycle */

struct fleet_crowd *fleet_crowd_new(struct loop *loop, const struct fleet_settings *s,
                                    const struct fleet_plan *plan, const char *token,
                                    int64_t worker)
{
    struct fleet_crowd *c = xalloc(sizeof(*c));
    struct fleet_world *w = &c->world;

    c->first = worker;
    c->step = s->processes;
    c->n = (s->agents - worker + s->processes - 1) / s->processes;
    c->random = fleet_seed(s->seed, -2 - worker);
    *w = (struct fleet_world){ .loop = loop, .s = s, .plan = plan, .token = token };
    w->started_s = clock_wall_ms(loop_clock(loop)) / 1000;
    w->counts.begun_ns = fleet_now_ns();
    fleet_names_init(&w->names, s->name, (size_t)s->procs);
    c->agents = xalloc((size_t)c->n * sizeof(*c->agents));
    for (int64_t i = 0; i < c->n; i++) {
        fleet_agent_init(&c->agents[i], w, c->first + i * c->step);
        w->counts.expected += c->agents[i].kind != FLEET_OFFLINE;
    }
    w->counts.agents = c->n;
    timer_init(&c->begin, on_begin, c);
    timer_init(&c->change, on_change, c);
    timer_set(loop, &c->begin, 0);
    set_rate(c, s->rate);
    return c;
}

void fleet_crowd_free(struct fleet_crowd *c)
{
    if (!c)
        return;
    timer_stop(c->world.loop, &c->begin);
    timer_stop(c->world.loop, &c->change);
    for (int64_t i = 0; i < c->n; i++)
        fleet_agent_done(&c->agents[i]);
    fleet_names_done(&c->world.names);
    free(c->agents);
    free(c);
}
