/* SPDX-License-Identifier: MIT */
/* fleet_counts.c - see fleet_counts.h. */
#include "fleetsim/fleet_counts.h"

#include <string.h>
#include <time.h>

#include "base/mem/mem.h"

#define ROW(member) #member, .type = FIELD_INT, .offset = offsetof(struct fleet_counts, member)

/* clang-format off */
static const struct field fields[] = {
    { ROW(agents), .doc = "agents" },
    { ROW(expected), .doc = "of them to be connected: all but the offline ones" },
    { ROW(up), .doc = "connected now" },
    { ROW(reached), .doc = "that have had a session" },
    { ROW(parked), .doc = "that have joined, and are offline on purpose" },
    { ROW(joining), .doc = "on their way to their first session" },
    { ROW(procs), .doc = "processes" },
    { ROW(running), .doc = "of them running" },
    { ROW(joined), .doc = "agents that joined in this run" },
    { ROW(sessions), .doc = "sessions opened" },
    { ROW(lost), .doc = "sessions lost" },
    { ROW(refused), .doc = "attempts that gave no session" },
    { ROW(commands), .doc = "commands taken" },
    { ROW(repeated), .doc = "commands repeated by the server" },
    { ROW(cancels), .doc = "commands cancelled" },
    { ROW(results), .doc = "results sent, those sent again included" },
    { ROW(stored), .doc = "results that the server has stored" },
    { ROW(failed), .doc = "results that were failures" },
    { ROW(pushes), .doc = "changes of processes reported" },
    { ROW(deaths), .doc = "processes that died by themselves" },
    { ROW(returns), .doc = "processes restarted" },
    { ROW(snapshots), .doc = "lists of all processes sent" },
    { ROW(events), .doc = "events sent" },
    { ROW(events_stored), .doc = "events that the server has stored" },
    { ROW(pings), .doc = "pings answered" },
    { ROW(logs), .doc = "questions for output answered" },
    { ROW(lies), .doc = "false messages sent" },
    { ROW(errors), .doc = "messages that the server refused" },
    { ROW(unstored), .doc = "results that no server has stored yet" },
    { ROW(up_ns), .doc = "when the number connected last changed, CLOCK_MONOTONIC" },
    { ROW(begun_ns), .doc = "when connecting started, CLOCK_MONOTONIC" },
    { ROW(all_up_ms), .doc = "ms until all had been connected" },
    { ROW(rss_kb), .doc = "memory of the largest process of this program, KB" },
    { 0 },
};
const struct shape fleet_counts_shape = { "fleet_counts", sizeof(struct fleet_counts), fields };
/* clang-format on */

static int64_t *count_at(struct fleet_counts *c, const struct field *f)
{
    return (int64_t *)(void *)((char *)c + f->offset);
}

int64_t fleet_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- sums over processes */

void fleet_counts_add(struct fleet_counts *to, const struct fleet_counts *from)
{
    struct fleet_counts copy = *from;

    for (const struct field *f = fields; f->name; f++) {
        int64_t *a = count_at(to, f), b = *count_at(&copy, f);

        if (f->offset < offsetof(struct fleet_counts, up_ns))
            *a += b;
        else if (b > *a)
            *a = b;
    }
    if (to->reached < to->expected)
        to->all_up_ms = 0;
    for (size_t i = 0; i < FLEET_BUCKETS; i++)
        to->stored_in[i] += from->stored_in[i];
}

void fleet_counts_write(const struct fleet_counts *c, struct buf *to)
{
    shape_write(&fleet_counts_shape, c, to);
    for (size_t i = 0; i < FLEET_BUCKETS; i++) {
        buf_addc(to, ' ');
        buf_put_int(to, c->stored_in[i]);
    }
    buf_addc(to, '\n');
}

/* Only our own processes write such a line. */
int fleet_counts_read(const char *line, size_t n, struct fleet_counts *ret, struct err *err)
{
    const char *end = memchr(line, '}', n), *at = end ? end + 1 : line, *stop = line + n;
    struct arena arena = { 0 };
    int bad;

    *ret = (struct fleet_counts){ 0 };
    bad = !end || shape_read(&fleet_counts_shape, line, (size_t)(at - line), 0, &arena, ret, err);
    arena_free(&arena);
    if (bad)
        return err_set(err, ERR_MALFORMED, "no counts: %.*s", (int)(n < 80 ? n : 80), line);
    for (size_t i = 0; i < FLEET_BUCKETS && at < stop; i++) {
        for (at++; at < stop && *at >= '0' && *at <= '9'; at++)
            ret->stored_in[i] = 10 * ret->stored_in[i] + (*at - '0');
    }
    return 0;
}

/* ---- latency */

static int64_t bucket_us(size_t i)
{
    int64_t us = INT64_C(100) << i / 2;

    return i % 2 ? us * 1414 / 1000 : us;
}

void fleet_counts_stored(struct fleet_counts *c, int64_t took_us)
{
    size_t i = 0;

    while (i + 1 < FLEET_BUCKETS && took_us >= bucket_us(i))
        i++;
    c->stored++;
    c->stored_in[i]++;
}

int64_t fleet_counts_stored_us(const struct fleet_counts *c, int per_mille)
{
    int64_t all = 0, seen = 0;

    for (size_t i = 0; i < FLEET_BUCKETS; i++)
        all += c->stored_in[i];
    for (size_t i = 0; all && i < FLEET_BUCKETS; i++) {
        seen += c->stored_in[i];
        if (seen * 1000 >= all * per_mille)
            return bucket_us(i);
    }
    return 0;
}

/* ---- output */

void fleet_counts_line(const struct fleet_counts *c, int64_t ran_ms, struct buf *to)
{
    buf_printf(to, "%lld s: %lld of %lld connected", (long long)(ran_ms / 1000), (long long)c->up,
               (long long)c->expected);
    if (c->joined && c->up < c->expected)
        buf_printf(to, " (%lld joined)", (long long)c->joined);
    buf_printf(to, ", %lld commands, %lld results stored, %lld changes", (long long)c->commands,
               (long long)c->stored, (long long)c->pushes);
    if (c->lost)
        buf_printf(to, ", %lld sessions lost", (long long)c->lost);
    if (c->unstored)
        buf_printf(to, ", %lld results wait", (long long)c->unstored);
}

static void put_times(const struct fleet_counts *c, int64_t ran_ms, struct buf *to)
{
    buf_printf(to, "%12.1f  seconds it ran\n", (double)ran_ms / 1000);
    if (c->stored)
        buf_printf(to, "%12.1f  ms until a result was stored, p50; %.1f p99\n",
                   (double)fleet_counts_stored_us(c, 500) / 1000,
                   (double)fleet_counts_stored_us(c, 990) / 1000);
}

/* Leaves out counts that are 0, and times. */
void fleet_counts_table(const struct fleet_counts *c, int64_t ran_ms, struct buf *to)
{
    struct fleet_counts copy = *c;

    for (const struct field *f = fields; f->name; f++) {
        int64_t n = *count_at(&copy, f);
        bool is_time = f->offset == offsetof(struct fleet_counts, up_ns) ||
                       f->offset == offsetof(struct fleet_counts, begun_ns);

        if (!is_time && (n || f->offset <= offsetof(struct fleet_counts, up)))
            buf_printf(to, "%12lld  %s\n", (long long)n, f->doc);
    }
    put_times(c, ran_ms, to);
}

void fleet_counts_json(const struct fleet_counts *c, int64_t ran_ms, struct buf *to)
{
    shape_write(&fleet_counts_shape, c, to);
    buf_truncate(to, to->len - 1); /* removes the closing brace */
    buf_printf(to, ",\"ran_ms\":%lld,\"stored_p50_us\":%lld,\"stored_p99_us\":%lld}\n",
               (long long)ran_ms, (long long)fleet_counts_stored_us(c, 500),
               (long long)fleet_counts_stored_us(c, 990));
}
