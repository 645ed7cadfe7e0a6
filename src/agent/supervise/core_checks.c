/* SPDX-License-Identifier: MIT */
/* core_checks.c - see core_checks.h. */
#include "agent/supervise/core_checks.h"

#include <stdlib.h>
#include <string.h>

#include "agent/supervise/core_side_command.h"
#include "base/mem/mem.h"

enum { FIRST_MS = 1000, APART_MS = 250, TEXT_BYTES = 256 };

/* A latency is reported again when it has doubled or halved, and by this much. */
enum { LATENCY_STEP_MS = 5 };

struct check {
    struct checks *all;
    const struct proc_check *spec;
    struct proc_check_view *view;
    uint64_t id;                  /* of its try; 0: none is in progress */
    struct side_command *command; /* of its try; NULL: none is in progress */
    struct core_ident asked;      /* the process that its try refers to */
    int64_t begun_ms, failures;
    bool is_ok; /* its last try succeeded */
    char *text;
    struct timer timer;
};

struct checks {
    struct proc *proc;
    struct arena arena;
    const struct proc_spec *spec; /* of checks_try(); NULL: that of the process */
    checks_fn *fn;
    void *arg;
    struct core_ident of; /* the process that the results refer to */
    int64_t counts_ms;    /* since when it is watched */
    bool is_on;
    struct proc_check_view *views;
    size_t n;
    struct check each[];
};

/* Names of their commands: of the output files, too. */
static const char *const command_names[CHECKS_MAX] = {
    "check1", "check2", "check3", "check4", "check5", "check6", "check7", "check8",
};

static void set_text(struct check *c, const char *text)
{
    char copy[TEXT_BYTES];

    free(c->text);
    c->text = NULL;
    if (*text) {
        msg_copy(copy, sizeof(copy), text);
        c->text = xstrdup(copy);
    }
    c->view->text = c->text ? c->text : "";
}

/* ---- results */

static bool is_other_latency(double shown_ms, double ms)
{
    double apart_ms = ms > shown_ms ? ms - shown_ms : shown_ms - ms;

    return shown_ms <= 0 ||
           ((ms > 2 * shown_ms || 2 * ms < shown_ms) && apart_ms > LATENCY_STEP_MS);
}

static void check_set_state(struct check *c, enum proc_check_state state)
{
    if (c->view->state == (int64_t)state)
        return;
    c->view->state = state;
    c->view->since_s = c->all->proc->core->wall_ms / 1000;
}

static bool is_early(const struct check *c)
{
    const struct checks *all = c->all;

    return all->is_on && c->view->state == CHECK_UNKNOWN &&
           all->proc->core->now_ms < all->counts_ms + c->spec->interval_s * 1000;
}

static void check_note(struct check *c, const struct core_checked *got)
{
    struct checks *all = c->all;
    enum proc_check_state was = (enum proc_check_state)c->view->state;

    if (got->outcome == CHECK_NOT_DONE)
        return;
    c->is_ok = got->outcome == CHECK_OK;
    if (is_other_latency(c->view->latency_ms, got->latency_ms))
        c->view->latency_ms = got->latency_ms;
    set_text(c, c->is_ok ? "" : got->text);
    if (c->is_ok)
        c->failures = 0;
    else if (!is_early(c))
        c->failures++;
    if (c->is_ok)
        check_set_state(c, CHECK_PASSING);
    else if (c->failures >= c->spec->threshold)
        check_set_state(c, CHECK_FAILING);
    all->fn(all->arg, c->view, was);
}

/* The process has exited meanwhile, or is being restarted. */
static bool is_outdated(const struct check *c)
{
    const struct proc *k = c->all->proc;

    return c->all->is_on && (!k->ident.pid || !core_is_same(k->ident, c->asked) ||
                             !core_is_known(k) || restart_is_in_progress(k));
}

bool checks_on_result(struct core *core, uint64_t id, const struct core_checked *got)
{
    struct check *c = map_del(&core->checks, (const char *)&id, sizeof(id));

    if (!c)
        return false;
    c->id = 0;
    if (!is_outdated(c))
        check_note(c, got);
    return true;
}

static const char *trim_output(const char *output, char *to, size_t size)
{
    size_t n;

    msg_copy(to, size, output + strspn(output, " \t\r\n"));
    for (n = strlen(to); n > 0 && strchr(" \t\r\n", to[n - 1]); n--)
        to[n - 1] = '\0';
    return to;
}

static void on_command(struct proc *k, void *check, int status, const char *output,
                       const char *failure)
{
    struct check *c = check;
    char text[TEXT_BYTES];
    struct core_checked got = {
        .outcome = CHECK_FAILED,
        .latency_ms = (double)(k->core->now_ms - c->begun_ms),
        .text = text,
    };

    c->command = NULL;
    if (is_outdated(c))
        return;
    if (status == SIDE_COMMAND_NOT_BEGUN)
        got.outcome = CHECK_NOT_DONE;
    else if (!failure && status == 0)
        got.outcome = CHECK_OK;
    if (failure)
        got.text = failure;
    else if (*trim_output(output, text, sizeof(text)) == '\0' && status >= CORE_SIGNALED)
        msg_printf(text, sizeof(text), "the command was ended by signal %d",
                   (status >= CORE_DUMPED ? status - CORE_DUMPED : status - CORE_SIGNALED));
    else if (!*text)
        msg_printf(text, sizeof(text), "the command ended with exit code %d", status);
    check_note(c, &got);
}

/* ---- tries */

void checks_fill_family(const struct proc *k, const struct proc_spec *spec, struct core_ident main,
                        struct core_ident start, struct core_family *ret)
{
    *ret = (struct core_family){ .space = k->meta.space,
                                 .name = k->meta.name,
                                 .spec = spec,
                                 .main = main,
                                 .start = start,
                                 .ended_ms = INT64_MAX,
                                 .siblings = k->siblings ? k->siblings : "" };
}

static void run_command(struct check *c, const struct proc_spec *spec)
{
    size_t i = (size_t)(c - c->all->each);

    c->command = side_command_run(c->all->proc, spec, command_names[i], c->spec->command,
                                  proc_check_timeout_ms(c->spec), on_command, c);
    if (!c->command && side_command_has_begun(c->all->proc, command_names[i]))
        on_command(c->all->proc, c, CORE_STATUS_UNKNOWN, "", MSG("the one before it still hangs"));
}

static void connect_to(struct check *c, const struct proc_spec *spec, struct core_ident main,
                       struct core_ident start)
{
    struct core *core = c->all->proc->core;
    struct core_check ask = { .id = c->id = ++core->next_id,
                              .check = c->spec,
                              .timeout_ms = proc_check_timeout_ms(c->spec),
                              .needs_owner = !c->all->is_on };

    checks_fill_family(c->all->proc, spec, main, start, &ask.family);
    map_put(&core->checks, (const char *)&c->id, sizeof(c->id), c);
    core->effects->check(core->arg, &ask);
}

static void check_try(struct check *c, const struct proc_spec *spec, struct core_ident main,
                      struct core_ident start)
{
    if (c->id || c->command)
        return;
    c->asked = main;
    c->begun_ms = c->all->proc->core->now_ms;
    if (proc_check_kind_of(c->spec) == CHECK_COMMAND)
        run_command(c, spec);
    else
        connect_to(c, spec, main, start);
}

void checks_try(struct checks *all, struct core_ident main, struct core_ident start)
{
    for (size_t i = 0; i < all->n; i++)
        check_try(&all->each[i], all->spec, main, start);
}

static void check_on_time(void *check)
{
    struct check *c = check;
    const struct proc *k = c->all->proc;

    timers_set(&k->core->timers, &c->timer, k->core->now_ms + c->spec->interval_s * 1000);
    if (!restart_is_in_progress(k))
        check_try(c, &k->spec, k->ident, k->start);
}

/* ---- by their intervals */

void checks_drop_try(struct core *c, uint64_t id)
{
    if (c->effects->drop_check)
        c->effects->drop_check(c->arg, id);
}

static void check_drop(struct check *c)
{
    struct core *core = c->all->proc->core;

    if (c->id) {
        map_del(&core->checks, (const char *)&c->id, sizeof(c->id));
        checks_drop_try(core, c->id);
    }
    side_command_drop(c->command);
    c->id = 0;
    c->command = NULL;
    timers_stop(&core->timers, &c->timer);
}

void checks_reset(struct checks *all)
{
    for (size_t i = 0; all && i < all->n; i++) {
        struct check *c = &all->each[i];

        c->failures = 0;
        c->is_ok = false;
        set_text(c, "");
        check_set_state(c, CHECK_UNKNOWN);
        c->view->latency_ms = 0;
    }
}

/* Checks of many processes that began at once are not tried at once. */
static int64_t first_ms(const struct proc *k, size_t i)
{
    return (k->ident.pid * APART_MS / 10 + (int64_t)i * APART_MS) % FIRST_MS;
}

void checks_watch(struct checks *all, bool is_on)
{
    const struct proc *k = all->proc;
    struct timers *timers = &k->core->timers;

    if (!core_is_same(all->of, k->ident)) {
        checks_reset(all);
        all->of = k->ident;
        all->counts_ms = k->core->now_ms;
    }
    if (is_on == all->is_on)
        return;
    all->is_on = is_on;
    all->counts_ms = k->core->now_ms;
    for (size_t i = 0; i < all->n; i++) {
        if (is_on)
            timers_set(timers, &all->each[i].timer, k->core->now_ms + first_ms(k, i));
        else
            check_drop(&all->each[i]);
    }
}

/* ---- what they say */

bool checks_pass(const struct checks *all)
{
    return !checks_first_bad(all);
}

const struct proc_check_view *checks_first_bad(const struct checks *all)
{
    const struct proc_check_view *bad = NULL;

    for (size_t i = 0; i < all->n; i++) {
        if (all->each[i].view->state == CHECK_FAILING)
            return all->each[i].view;
        if (!all->each[i].is_ok && !bad)
            bad = all->each[i].view;
    }
    return bad;
}

int64_t checks_failures(const struct checks *all)
{
    int64_t most = 0;

    for (size_t i = 0; i < all->n; i++) {
        const struct check *c = &all->each[i];
        int64_t n = c->failures - c->spec->threshold + 1;

        most = n > most ? n : most;
    }
    return most;
}

struct list checks_views(const struct checks *all)
{
    return all ? (struct list){ all->views, all->n } : (struct list){ 0 };
}

/* ---- life cycle */

bool checks_are_of(const struct checks *all, const struct proc_spec *spec)
{
    const struct proc_check *rows = spec->extra.checks.items;

    if (all->n != spec->extra.checks.n)
        return false;
    for (size_t i = 0; i < all->n; i++) {
        if (!proc_check_is_equal(all->each[i].spec, &rows[i]))
            return false;
    }
    return true;
}

struct checks *checks_new(struct proc *k, const struct proc_spec *spec, checks_fn *fn, void *arg)
{
    const struct list *rows = &spec->extra.checks;
    struct checks *all = xalloc(sizeof(*all) + rows->n * sizeof(all->each[0]));
    struct proc_check *copies = arena_alloc(&all->arena, rows->n * sizeof(*copies));

    all->proc = k;
    all->spec = spec;
    all->fn = fn;
    all->arg = arg;
    all->n = rows->n;
    all->views = arena_alloc(&all->arena, rows->n * sizeof(*all->views));
    for (size_t i = 0; i < rows->n; i++) {
        struct check *c = &all->each[i];

        shape_copy(&proc_check_shape, (const struct proc_check *)rows->items + i, &all->arena,
                   &copies[i]);
        c->all = all;
        c->spec = &copies[i];
        c->view = &all->views[i];
        *c->view =
            (struct proc_check_view){ .name = proc_check_name(c->spec, &all->arena), .text = "" };
        timer_init(&c->timer, check_on_time, c);
    }
    return all;
}

void checks_free(struct checks *all)
{
    if (!all)
        return;
    for (size_t i = 0; i < all->n; i++) {
        check_drop(&all->each[i]);
        free(all->each[i].text);
    }
    arena_free(&all->arena);
    free(all);
}
