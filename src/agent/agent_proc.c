/* SPDX-License-Identifier: MIT */
/* agent_proc.c - see agent_proc.h. */
#include "agent/agent_proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent_in.h"
#include "agent/core_list.h"
#include "base/mem.h"
#include "base/utf8.h"

enum { RETRY_MS = 1000, RETRY_MAX_MS = 30 * 1000, BYTES_PER_MS = 32 * 1024 };
enum { LOOSE_MS = 60 * 1000 }; /* file systems write what was renamed within half of it */

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

static void book(struct agent *a, bool durable)
{
    const struct proc_file *p = &a->proc;
    const struct digest_record r = { p->journal_path, p->now, p->was, p->is_loose };

    (void)hand_journal(a, RECORD_PROC_FILE, &digest_shape, &r, durable); /* nobody waits for it */
}

void proc_book(struct agent *a)
{
    if (*a->proc.now)
        book(a, false);
}

static void set_journal_path(struct proc_file *p, const char *path)
{
    free(p->journal_path);
    p->journal_path = xstrdup(path);
}

int proc_replay(struct agent *a, const char *json, size_t n, struct err *err)
{
    struct arena arena = { 0 };
    struct digest_record r;
    int failed = shape_read(&digest_shape, json, n, 0, &arena, &r, err);

    if (!failed) {
        set_journal_path(&a->proc, r.path);
        take_digest(a->proc.now, r.now);
        take_digest(a->proc.was, r.was);
        a->proc.is_loose = r.is_loose;
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

static void write_text(const struct agent *a, struct buf *to)
{
    struct arena arena = { 0 };
    struct rows rows = { .arena = &arena };

    core_each_hosted(a->core, add_row, &rows);
    procfile_write(rows.records, rows.n, to);
    free(rows.records);
    arena_free(&arena);
}

static void fail(struct agent *a, const struct err *err)
{
    struct proc_file *p = &a->proc;

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

static void write_beside(struct agent *a)
{
    struct proc_file *p = &a->proc;
    char digest[DIGEST_TEXT_SIZE];
    struct buf text = { 0 };
    struct err err;

    p->changes = core_list_changes(a->core);
    write_text(a, &text);
    digest_sha256_text(buf_data(&text), text.len, digest);
    p->not_before_ms = loop_now_ms(a->loop) + (int64_t)(text.len / BYTES_PER_MS);
    if (!strcmp(digest, p->seen) && !strcmp(digest, p->now) && !strcmp(p->path, p->journal_path)) {
        p->retry_ms = 0; /* it is as it should be */
    } else if (procfile_begin(p->path, &text, &p->beside, &err)) {
        fail(a, &err);
    } else {
        take_digest(p->was, p->seen);
        take_digest(p->now, digest);
        set_journal_path(p, p->path);
        p->is_loose = true;
        book(a, true);
    }
    buf_free(&text);
}

/* While one can not be written nothing waits for it; one that comes soon is waited for. */
bool proc_begin(struct agent *a, bool now)
{
    struct proc_file *p = &a->proc;
    int64_t left_ms = p->not_before_ms - loop_now_ms(a->loop);

    if (now && p->beside.dir >= 0) { /* of a sync that has failed */
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
    write_beside(a);
    return true;
}

void proc_end(struct agent *a)
{
    struct proc_file *p = &a->proc;
    struct err err;

    if (p->beside.dir < 0)
        return;
    if (procfile_end(&p->beside, &err)) {
        fail(a, &err);
        return;
    }
    if (p->retry_ms)
        LOG(a->log, LOG_INFO, "the list of hosted processes can be written again",
            log_str("file", p->path));
    p->retry_ms = 0;
    take_digest(p->seen, p->now);
    p->was[0] = '\0';
    timer_set(a->loop, &p->loose, LOOSE_MS);
    book(a, false);
}

static void set_firm(struct agent *a)
{
    a->proc.is_loose = false;
    book(a, false);
}

/* With one beside it, it has not settled yet. */
static void on_loose(void *agent)
{
    struct agent *a = agent;

    if (a->proc.beside.dir < 0)
        set_firm(a);
}

void proc_stop(struct agent *a)
{
    struct err ignored; /* then it stays loose */

    proc_end(a);
    if (a->proc.is_loose && !procfile_sync(a->proc.path, &ignored))
        set_firm(a);
}

/* ---- what others have made of it */

struct known {
    struct core_hosted hosted;
    struct proc_record record;
    struct known *twin; /* another one with the same contact and value_key */
    bool is_there;
};

struct edit {
    struct agent *a;
    struct arena arena;
    struct map known; /* by contact and value_key, and by space:name */
    struct buf names[3];
    size_t n[3];
};

enum { ADDED, CHANGED, REMOVED };

static const char *record_key(struct arena *a, const char *contact, const char *value_key)
{
    return arena_printf(a, "%s\n%s", contact, value_key);
}

static void note_known(void *arg, const struct core_hosted *h)
{
    struct edit *e = arg;
    struct known *k = arena_alloc(&e->arena, sizeof(*k));

    k->hosted = *h;
    procfile_record(&h->meta, h->spec, h->op, h->since_s, &e->arena, &k->record);
    map_put_str(&e->known, arena_printf(&e->arena, "%s:%s", h->meta.space, h->meta.name), k);
    k->twin =
        map_put_str(&e->known, record_key(&e->arena, k->record.contact, k->record.value_key), k);
}

/* Of several with one key the one that the record is of, or else any that has none yet. */
static struct known *pick(struct known *first, const struct proc_record *r)
{
    struct known *left = first;

    if (!first || !first->twin)
        return first;
    for (struct known *k = first; k; k = k->twin) {
        if (!k->is_there && procfile_same(&k->record, r))
            return k;
        if (left->is_there)
            left = k;
    }
    return left;
}

static void note(struct edit *e, int what, const struct proc_meta *meta)
{
    static const char *const texts[] = {
        [ADDED] = "hosted, because somebody has added it to the list",
        [CHANGED] = "commanded otherwise, because somebody has changed the list",
        [REMOVED] = "no longer hosted, because somebody has taken it out of the list",
    };

    LOG(e->a->log, LOG_WARN, texts[what], log_str("namespace", meta->space),
        log_str("process", meta->name), log_str("file", e->a->proc.path));
    if (e->names[what].len < 80)
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
    struct known *k =
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
        note(e, ADDED, &meta);
        return;
    }
    k->is_there = true;
    if (procfile_same(&k->record, r))
        return;
    spec = *k->hosted.spec;
    procfile_spec(r, &k->hosted.meta, &spec);
    k->record = *r;
    host(e, r, &k->hosted.meta, &spec);
    note(e, CHANGED, &k->hosted.meta);
}

static void take_out(struct edit *e)
{
    struct map_entry *entry;

    for (size_t at = 0; (entry = map_next(&e->known, &at));) {
        struct known *k = entry->value;

        if (k->is_there)
            continue;
        k->is_there = true; /* it has two names */
        core_unhost(e->a->core, &k->hosted.meta);
        note(e, REMOVED, &k->hosted.meta);
    }
}

static void sum_up(struct edit *e)
{
    static const char *const what[] = { "added", "changed", "taken out" };
    char *to = e->a->proc.edited;
    const size_t size = sizeof(e->a->proc.edited);
    struct buf text = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(what); i++) {
        if (e->n[i])
            buf_printf(&text, "%s%zu %s (%s%s)", text.len ? ", " : "", e->n[i], what[i],
                       buf_text(&e->names[i]), e->names[i].len >= 80 ? " ..." : "");
        buf_free(&e->names[i]);
    }
    if (text.len)
        snprintf(to, size, "%s was edited: %s", e->a->proc.path, buf_text(&text));
    to[utf8_whole(to, strlen(to))] = '\0';
    buf_free(&text);
}

static const char UNREADABLE[] =
    "the list of hosted processes can not be read: it is kept as .proc.bad and written anew";

static void set_aside(struct agent *a, const char *text, const struct err *why)
{
    struct proc_file *p = &a->proc;
    struct err err;

    if (procfile_set_aside(p->path, &err))
        LOG(a->log, LOG_ERROR, "the list of hosted processes can not be kept aside",
            log_str("file", p->path), log_err(&err));
    p->seen[0] = '\0';
    LOG(a->log, LOG_ERROR, text, log_str("file", p->path), log_err(why));
}

static void apply(struct agent *a, struct procfile *file)
{
    struct edit e = { .a = a };
    const struct proc_record *records = file->records.items;
    bool is_own = !strcmp(a->proc.path, a->proc.journal_path);

    core_each_hosted(a->core, note_known, &e);
    for (size_t i = 0; i < file->records.n; i++)
        take_record(&e, &records[i], file);
    if (is_own && !file->bad_n)
        take_out(&e);
    if (file->bad_n)
        set_aside(a,
                  "some of the list of hosted processes can not be read: it is kept as .proc.bad, "
                  "and nothing is taken out",
                  &file->bad);
    sum_up(&e);
    map_free(&e.known);
    arena_free(&e.arena);
}

static void take_edit(struct agent *a, const struct buf *text)
{
    struct arena arena = { 0 };
    struct procfile file;
    struct err err;

    if (procfile_read(buf_data(text), text->len, &arena, &file, &err))
        set_aside(a, UNREADABLE, &err);
    else
        apply(a, &file);
    arena_free(&arena);
}

static void note_unread(struct agent *a, bool is_own, const struct err *why)
{
    if (why->code == ERR_DENIED)
        LOG(a->log, LOG_ERROR, "the list of hosted processes is not read", log_err(why));
    else if (why->code != ERR_NOT_FOUND)
        set_aside(a, UNREADABLE, why);
    else if (is_own)
        LOG(a->log, LOG_WARN,
            "the list of hosted processes was gone and is written anew; what is hosted stays so",
            log_str("file", a->proc.path));
}

static void refuse_older(struct agent *a)
{
    struct err why;

    err_set(&why, ERR_CONFLICT, "the host went down before the last one was surely on its disk");
    set_aside(a,
              "the list of hosted processes may be an older one: it is kept as .proc.bad and "
              "written anew",
              &why);
}

void proc_start(struct agent *a)
{
    struct proc_file *p = &a->proc;
    bool is_own = !strcmp(p->path, p->journal_path);
    struct buf text = { 0 };
    struct err err;

    if (p->is_loose)
        timer_set(a->loop, &p->loose, LOOSE_MS);
    if (procfile_load(p->path, &text, &err)) {
        note_unread(a, is_own, &err);
        return;
    }
    digest_sha256_text(buf_data(&text), text.len, p->seen);
    if (!is_own)
        take_edit(a, &text);
    else if (strcmp(p->seen, p->now) != 0 && strcmp(p->seen, p->was) != 0) {
        if (p->is_loose && strcmp(a->disk.boot_id, a->boot_id) != 0)
            refuse_older(a);
        else
            take_edit(a, &text);
    }
    buf_free(&text);
}

void proc_started(struct agent *a)
{
    struct proc_file *p = &a->proc;

    if (*p->edited)
        core_tell_edited(a->core, p->edited);
}

/* ---- its life */

static void on_timer(void *agent)
{
    agent_wake(agent);
}

static char *place_of(const struct agent *a, const char *path)
{
    return path && *path ? xstrdup(path) : xprintf("%s/.proc", a->o.dir);
}

void proc_init(struct agent *a)
{
    struct proc_file *p = &a->proc;

    p->path = place_of(a, a->o.proc_file);
    p->journal_path = xstrdup("");
    p->beside.dir = -1;
    p->changes = UINT64_MAX;
    timer_init(&p->timer, on_timer, a);
    timer_init(&p->loose, on_loose, a);
}

void proc_done(struct agent *a)
{
    timer_stop(a->loop, &a->proc.timer);
    timer_stop(a->loop, &a->proc.loose);
    procfile_drop(&a->proc.beside);
    free(a->proc.path);
    free(a->proc.journal_path);
}

void proc_set_path(struct agent *a, const char *path)
{
    struct proc_file *p = &a->proc;
    char *to = place_of(a, path);
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
