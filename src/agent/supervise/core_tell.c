/* SPDX-License-Identifier: MIT */
/* core_tell.c - reports about processes to the server: changed processes, in one message per
 * batch of inputs, and all processes if the server's digest differs from ours.
 *
 * The facts of each process are hashed; the digest of all is the XOR of these hashes.  So a
 * change costs one hash, and the order does not matter.  Both sides remember the digest sent
 * with the last change: if they are equal, the server has missed nothing. */
#include <stdlib.h>
#include <string.h>

#include "agent/supervise/core_cause.h"
#include "agent/supervise/core_health.h"
#include "agent/supervise/core_in.h"
#include "agent/supervise/core_limit.h"
#include "agent/supervise/core_op.h"
#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "base/text/hex.h"

/* Views on a page; and the number of recorded runs of periodic processes that also fills one. */
enum { PAGE = 100, PAGE_RUNS = 150 };

bool core_is_known(const struct proc *k)
{
    return k->has_spec || k->hosted || k->wanted != PROC_UNREGISTERED;
}

/* A start that has acted makes the process known, whatever its outcome: leave_trace() of
 * core_end.c.  There is no message that removes a process from the server. */
bool core_is_told(const struct proc *k)
{
    const struct op *op = TAILQ_FIRST(&k->ops);

    return core_is_known(k) ||
           (op && !op_is_ours(op) && op->command.op == PROC_OP_START && op_has_acted(op));
}

void core_fill_view(const struct proc *k, struct proc_view *v)
{
    v->space = k->meta.space;
    v->name = k->meta.name;
    v->wanted = k->wanted;
    v->hosted = k->hosted;
    v->status = k->ident.pid ? PROC_RUNNING : PROC_STOPPED;
    v->pid = k->ident.pid ? k->ident.pid : -1;
    v->restarts = k->restarts;
    v->why = ""; /* the sentence is composed by the reader */
    cause_fill(k, &v->cause);
    health_fill_view(k, v);
    limit_fill_view(k, v);
    v->register_s = core_is_known(k) ? k->register_s : 0;
    v->last_start_s = k->last_start_s;
    v->report_s = k->core->wall_ms / 1000;
}

/* ---- digests */

/* In host byte order: only this agent reads them. */
static void add_numbers(const struct proc_view *v, struct buf *to)
{
    const struct proc_cause *c = &v->cause;
    const struct proc_run *last = c->runs.n ? c->runs.items : NULL;
    const int64_t numbers[] = {
        v->wanted,       v->status,           v->hosted,
        v->pid,          v->restarts,         c->instances,
        c->exit_s,       c->exit_code,        c->exit_signal,
        c->exit_oom,     c->failed_s,         c->failed_code,
        c->tries,        c->next_try_s,       c->has_given_up,
        c->has_finished, c->next_run_s,       last ? last->begun_s : 0,
        c->unhealthy_s,  c->exit_oom_perhaps, c->recent_restarts > 0,
        c->changed_s,
    };

    buf_add(to, numbers, sizeof(numbers));
}

static void add_checks(const struct proc_view *v, struct buf *to)
{
    const struct proc_check_view *checks = v->checks.items;

    for (size_t i = 0; i < v->checks.n; i++) {
        buf_add(to, checks[i].name, strlen(checks[i].name) + 1);
        buf_add(to, &checks[i].state, sizeof(checks[i].state));
        buf_add(to, &checks[i].latency_ms, sizeof(checks[i].latency_ms));
    }
}

static void hash_facts(const struct proc *k, unsigned char to[DIGEST_SIZE])
{
    struct proc_view v;
    struct buf facts = { 0 };

    core_fill_view(k, &v);
    buf_add(&facts, v.space, strlen(v.space) + 1);
    buf_add(&facts, v.name, strlen(v.name) + 1);
    buf_add(&facts, v.cause.drift, strlen(v.cause.drift) + 1);
    buf_add(&facts, v.version, strlen(v.version) + 1);
    add_numbers(&v, &facts);
    add_checks(&v, &facts);
    if (*v.cause.instead)
        buf_add(&facts, v.cause.instead, strlen(v.cause.instead) + 1);
    digest_sha256(buf_data(&facts), facts.len, to);
    buf_free(&facts);
}

/* Updates the digest; true: it has changed. */
static bool tell_note(struct proc *k)
{
    unsigned char now[DIGEST_SIZE];

    if (!core_is_told(k))
        return false;
    hash_facts(k, now);
    if (!memcmp(now, k->digest, DIGEST_SIZE))
        return false;
    for (size_t i = 0; i < DIGEST_SIZE; i++)
        k->core->digest[i] ^= k->digest[i] ^ now[i];
    memcpy(k->digest, now, DIGEST_SIZE);
    return true;
}

static void write_digest(const struct core *c, char to[DIGEST_TEXT_SIZE])
{
    hex_write(c->digest, DIGEST_SIZE, to);
}

static void note_all(struct core *c)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->proc, &at));)
        tell_note(e->value);
}

void core_digest(struct core *c, char to[DIGEST_TEXT_SIZE])
{
    note_all(c);
    write_digest(c, c->hello);
    memcpy(to, c->hello, DIGEST_TEXT_SIZE);
}

/* ---- processes */

static void send_views(struct core *c, struct proc_view *views, size_t n, bool is_snapshot,
                       bool is_last)
{
    char digest[DIGEST_TEXT_SIZE];
    const struct message_processes m = {
        .is_snapshot = is_snapshot, .is_last = is_last, .list = { views, n }, .digest = digest
    };

    write_digest(c, digest);
    c->effects->send(c->arg, MESSAGE_PROCESSES, &message_processes_shape, &m);
}

static void unmark(struct proc *k)
{
    if (!k->is_to_tell)
        return;
    TAILQ_REMOVE(&k->core->to_tell, k, to_tell);
    k->core->to_tell_n--;
    k->is_to_tell = k->must_tell = false;
}

/* The server learns of it with the next change, or at the next hello. */
void core_untell(struct proc *k)
{
    for (size_t i = 0; i < DIGEST_SIZE; i++)
        k->core->digest[i] ^= k->digest[i];
    memset(k->digest, 0, DIGEST_SIZE);
    unmark(k);
}

static void mark(struct proc *k, bool must)
{
    if (!core_is_told(k))
        return;
    k->must_tell |= must;
    if (k->is_to_tell)
        return;
    TAILQ_INSERT_TAIL(&k->core->to_tell, k, to_tell);
    k->core->to_tell_n++;
    k->is_to_tell = true;
}

void core_tell_process(struct proc *k)
{
    mark(k, true);
}

void core_tell_change(struct proc *k)
{
    mark(k, false);
}

static void untell_all(struct core *c)
{
    while (!TAILQ_EMPTY(&c->to_tell))
        unmark(TAILQ_FIRST(&c->to_tell));
}

/* The digest covers everything sent up to and including this page: if the next page is lost, the
 * server detects it. */
static void send_marked(struct core *c, struct proc_view *page)
{
    size_t n = 0, runs = 0;

    while (n < PAGE && runs < PAGE_RUNS && !TAILQ_EMPTY(&c->to_tell)) {
        struct proc *k = TAILQ_FIRST(&c->to_tell);
        bool must = k->must_tell;

        unmark(k);
        if (!tell_note(k) && !must)
            continue;
        shape_defaults(&proc_view_shape, &page[n]);
        core_fill_view(k, &page[n++]);
        runs += page[n - 1].cause.runs.n + page[n - 1].checks.n;
    }
    if (n)
        send_views(c, page, n, false, false);
}

/* The last page is marked as such, and sent even if it is empty. */
static void send_pages(struct core *c)
{
    struct proc_view *page = xalloc((c->proc.n < PAGE ? c->proc.n : PAGE) * sizeof(*page));
    struct map_entry *e;
    size_t n = 0, runs = 0;

    for (size_t at = 0; (e = map_next(&c->proc, &at));) {
        if (!core_is_told(e->value))
            continue;
        if (n == PAGE || runs >= PAGE_RUNS) {
            send_views(c, page, n, true, false);
            n = runs = 0;
        }
        shape_defaults(&proc_view_shape, &page[n]);
        core_fill_view(e->value, &page[n++]);
        runs += page[n - 1].cause.runs.n + page[n - 1].checks.n;
    }
    send_views(c, page, n, true, true);
    free(page);
}

static void send_all_if_due(struct core *c)
{
    bool is_due = c->tells_all && c->is_linked;

    c->tells_all = false; /* the next hello tells the digest */
    if (!is_due)
        return;
    note_all(c);
    send_pages(c);
    untell_all(c);
}

void core_tell_now(struct core *c)
{
    size_t n = c->to_tell_n < PAGE ? c->to_tell_n : PAGE;
    struct proc_view *page;

    send_all_if_due(c);
    if (!c->is_linked)
        untell_all(c); /* the digest of the next hello will differ */
    if (TAILQ_EMPTY(&c->to_tell))
        return;
    page = xalloc(n * sizeof(*page));
    while (!TAILQ_EMPTY(&c->to_tell))
        send_marked(c, page);
    free(page);
}

/* Changes since hello have not been sent, so all processes are sent then. */
void core_tell_all(struct core *c, bool is_asked)
{
    char now[DIGEST_TEXT_SIZE];

    note_all(c);
    write_digest(c, now);
    if (is_asked || strcmp(now, c->hello) != 0)
        send_pages(c);
    untell_all(c);
}
