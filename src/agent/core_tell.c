/* SPDX-License-Identifier: MIT */
/* core_tell.c - what the server is told: processes as they change, all of them when
 * its digest is not ours, and events.
 *
 * A process's facts are hashed; the digest of all is those hashes XORed, so one that
 * changes costs one hash and the order does not matter.  Both sides remember the
 * digest that came with the last change: if they agree, nothing has been missed. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/core_in.h"
#include "base/buf.h"
#include "base/hex.h"
#include "base/mem.h"

enum { PAGE = 100, UNTOLD_MAX = 1000 };

bool core_is_known(const struct kept *k)
{
    return k->has_spec || k->hosted || k->wanted != PROC_UNREGISTERED;
}

void core_fill_view(const struct kept *k, struct proc_view *v)
{
    v->space = k->meta.space;
    v->name = k->meta.name;
    v->wanted = k->wanted;
    v->hosted = k->hosted;
    v->status = k->ident.pid ? PROC_RUNNING : PROC_STOPPED;
    v->pid = k->ident.pid ? k->ident.pid : -1;
    v->restarts = k->restarts;
    v->why = k->why;
    v->register_s = k->register_s;
    v->last_start_s = k->last_start_s;
    v->report_s = k->core->wall_ms / 1000;
}

/* ---- digests */

static void hash_facts(const struct kept *k, unsigned char to[DIGEST_SIZE])
{
    struct proc_view v;
    struct buf facts = { 0 };

    core_fill_view(k, &v);
    buf_add(&facts, v.space, strlen(v.space) + 1);
    buf_add(&facts, v.name, strlen(v.name) + 1);
    buf_printf(&facts, "%lld %lld %d %lld %lld", (long long)v.wanted, (long long)v.status, v.hosted,
               (long long)v.pid, (long long)v.restarts);
    digest_sha256(buf_data(&facts), facts.len, to);
    buf_free(&facts);
}

/* Brings the digest up to date; whether that changed it. */
static bool note(struct kept *k)
{
    unsigned char now[DIGEST_SIZE];

    if (!core_is_known(k))
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

    for (size_t at = 0; (e = map_next(&c->kept, &at));)
        note(e->value);
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
    c->hands->send(c->arg, MESSAGE_PROCESSES, &message_processes_shape, &m);
}

static void send_one(struct kept *k)
{
    struct proc_view view;

    if (!k->core->is_linked)
        return;
    shape_defaults(&proc_view_shape, &view);
    core_fill_view(k, &view);
    send_views(k->core, &view, 1, false, false);
}

void core_tell_process(struct kept *k)
{
    if (!core_is_known(k))
        return;
    note(k);
    send_one(k);
}

void core_tell_change(struct kept *k)
{
    if (note(k))
        send_one(k);
}

/* The last page says so, even if there is nothing on it. */
static void send_pages(struct core *c)
{
    struct proc_view *page = xalloc(PAGE * sizeof(*page));
    struct map_entry *e;
    size_t n = 0;

    for (size_t at = 0; (e = map_next(&c->kept, &at));) {
        if (!core_is_known(e->value))
            continue;
        if (n == PAGE) {
            send_views(c, page, n, true, false);
            n = 0;
        }
        shape_defaults(&proc_view_shape, &page[n]);
        core_fill_view(e->value, &page[n++]);
    }
    send_views(c, page, n, true, true);
    free(page);
}

/* ---- events */

struct untold {
    TAILQ_ENTRY(untold) link;
    struct arena arena;
    struct message_event event;
};

static void free_untold(struct core *c, struct untold *u)
{
    TAILQ_REMOVE(&c->untold, u, link);
    c->untold_n--;
    arena_free(&u->arena);
    free(u);
}

void core_free_events(struct core *c)
{
    while (!TAILQ_EMPTY(&c->untold))
        free_untold(c, TAILQ_FIRST(&c->untold));
}

/* The oldest go first when there are too many. */
static void keep_event(struct core *c, const struct message_event *e)
{
    struct untold *u = xalloc(sizeof(*u));

    if (c->untold_n == UNTOLD_MAX) {
        free_untold(c, TAILQ_FIRST(&c->untold));
        c->untold_lost++;
    }
    u->event = *e;
    u->event.name = arena_strdup(&u->arena, e->name);
    u->event.text = arena_strdup(&u->arena, e->text);
    u->event.space = arena_strdup(&u->arena, e->space);
    u->event.proc = arena_strdup(&u->arena, e->proc);
    u->event.proc_name = arena_strdup(&u->arena, e->proc_name);
    TAILQ_INSERT_TAIL(&c->untold, u, link);
    c->untold_n++;
}

static void send_event(struct core *c, const struct message_event *e)
{
    c->hands->send(c->arg, MESSAGE_EVENT, &message_event_shape, e);
}

static void tell_lost(struct core *c)
{
    char text[128];
    const struct message_event e = { .id = ++c->next_event,
                                     .name = "agent_events_lost",
                                     .text = text,
                                     .space = "",
                                     .proc = "",
                                     .proc_name = "",
                                     .wall_ms = c->wall_ms };

    snprintf(text, sizeof(text), "%lld older events were lost while there was no server",
             (long long)c->untold_lost);
    c->untold_lost = 0;
    send_event(c, &e);
}

static void tell_untold(struct core *c)
{
    if (c->untold_lost)
        tell_lost(c);
    while (!TAILQ_EMPTY(&c->untold)) {
        send_event(c, &TAILQ_FIRST(&c->untold)->event);
        free_untold(c, TAILQ_FIRST(&c->untold));
    }
}

void core_tell_event(struct kept *k, const char *name, const char *fmt, ...)
{
    struct core *c = k->core;
    char text[512];
    const struct message_event e = { .id = ++c->next_event,
                                     .name = name,
                                     .text = text,
                                     .space = k->meta.space,
                                     .proc = k->meta.name,
                                     .proc_name = k->spec.identity.proc_name,
                                     .wall_ms = c->wall_ms,
                                     .report_id = k->spec.warn.report_id };
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (c->is_linked)
        send_event(c, &e);
    else
        keep_event(c, &e);
}

/* What has changed since hello was told to nobody, so then all are. */
void core_tell_all(struct core *c, bool is_asked)
{
    char now[DIGEST_TEXT_SIZE];

    note_all(c);
    write_digest(c, now);
    if (is_asked || strcmp(now, c->hello) != 0)
        send_pages(c);
    tell_untold(c);
}
