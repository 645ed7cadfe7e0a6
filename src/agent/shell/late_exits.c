/* SPDX-License-Identifier: MIT */
/* late_exits.c - see late_exits.h. */
#include "agent/shell/late_exits.h"

#include <stdlib.h>

#include "agent/identify/ident.h"
#include "agent/shell/agent_base.h"
#include "agent/supervise/core.h"
#include "base/io/log.h"
#include "base/io/loop.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"

enum { ASK_MS = 250 };

struct late_exit {
    struct core_ident ident;
    int pidfd;
    int64_t until_ms;
};

struct late_exits {
    struct agent_base *agent;
    struct timer timer;
    struct late_exit list[LATE_EXITS_MAX];
    size_t n;
};

int exit_status_of(const struct end *end)
{
    if (end->kind == END_EXIT)
        return end->code;
    if (end->kind == END_SIGNAL)
        return (end->has_core ? CORE_DUMPED : CORE_SIGNALED) + end->code;
    return CORE_STATUS_UNKNOWN;
}

static void tell_status(struct late_exits *x, struct core_ident ident, const struct end *end)
{
    struct agent_base *a = x->agent;
    int status = exit_status_of(end);

    LOG(a->log, LOG_INFO, "how a process ended is known now", log_int("pid", ident.pid),
        status >= CORE_SIGNALED ? log_int("signal", status % CORE_SIGNALED)
                                : log_int("exit_code", status));
    core_on_exit_status(a->core, ident, status, agent_now_ms(a));
    agent_wake(a);
}

/* True: it need not be asked for any longer. */
static bool ask(struct late_exits *x, const struct late_exit *e)
{
    struct end end;
    struct err err;

    if (ident_end(e->pidfd, &end, &err))
        return true;
    if (end.kind == END_UNKNOWN)
        return !end.is_unreaped || loop_now_ms(x->agent->loop) >= e->until_ms;
    tell_status(x, e->ident, &end);
    return true;
}

static void on_late_timer(void *late_exits)
{
    struct late_exits *x = late_exits;
    size_t left = 0;

    for (size_t i = 0; i < x->n; i++) {
        const struct late_exit e = x->list[i];

        if (ask(x, &e))
            sys_close(e.pidfd);
        else
            x->list[left++] = e;
    }
    x->n = left;
    if (x->n)
        timer_set(x->agent->loop, &x->timer, ASK_MS);
}

struct late_exits *late_exits_new(struct agent_base *a)
{
    struct late_exits *x = xalloc(sizeof(*x));

    x->agent = a;
    timer_init(&x->timer, on_late_timer, x);
    return x;
}

void late_exits_free(struct late_exits *x)
{
    if (!x)
        return;
    timer_stop(x->agent->loop, &x->timer);
    for (size_t i = 0; i < x->n; i++)
        sys_close(x->list[i].pidfd);
    free(x);
}

bool late_exits_put(struct late_exits *x, struct core_ident ident, int pidfd)
{
    if (x->n == LATE_EXITS_MAX)
        return false;
    if (!x->n)
        timer_set(x->agent->loop, &x->timer, ASK_MS);
    x->list[x->n++] =
        (struct late_exit){ ident, pidfd, loop_now_ms(x->agent->loop) + LATE_EXITS_MS };
    return true;
}
