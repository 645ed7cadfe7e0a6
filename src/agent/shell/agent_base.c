/* SPDX-License-Identifier: MIT */
/* agent_base.c - see agent_base.h. */
#include "agent/shell/agent_base.h"

#include <string.h>

#include "agent/supervise/core.h"
#include "base/io/loop.h"
#include "base/os/time.h"

int64_t agent_now_ms(struct agent_base *a)
{
    const struct clock *clock = loop_clock(a->loop);
    int64_t now_ms = clock_mono_ms(clock);

    core_on_time(a->core, now_ms, clock_wall_ms(clock));
    return now_ms;
}

void agent_wake(struct agent_base *a)
{
    timer_set(a->loop, &a->settle, 0);
}

void agent_settle_in(struct agent_base *a, int64_t in_ms)
{
    if (!a->settle.place || a->settle.due_ms > loop_now_ms(a->loop) + in_ms)
        timer_set(a->loop, &a->settle, in_ms);
}

void agent_retry(struct agent_base *a)
{
    agent_settle_in(a, AGENT_RETRY_MS);
}

struct ident agent_ident(const struct agent_base *a, struct core_ident ident)
{
    struct ident id = { .pid = ident.pid, .start_ticks = ident.start_ticks };

    memcpy(id.boot_id, a->boot_id, sizeof(id.boot_id));
    return id;
}
