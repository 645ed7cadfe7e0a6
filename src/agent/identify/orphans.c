/* SPDX-License-Identifier: MIT */
/* orphans.c - see orphans.h. */
#include "agent/identify/orphans.h"

#include <string.h>
#include <unistd.h>

#include "agent/identify/family.h"
#include "agent/identify/procfs.h"
#include "agent/identify/program.h"
#include "base/mem/buf.h"

struct orphans_search {
    const struct orphans_want *w;
    struct buf names;
    size_t n;
};

static bool is_of_spec(const struct orphans_want *w, const struct procfs_stat *st)
{
    struct ident id = { .pid = st->pid, .start_ticks = st->start_ticks };

    memcpy(id.boot_id, w->boot_id, strnlen(w->boot_id, BOOT_ID_SIZE - 1));
    return w->is_others && w->is_others(w->arg, &id);
}

static bool is_in_session_of_spec(const struct orphans_want *w, const struct procfs_stat *st)
{
    struct procfs_stat leader;
    struct err why;

    return st->session != st->pid && st->session > 0 &&
           !procfs_stat((pid_t)st->session, &leader, &why) && is_of_spec(w, &leader);
}

static bool is_orphan(const struct procfs_stat *st)
{
    return (st->ppid == 1 || st->ppid == getpid()) && st->state != 'Z' && st->state != 'X';
}

static void add_orphan(struct orphans_search *s, struct procfs_stat *st)
{
    if (s->n++ >= ORPHANS_NAMED_MAX)
        return;
    procfs_clean(st->comm);
    buf_printf(&s->names, "%s%s (%lld)", s->names.len ? ", " : "", st->comm, (long long)st->pid);
}

/* The program first: it excludes most. */
static bool orphans_on_process(void *search, pid_t pid)
{
    struct orphans_search *s = search;
    const struct orphans_want *w = s->w;
    struct procfs_stat st;
    struct err why;
    uid_t uid;

    if (pid > 1 && pid != getpid() && program_of(pid) == w->program &&
        !procfs_stat(pid, &st, &why) && is_orphan(&st) && !procfs_uid(pid, &uid, &why) &&
        uid == w->uid && !is_of_spec(w, &st) && !is_in_session_of_spec(w, &st))
        add_orphan(s, &st);
    return true;
}

int orphans_name(const struct orphans_want *w, struct arena *a, const char **ret, struct err *err)
{
    struct orphans_search s = { .w = w };
    int result = w->program ? procfs_each(orphans_on_process, &s, err) : 0;

    if (!result && s.n > ORPHANS_NAMED_MAX)
        *ret = arena_msg(a, "%s and %zu more", buf_text(&s.names), s.n - ORPHANS_NAMED_MAX);
    else if (!result)
        *ret = arena_strdup(a, buf_text(&s.names));
    buf_free(&s.names);
    return result;
}
