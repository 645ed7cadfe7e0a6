/* SPDX-License-Identifier: MIT */
/* agent_stats.c - see agent_stats.h. */
#include "server/fleet/agent_stats.h"

#include <stddef.h>

#include "base/mem/mem.h"

/* Counters restart at 0 with a new agent process, which also has a new session. */
static uint64_t more(int64_t now, int64_t before)
{
    return now > before ? (uint64_t)(now - before) : 0;
}

void agent_stats_take(struct agent_stats *f, const struct message_agent_stats *report,
                      int64_t now_ms, struct agent_stats_grown *grown)
{
    int64_t since_ms = now_ms - f->at_ms;
    uint64_t cpu_ms = more(report->cpu_ms, f->last.cpu_ms);

    if (!report->rss_bytes)
        return; /* an older agent, which sends none */
    if (f->at_ms) {
        grown->cpu_ms += cpu_ms;
        grown->restarts += more(report->restarts, f->last.restarts);
        grown->unexpected += more(report->unexpected, f->last.unexpected);
    }
    if (f->at_ms && since_ms > 0)
        f->cpu_thousandths = (int64_t)cpu_ms * 1000 / since_ms;
    f->last = *report;
    f->at_ms = now_ms;
}

void agent_stats_add(const struct agent_stats *f, struct agent_stats_now *to)
{
    static const size_t all[] = {
        offsetof(struct message_agent_stats, rss_bytes),
        offsetof(struct message_agent_stats, cpu_ms),
        offsetof(struct message_agent_stats, journal_bytes),
        offsetof(struct message_agent_stats, processes),
        offsetof(struct message_agent_stats, running),
        offsetof(struct message_agent_stats, restarts),
        offsetof(struct message_agent_stats, operations),
        offsetof(struct message_agent_stats, events),
    };

    if (!f->at_ms)
        return;
    to->agents++;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        int64_t n = *(const int64_t *)(const void *)((const char *)&f->last + all[i]);
        int64_t *sum = (int64_t *)(void *)((char *)&to->sum + all[i]);
        int64_t *max = (int64_t *)(void *)((char *)&to->max + all[i]);

        *sum += n;
        *max = n > *max ? n : *max;
    }
    if (f->cpu_thousandths > to->cpu_max_thousandths)
        to->cpu_max_thousandths = f->cpu_thousandths;
}
