/* SPDX-License-Identifier: MIT */
/* figures.c - see figures.h. */
#include "server/figures.h"

#include <stddef.h>

#include "base/mem.h"

/* An agent that was started anew begins at 0, and in another session. */
static uint64_t more(int64_t now, int64_t before)
{
    return now > before ? (uint64_t)(now - before) : 0;
}

void figures_take(struct figures *f, const struct message_figures *said, int64_t now_ms,
                  struct figures_grown *grown)
{
    int64_t since_ms = now_ms - f->at_ms;
    uint64_t cpu_ms = more(said->cpu_ms, f->said.cpu_ms);

    if (!said->rss_bytes)
        return; /* it does not tell */
    if (f->at_ms) {
        grown->cpu_ms += cpu_ms;
        grown->restarts += more(said->restarts, f->said.restarts);
    }
    if (f->at_ms && since_ms > 0)
        f->cpu_thousandths = (int64_t)cpu_ms * 1000 / since_ms;
    f->said = *said;
    f->at_ms = now_ms;
}

void figures_add(const struct figures *f, struct figures_now *to)
{
    static const size_t all[] = {
        offsetof(struct message_figures, rss_bytes),
        offsetof(struct message_figures, cpu_ms),
        offsetof(struct message_figures, journal_bytes),
        offsetof(struct message_figures, processes),
        offsetof(struct message_figures, running),
        offsetof(struct message_figures, restarts),
        offsetof(struct message_figures, operations),
        offsetof(struct message_figures, events),
    };

    if (!f->at_ms)
        return;
    to->agents++;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        int64_t n = *(const int64_t *)(const void *)((const char *)&f->said + all[i]);
        int64_t *sum = (int64_t *)(void *)((char *)&to->sum + all[i]);
        int64_t *max = (int64_t *)(void *)((char *)&to->max + all[i]);

        *sum += n;
        *max = n > *max ? n : *max;
    }
    if (f->cpu_thousandths > to->cpu_max_thousandths)
        to->cpu_max_thousandths = f->cpu_thousandths;
}
