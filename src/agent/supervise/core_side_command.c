/* SPDX-License-Identifier: MIT */
/* core_side_command.c - see core_side_command.h. */
#include "agent/supervise/core_side_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"

/* The time a command gets to die of SIGKILL before its place is given to another. */
enum { KILL_MS = 5000 };

struct side_command {
    struct core *core;
    struct proc *proc; /* NULL: the process is no longer known */
    char *key;         /* of its process, known or not */
    uint64_t id;       /* 0: it waits for its turn */
    TAILQ_ENTRY(side_command) waiting;
    struct arena arena; /* has copies of its arguments */
    struct proc_spec spec;
    const char *what, *line;
    side_command_fn *fn; /* NULL: no callback */
    void *arg;
    int64_t timeout_ms;
    struct timer timer;
    bool has_place, has_begun;
};

struct side_commands {
    struct map by_id; /* running commands */
    TAILQ_HEAD(, side_command) waiting;
    size_t places; /* places in use */
    bool is_closing;
};

static void side_command_begin(struct side_command *e, const struct proc_spec *spec,
                               const char *line)
{
    struct core *c = e->core;
    const struct core_run run = { .id = e->id = ++c->next_id,
                                  .task = "",
                                  .space = e->proc->meta.space,
                                  .name = e->proc->meta.name,
                                  .what = e->what,
                                  .line = line,
                                  .spec = spec,
                                  .wants_output = true };

    e->has_place = true;
    c->side_commands->places++;
    map_put(&c->side_commands->by_id, (const char *)&e->id, sizeof(e->id), e);
    timers_set(&c->timers, &e->timer, c->now_ms + e->timeout_ms);
    c->effects->run(c->arg, &run);
}

static void begin_next(struct core *c)
{
    struct side_commands *all = c->side_commands;
    struct side_command *e;

    while (!all->is_closing && all->places < SIDE_COMMANDS_AT_ONCE &&
           (e = TAILQ_FIRST(&all->waiting))) {
        TAILQ_REMOVE(&all->waiting, e, waiting);
        side_command_begin(e, &e->spec, e->line);
        arena_free(&e->arena);
    }
}

static void leave_place(struct side_command *e)
{
    if (!e->has_place)
        return;
    e->has_place = false;
    e->core->side_commands->places--;
    begin_next(e->core);
}

static void free_side_command(struct side_command *e)
{
    struct side_commands *all = e->core->side_commands;

    if (e->id)
        map_del(&all->by_id, (const char *)&e->id, sizeof(e->id));
    else
        TAILQ_REMOVE(&all->waiting, e, waiting);
    timers_stop(&e->core->timers, &e->timer);
    arena_free(&e->arena);
    leave_place(e);
    free(e->key);
    free(e);
}

/* The command is being killed: the callback is called without waiting for its exit. */
static void side_command_on_late(void *side_command)
{
    struct side_command *e = side_command;
    struct core *c = e->core;
    side_command_fn *fn = e->fn;
    char failure[120];

    if (!fn) {
        leave_place(e); /* SIGKILL had no effect: others must not wait for it */
        return;
    }
    e->fn = NULL;
    timers_set(&c->timers, &e->timer, c->now_ms + KILL_MS);
    c->effects->end_run(c->arg, e->id);
    msg_printf(failure, sizeof(failure),
               e->has_begun ? "took longer than %lld s and was ended"
                            : "could not be begun within %lld s",
               (long long)e->timeout_ms / 1000);
    fn(e->proc, e->arg, e->has_begun ? CORE_STATUS_UNKNOWN : SIDE_COMMAND_NOT_BEGUN, "", failure);
}

/* A thousand may wait if all processes are queried at once, so texts are compared only if the
 * process is no longer known. */
static bool is_kind(const struct side_command *e, const struct proc *k, const char *what)
{
    return (e->proc ? e->proc == k : !strcmp(e->key, k->key)) && !strcmp(e->what, what);
}

/* NULL: there is no command of this kind. */
static const struct side_command *find_kind(const struct proc *k, const char *what)
{
    const struct side_commands *all = k->core->side_commands;
    const struct side_command *e;
    struct map_entry *entry;

    for (size_t at = 0; (entry = map_next(&all->by_id, &at));) {
        e = entry->value;
        if (is_kind(e, k, what))
            return e;
    }
    TAILQ_FOREACH(e, &all->waiting, waiting) {
        if (is_kind(e, k, what))
            return e;
    }
    return NULL;
}

bool side_command_has_begun(const struct proc *k, const char *what)
{
    const struct side_command *e = find_kind(k, what);

    return e && e->has_begun;
}

struct side_command *side_command_run(struct proc *k, const struct proc_spec *spec,
                                      const char *what, const char *line, int64_t timeout_ms,
                                      side_command_fn *fn, void *arg)
{
    struct core *c = k->core;
    struct side_command *e;

    if (find_kind(k, what))
        return NULL;
    e = xalloc(sizeof(*e));
    e->core = c;
    e->proc = k;
    e->key = xstrdup(k->key);
    e->what = what;
    e->fn = fn;
    e->arg = arg;
    e->timeout_ms = timeout_ms;
    timer_init(&e->timer, side_command_on_late, e);
    if (c->side_commands->places < SIDE_COMMANDS_AT_ONCE) {
        side_command_begin(e, spec, line);
        return e;
    }
    proc_spec_copy(spec, &e->arena, &e->spec);
    e->line = arena_strdup(&e->arena, line);
    TAILQ_INSERT_TAIL(&c->side_commands->waiting, e, waiting);
    return e;
}

void side_command_drop(struct side_command *e)
{
    struct core *c;

    if (!e)
        return;
    c = e->core;
    e->fn = NULL;
    if (!e->id) {
        free_side_command(e);
        return;
    }
    timers_set(&c->timers, &e->timer, c->now_ms + KILL_MS);
    if (!c->side_commands->is_closing)
        c->effects->end_run(c->arg, e->id);
}

/* ---- results */

static struct side_command *side_command_find(const struct core *c, uint64_t id)
{
    return map_find(&c->side_commands->by_id, (const char *)&id, sizeof(id));
}

static void end(struct side_command *e, int status, const char *output, const char *failure)
{
    side_command_fn *fn = e->fn;
    struct proc *k = e->proc;
    void *arg = e->arg;

    free_side_command(e);
    if (fn)
        fn(k, arg, status, output, failure);
}

bool side_command_on_run(struct core *c, uint64_t id, const struct err *failure)
{
    struct side_command *e = side_command_find(c, id);

    if (e)
        e->has_begun = !failure;
    if (e && failure)
        end(e, SIDE_COMMAND_NOT_BEGUN, "", err_msg(failure));
    return e != NULL;
}

bool side_command_on_run_end(struct core *c, uint64_t id, int status, const char *output)
{
    struct side_command *e = side_command_find(c, id);

    if (e)
        end(e, status, output, NULL);
    return e != NULL;
}

bool side_command_has(const struct core *c, uint64_t id)
{
    const struct side_command *e = side_command_find(c, id);

    return e && e->fn;
}

/* ---- life cycle of the core */

void side_commands_begin(struct core *c)
{
    c->side_commands = xalloc(sizeof(*c->side_commands));
    TAILQ_INIT(&c->side_commands->waiting);
}

void side_commands_close(struct core *c)
{
    c->side_commands->is_closing = true;
}

void side_commands_forget(struct proc *k)
{
    struct side_commands *all = k->core->side_commands;
    struct side_command *e, *next;
    struct map_entry *entry;

    for (size_t at = 0; (entry = map_next(&all->by_id, &at));) {
        e = entry->value;
        if (e->proc != k)
            continue;
        if (e->fn)
            side_command_drop(e);
        e->proc = NULL;
    }
    for (e = TAILQ_FIRST(&all->waiting); e; e = next) {
        next = TAILQ_NEXT(e, waiting);
        if (e->proc == k)
            free_side_command(e);
    }
}

void side_commands_end(struct core *c)
{
    struct map_entry *entry;

    while (!TAILQ_EMPTY(&c->side_commands->waiting))
        free_side_command(TAILQ_FIRST(&c->side_commands->waiting));
    for (size_t at = 0; (entry = map_next(&c->side_commands->by_id, &at)); at = 0)
        free_side_command(entry->value);
    map_free(&c->side_commands->by_id);
    free(c->side_commands);
}
