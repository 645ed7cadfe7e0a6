/* SPDX-License-Identifier: MIT */
/* agent_specs.c - see agent_specs.h. */
#include "agent/shell/agent_specs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/shell/agent_base.h"
#include "agent/supervise/core.h"
#include "agent/supervise/core_list.h"
#include "agent/supervise/core_local.h"
#include "base/io/log.h"
#include "base/io/loop.h"
#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "model/spec_folder.h"

struct specs {
    struct agent_base *agent;
    struct arena arena;
    struct map known; /* by space:name: struct core_spec */
    size_t added, changed;
};

static const char *specs_key(struct specs *s, const struct proc_meta *meta)
{
    return arena_printf(&s->arena, "%s:%s", meta->space, meta->name);
}

static void specs_note(void *specs, const struct core_spec *spec)
{
    struct specs *s = specs;
    struct core_spec *copy = arena_alloc(&s->arena, sizeof(*copy));

    *copy = *spec;
    map_put_str(&s->known, specs_key(s, spec->meta), copy);
}

static bool is_same_spec(const struct proc_spec *a, const struct proc_spec *b)
{
    struct buf one = { 0 }, other = { 0 };
    bool same;

    shape_write(&proc_spec_shape, a, &one);
    shape_write(&proc_spec_shape, b, &other);
    same = one.len == other.len && !memcmp(buf_data(&one), buf_data(&other), one.len);
    buf_free(&one);
    buf_free(&other);
    return same;
}

/* The folder has changed the spec that it gave; one from elsewhere is not touched. */
static bool is_outdated(const struct core_spec *known, const struct proc_spec *now)
{
    return known->hosted && !strcmp(known->spec->extra.source, now->extra.source) &&
           !is_same_spec(known->spec, now);
}

static void take_process(struct specs *s, const struct spec_process *p)
{
    const struct core_spec *known = map_find_str(&s->known, specs_key(s, &p->meta));
    const struct core_hosted h = { p->meta, &p->spec, PROC_OP_HOST,
                                   clock_wall_ms(loop_clock(s->agent->loop)) / 1000 };

    if (known && !is_outdated(known, &p->spec))
        return;
    if (known)
        s->changed++;
    else
        s->added++;
    LOG(s->agent->log, LOG_INFO,
        known ? "takes a changed spec from the folder of specs, for the next start"
              : "hosts a new process from the folder of specs",
        log_str("namespace", p->meta.space), log_str("process", p->meta.name),
        log_str("file", p->path));
    core_host(s->agent->core, &h);
}

void specs_start(struct agent_base *a, const char *folder)
{
    struct specs s = { .agent = a };
    const struct spec_process *p;
    struct short_context context = { "", "", "", a->pid_dir };
    struct list all;
    struct err err;

    if (!*folder || (geteuid() && !strcmp(folder, SPEC_FOLDER)))
        return; /* that folder is of root's agent */
    folder = spec_folder_path(folder, &s.arena);
    context.user = spec_file_user(&s.arena);
    if (spec_folder_read(folder, &context, &s.arena, &all, &err)) {
        if (err.code != ERR_SYSTEM || err.sys != ENOENT)
            LOG(a->log, LOG_ERROR, "the folder of specs is not read, nothing of it changes",
                log_err(&err));
    } else {
        core_each_spec(a->core, "", "", specs_note, &s);
        p = all.items;
        for (size_t i = 0; i < all.n; i++)
            take_process(&s, &p[i]);
    }
    map_free(&s.known);
    arena_free(&s.arena);
}

/* ---- pages */

/* A page ends once its JSON has so many bytes: the largest spec still fits into a frame. */
enum { PAGE_BYTES = 128 * 1024, PAGE_SPECS = 256 };

struct spec_page {
    void (*send)(void *arg, const struct local_specs *page);
    void *arg;
    struct local_specs m;
    struct local_spec specs[PAGE_SPECS];
    size_t bytes;
};

static void send_page(struct spec_page *p)
{
    p->send(p->arg, &p->m);
    p->m.list.n = 0;
    p->bytes = 0;
}

static void page_add(void *page, const struct core_spec *s)
{
    struct spec_page *p = page;
    struct buf json = { 0 };

    shape_write(&proc_spec_shape, s->spec, &json);
    p->bytes += json.len;
    buf_free(&json);
    if (p->m.list.n == PAGE_SPECS || (p->m.list.n && p->bytes > PAGE_BYTES))
        send_page(p);
    p->specs[p->m.list.n++] = (struct local_spec){ *s->meta, *s->spec, s->hosted, s->running };
}

void specs_each_page(const struct core *c, const char *space, const char *name,
                     void (*send)(void *arg, const struct local_specs *page), void *arg)
{
    struct spec_page *p = xalloc(sizeof(*p));

    p->send = send;
    p->arg = arg;
    p->m.list.items = p->specs;
    core_each_spec(c, space, name, page_add, p);
    p->m.is_last = true;
    send_page(p);
    free(p);
}
