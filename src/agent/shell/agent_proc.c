/* SPDX-License-Identifier: MIT */
/* agent_proc.c - see agent_proc.h. */
#include "agent/shell/agent_proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/shell/agent_base.h"
#include "agent/supervise/core.h"
#include "agent/supervise/core_list.h"
#include "base/io/log.h"
#include "base/io/loop.h"
#include "base/mem/arena.h"
#include "base/mem/buf.h"
#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "base/os/time.h"
#include "base/text/utf8.h"

enum { RETRY_MS = 1000, RETRY_MAX_MS = 30 * 1000, BYTES_PER_MS = 32 * 1024 };
enum { LOOSE_MS = 60 * 1000 }; /* file systems write a renamed file within half of this time */

struct digest_record {
    const char *path, *now, *was;
    bool is_loose;
};

#define AT(member) .offset = offsetof(struct digest_record, member)

/* clang-format off */
static const struct field digest_fields[] = {
    { "path", .type = FIELD_STR, AT(path), .max = 4096 },
    { "now", .type = FIELD_STR, AT(now), .max = DIGEST_TEXT_SIZE - 1 },
    { "was", .type = FIELD_STR, AT(was), .max = DIGEST_TEXT_SIZE - 1, .flags = FIELD_OMIT_EMPTY },
    { "is_loose", .type = FIELD_BOOL, AT(is_loose), .flags = FIELD_OMIT_EMPTY },
    { 0 },
};
static const struct shape digest_shape = { "proc file record", sizeof(struct digest_record), digest_fields };
/* clang-format on */

static void take_digest(char to[DIGEST_TEXT_SIZE], const char *from)
{
    snprintf(to, DIGEST_TEXT_SIZE, "%s", from);
}

/* ---- the journal */

static void book(const struct proc_file *p, bool durable)
{
    const struct digest_record r = { p->journal_path, p->now, p->was, p->is_loose };

    (void)p->journal(p->arg, RECORD_PROC_FILE, &digest_shape, &r,
                     durable); /* no result waits for it */
}

void proc_journal(struct proc_file *p)
{
    if (*p->now)
        book(p, false);
}

static void set_journal_path(struct proc_file *p, const char *path)
{
    free(p->journal_path);
    p->journal_path = xstrdup(path);
}

int proc_replay(struct proc_file *p, const char *json, size_t n, struct err *err)
{
    struct arena arena = { 0 };
    struct digest_record r;
    int failed = shape_read(&digest_shape, json, n, 0, &arena, &r, err);

    if (!failed) {
        set_journal_path(p, r.path);
        take_digest(p->now, r.now);
        take_digest(p->was, r.was);
        p->is_loose = r.is_loose;
    }
    arena_free(&arena);
    return failed ? err_wrap(err, "journal: a %s", digest_shape.name) : 0;
}

/* ---- writing */

struct rows {
    struct arena *arena;
    struct proc_record *records;
    size_t n, cap;
};

static void add_row(void *arg, const struct core_hosted *h)
{
    struct rows *r = arg;

    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 64;
        r->records = xresize(r->records, r->cap * sizeof(*r->records));
    }
    procfile_record(&h->meta, h->spec, h->op, h->since_s, r->arena, &r->records[r->n++]);
}

static void write_text(const struct agent_base *a, struct buf *to)
{
    struct arena arena = { 0 };
    struct rows rows = { .arena = &arena };

    core_each_hosted(a->core, add_row, &rows);
    procfile_write(rows.records, rows.n, to);
    free(rows.records);
    arena_free(&arena);
}

static void proc_fail(struct proc_file *p, const struct err *err)
{
    struct agent_base *a = p->agent;

    if (!p->retry_ms)
        LOG(a->log, LOG_ERROR,
            "the list of hosted processes can not be written for other tools; it is tried again",
            log_str("file", p->path), log_err(err));
    p->retry_ms = p->retry_ms ? 2 * p->retry_ms : RETRY_MS;
    p->retry_ms = p->retry_ms < RETRY_MAX_MS ? p->retry_ms : RETRY_MAX_MS;
    p->not_before_ms = loop_now_ms(a->loop) + p->retry_ms;
    p->changes = UINT64_MAX;
    timer_set(a->loop, &p->timer, p->retry_ms);
}

static void write_beside(struct proc_file *p)
{
    struct agent_base *a = p->agent;
    char digest[DIGEST_TEXT_SIZE];
    struct buf text = { 0 };
    struct err err;

    p->changes = core_list_changes(a->core);
    write_text(a, &text);
    digest_sha256_text(buf_data(&text), text.len, digest);
    p->not_before_ms = loop_now_ms(a->loop) + (int64_t)(text.len / BYTES_PER_MS);
    if (!strcmp(digest, p->seen) && !strcmp(digest, p->now) && !strcmp(p->path, p->journal_path)) {
        p->retry_ms = 0; /* the file is up to date */
    } else if (procfile_begin(p->path, &text, &p->beside, &err)) {
        proc_fail(p, &err);
    } else {
        take_digest(p->was, p->seen);
        take_digest(p->now, digest);
        set_journal_path(p, p->path);
        p->is_loose = true;
        book(p, true);
    }
    buf_free(&text);
}

/* A failed write delays no result; a write that is due soon is waited for. */
bool proc_begin(struct proc_file *p, bool now)
{
    struct agent_base *a = p->agent;
    int64_t left_ms = p->not_before_ms - loop_now_ms(a->loop);

    if (now && p->beside.dir >= 0) { /* left by a failed sync */
        procfile_drop(&p->beside);
        p->changes = UINT64_MAX;
    }
    if (p->beside.dir >= 0 || p->changes == core_list_changes(a->core) ||
        (p->retry_ms && left_ms > 0))
        return true;
    if (left_ms > 0 && !now) {
        timer_set(a->loop, &p->timer, left_ms);
        return false;
    }
    write_beside(p);
    return true;
}

void proc_end(struct proc_file *p)
{
    struct agent_base *a = p->agent;
    struct err err;

    if (p->beside.dir < 0)
        return;
    if (procfile_end(&p->beside, &err)) {
        proc_fail(p, &err);
        return;
    }
    if (p->retry_ms)
        LOG(a->log, LOG_INFO, "the list of hosted processes can be written again",
            log_str("file", p->path));
    p->retry_ms = 0;
    take_digest(p->seen, p->now);
    p->was[0] = '\0';
    timer_set(a->loop, &p->loose, LOOSE_MS);
    book(p, false);
}

static void set_firm(struct proc_file *p)
{
    p->is_loose = false;
    book(p, false);
}

/* A pending temporary file means that the file is not final yet. */
static void on_loose(void *proc)
{
    struct proc_file *p = proc;

    if (p->beside.dir < 0)
        set_firm(p);
}

void proc_stop(struct proc_file *p)
{
    struct err ignored; /* on failure it stays loose */

    proc_end(p);
    if (p->is_loose && !procfile_sync(p->path, &ignored))
        set_firm(p);
}

/* ---- edits by other programs */

struct listed_proc {
    struct core_hosted hosted;
    struct proc_record record;
    struct listed_proc *twin; /* another one with the same contact and value_key */
    bool is_there;
};

struct edit {
    struct agent_base *a;
    struct proc_file *file;
    struct arena arena;
    struct map known; /* keys: contact and value_key; space:name */
    struct buf names[3];
    size_t n[3];
};

enum { ADDED, CHANGED, REMOVED };
enum { NAMES_BYTES = 80 }; /* no more names are shown once there are so many bytes */

static const char *record_key(struct arena *a, const char *contact, const char *value_key)
{
    return arena_printf(a, "%s\n%s", contact, value_key);
}

static void note_known(void *arg, const struct core_hosted *h)
{
    struct edit *e = arg;
    struct listed_proc *k = arena_alloc(&e->arena, sizeof(*k));

    k->hosted = *h;
    procfile_record(&h->meta, h->spec, h->op, h->since_s, &e->arena, &k->record);
    map_put_str(&e->known, arena_printf(&e->arena, "%s:%s", h->meta.space, h->meta.name), k);
    k->twin =
        map_put_str(&e->known, record_key(&e->arena, k->record.contact, k->record.value_key), k);
}

/* Of several specs with one key the one that matches the record, otherwise any without a record. */
static struct listed_proc *pick(struct listed_proc *first, const struct proc_record *r)
{
    struct listed_proc *left = first;

    if (!first || !first->twin)
        return first;
    for (struct listed_proc *k = first; k; k = k->twin) {
        if (!k->is_there && procfile_same(&k->record, r))
            return k;
        if (left->is_there)
            left = k;
    }
    return left;
}

static void proc_note(struct edit *e, int what, const struct proc_meta *meta)
{
    static const char *const texts[] = {
        [ADDED] = "hosted, because it was added to the file",
        [CHANGED] = "spec replaced, because it was changed in the file",
        [REMOVED] = "no longer hosted, because it was removed from the file",
    };

    LOG(e->a->log, LOG_WARN, texts[what], log_str("namespace", meta->space),
        log_str("process", meta->name), log_str("file", e->file->path));
    if (e->names[what].len < NAMES_BYTES)
        buf_printf(&e->names[what], "%s%s:%s", e->n[what] ? ", " : "", meta->space, meta->name);
    e->n[what]++;
}

static void host(struct edit *e, const struct proc_record *r, const struct proc_meta *meta,
                 const struct proc_spec *spec)
{
    const struct core_hosted h = { *meta, spec, r->op,
                                   r->when_s > 0 ? r->when_s
                                                 : clock_wall_ms(loop_clock(e->a->loop)) / 1000 };

    core_host(e->a->core, &h);
}

static void take_record(struct edit *e, const struct proc_record *r, struct procfile *file)
{
    struct listed_proc *k =
        pick(map_find_str(&e->known, record_key(&e->arena, r->contact, r->value_key)), r);
    struct proc_meta meta;
    struct proc_spec spec;
    struct err why;

    if (!k && procfile_meta(r, &e->arena, &meta, &why)) {
        if (!file->bad_n++)
            file->bad = why;
        return;
    }
    if (!k)
        k = map_find_str(&e->known, arena_printf(&e->arena, "%s:%s", meta.space, meta.name));
    if (!k) {
        shape_defaults(&proc_spec_shape, &spec);
        procfile_spec(r, &meta, &spec);
        host(e, r, &meta, &spec);
        proc_note(e, ADDED, &meta);
        return;
    }
    k->is_there = true;
    if (procfile_same(&k->record, r))
        return;
    spec = *k->hosted.spec;
    procfile_spec(r, &k->hosted.meta, &spec);
    k->record = *r;
    host(e, r, &k->hosted.meta, &spec);
    proc_note(e, CHANGED, &k->hosted.meta);
}

static void take_out(struct edit *e)
{
    struct map_entry *entry;

    for (size_t at = 0; (entry = map_next(&e->known, &at));) {
        struct listed_proc *k = entry->value;

        if (k->is_there)
            continue;
        k->is_there = true; /* two names for one process */
        core_unhost(e->a->core, &k->hosted.meta);
        proc_note(e, REMOVED, &k->hosted.meta);
    }
}

static const char *count_edits(struct edit *e, int what)
{
    const char *names = buf_text(&e->names[what]);

    return arena_msg(&e->arena,
                     what == ADDED     ? "%zu added (%s)"
                     : what == CHANGED ? "%zu changed (%s)"
                                       : "%zu taken out (%s)",
                     e->n[what], names);
}

static void sum_up(struct edit *e)
{
    const char *text = NULL;

    for (int i = ADDED; i <= REMOVED; i++) {
        if (e->names[i].len >= NAMES_BYTES)
            buf_puts(&e->names[i], " ...");
        if (e->n[i])
            text =
                text ? arena_msg(&e->arena, "%s, %s", text, count_edits(e, i)) : count_edits(e, i);
        buf_free(&e->names[i]);
    }
    if (text)
        msg_printf(e->file->edited, sizeof(e->file->edited), "%s was edited: %s", e->file->path,
                   text);
}

static const char UNREADABLE[] =
    "the list of hosted processes can not be read: it is kept as .proc.bad and written anew";

static void set_aside(struct proc_file *p, const char *text, const struct err *why)
{
    struct agent_base *a = p->agent;
    struct err err;

    if (procfile_set_aside(p->path, &err))
        LOG(a->log, LOG_ERROR, "the list of hosted processes can not be kept aside",
            log_str("file", p->path), log_err(&err));
    p->seen[0] = '\0';
    LOG(a->log, LOG_ERROR, text, log_str("file", p->path), log_err(why));
}

static void apply(struct proc_file *p, struct procfile *file)
{
    struct agent_base *a = p->agent;
    struct edit e = { .a = a, .file = p };
    const struct proc_record *records = file->records.items;
    bool is_own = !strcmp(p->path, p->journal_path);

    core_each_hosted(a->core, note_known, &e);
    for (size_t i = 0; i < file->records.n; i++)
        take_record(&e, &records[i], file);
    if (is_own && !file->bad_n)
        take_out(&e);
    if (file->bad_n)
        set_aside(p,
                  "some of the list of hosted processes can not be read: it is kept as .proc.bad, "
                  "and nothing is taken out",
                  &file->bad);
    sum_up(&e);
    map_free(&e.known);
    arena_free(&e.arena);
}

static void take_edit(struct proc_file *p, const struct buf *text)
{
    struct arena arena = { 0 };
    struct procfile file;
    struct err err;

    if (procfile_read(buf_data(text), text->len, &arena, &file, &err))
        set_aside(p, UNREADABLE, &err);
    else
        apply(p, &file);
    arena_free(&arena);
}

static void note_unread(struct proc_file *p, bool is_own, const struct err *why)
{
    struct agent_base *a = p->agent;

    if (why->code == ERR_DENIED)
        LOG(a->log, LOG_ERROR, "the list of hosted processes is not read", log_err(why));
    else if (why->code != ERR_NOT_FOUND)
        set_aside(p, UNREADABLE, why);
    else if (is_own)
        LOG(a->log, LOG_WARN,
            "the list of hosted processes was gone and is written anew; what is hosted stays so",
            log_str("file", p->path));
}

static void refuse_older(struct proc_file *p)
{
    struct err why;

    err_set(&why, ERR_CONFLICT, "the host went down before the last one was surely on its disk");
    set_aside(p,
              "the list of hosted processes may be an older one: it is kept as .proc.bad and "
              "written anew",
              &why);
}

void proc_start(struct proc_file *p, bool same_boot)
{
    struct agent_base *a = p->agent;
    bool is_own = !strcmp(p->path, p->journal_path);
    struct buf text = { 0 };
    struct err err;

    if (p->is_loose)
        timer_set(a->loop, &p->loose, LOOSE_MS);
    if (procfile_load(p->path, &text, &err)) {
        note_unread(p, is_own, &err);
        return;
    }
    digest_sha256_text(buf_data(&text), text.len, p->seen);
    if (!is_own)
        take_edit(p, &text);
    else if (strcmp(p->seen, p->now) != 0 && strcmp(p->seen, p->was) != 0) {
        if (p->is_loose && !same_boot)
            refuse_older(p);
        else
            take_edit(p, &text);
    }
    buf_free(&text);
}

void proc_started(struct proc_file *p)
{
    if (*p->edited)
        core_tell_edited(p->agent->core, p->edited);
}

/* ---- start and end */

static void proc_on_timer(void *proc)
{
    struct proc_file *p = proc;

    agent_wake(p->agent);
}

static char *proc_place_of(const struct agent_base *a, const char *path)
{
    return path && *path ? xstrdup(path) : xprintf("%s/.proc", a->dir);
}

void proc_init(struct proc_file *p, struct agent_base *a, const char *path,
               proc_journal_fn *journal, void *arg)
{
    p->agent = a;
    p->journal = journal;
    p->arg = arg;
    p->path = proc_place_of(a, path);
    p->journal_path = xstrdup("");
    p->beside.dir = -1;
    p->changes = UINT64_MAX;
    timer_init(&p->timer, proc_on_timer, p);
    timer_init(&p->loose, on_loose, p);
}

void proc_done(struct proc_file *p)
{
    timer_stop(p->agent->loop, &p->timer);
    timer_stop(p->agent->loop, &p->loose);
    procfile_drop(&p->beside);
    free(p->path);
    free(p->journal_path);
}

void proc_set_path(struct proc_file *p, const char *path)
{
    struct agent_base *a = p->agent;
    char *to = proc_place_of(a, path);
    struct buf text = { 0 };
    struct err err = { 0 };

    if (!strcmp(to, p->path)) {
        free(to);
        return;
    }
    if (!procfile_load(to, &text, &err)) {
        LOG(a->log, LOG_WARN,
            "proc_file takes effect when the agent is started anew: there is a file, which has to "
            "be read first",
            log_str("file", to));
        buf_free(&text);
        free(to);
        return;
    }
    procfile_drop(&p->beside);
    free(p->path);
    p->path = to;
    p->seen[0] = '\0';
    p->changes = UINT64_MAX;
    p->retry_ms = p->not_before_ms = 0;
    agent_wake(a);
}
