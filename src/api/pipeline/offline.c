/* SPDX-License-Identifier: MIT */
/* offline.c - see offline.h. */
#include "api/pipeline/offline.h"

#include "base/os/time.h"
#include "model/phrase.h"

static const char *const texts[LANGS] = {
    "unknown since {0}: the agent is not connected",
    "自 {0} 起状态未知：Agent 未连接",
};

/* A time in the future means that the clock was set back: the duration is unknown, and the host
 * counts as offline. */
int64_t offline_since_s(const struct fleet_host *h, int64_t wall_ms)
{
    if (h->epoch)
        return 0;
    if (!fleet_is_new(h) && h->since_ms <= wall_ms && h->since_ms > wall_ms - OFFLINE_MS)
        return 0;
    return h->since_ms >= 1000 ? h->since_ms / 1000 : 1;
}

void offline_write(int64_t since_s, enum lang lang, struct buf *to)
{
    enum { TO_SECONDS = sizeof("2026-11-15T05:47:53") - 1 };
    char when[TIME_TEXT_SIZE];

    time_iso(since_s * 1000, when);
    when[TO_SECONDS] = 'Z';
    when[TO_SECONDS + 1] = '\0';
    phrase_put(to, texts[lang], PHRASE_ARGS(when));
}
