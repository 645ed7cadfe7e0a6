/* SPDX-License-Identifier: MIT */
/* sample_scan.c - see sample_scan.h. */
#include "agent/shell/sample_scan.h"

#include <stdlib.h>

#include "base/mem/mem.h"

struct row {
    int64_t start_ticks, ticks, rss_pages;
    int32_t pid, ppid;
};

struct scan {
    struct row *rows; /* sorted by ppid */
    size_t n, cap;
    size_t *members; /* rows of the tree that is being read */
    size_t members_cap;
};

int64_t scan_sane(int64_t n)
{
    const int64_t most = INT64_C(100000000000);

    return n < 0 ? 0 : n > most ? most : n;
}

int64_t scan_ticks(const struct procfs_stat *st)
{
    return scan_sane(st->user_ticks) + scan_sane(st->system_ticks) +
           scan_sane(st->waited_user_ticks) + scan_sane(st->waited_system_ticks);
}

static bool sample_scan_on_process(void *arg, pid_t pid)
{
    struct scan *s = arg;
    struct procfs_stat st;
    struct err why;

    if (procfs_stat(pid, &st, &why))
        return true; /* it has just ended */
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 256;
        s->rows = xresize(s->rows, s->cap * sizeof(*s->rows));
    }
    s->rows[s->n++] = (struct row){ st.start_ticks, scan_ticks(&st), scan_sane(st.rss_pages),
                                    (int32_t)pid, (int32_t)st.ppid };
    return true;
}

static int sample_scan_compare(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    return (x->ppid > y->ppid) - (x->ppid < y->ppid);
}

int scan_new(struct scan **ret, struct err *err)
{
    struct scan *s = xalloc(sizeof(*s));

    if (procfs_each(sample_scan_on_process, s, err)) {
        scan_free(s);
        return -1;
    }
    if (s->n)
        qsort(s->rows, s->n, sizeof(*s->rows), sample_scan_compare);
    *ret = s;
    return 0;
}

void scan_free(struct scan *s)
{
    if (!s)
        return;
    free(s->rows);
    free(s->members);
    free(s);
}

/* Index of the first row with this parent, or its insertion point. */
static size_t first_child(const struct scan *s, int32_t ppid)
{
    size_t from = 0, to = s->n;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (s->rows[middle].ppid < ppid)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static size_t find_root(const struct scan *s, int64_t pid, int64_t start_ticks)
{
    size_t i = 0;

    while (i < s->n && (s->rows[i].pid != pid || s->rows[i].start_ticks != start_ticks))
        i++;
    return i;
}

int scan_tree(struct scan *s, int64_t pid, int64_t start_ticks, size_t max, struct scan_sum *ret,
              struct err *err)
{
    size_t root = find_root(s, pid, start_ticks), n = 1;
    struct scan_sum sum = { 0 };

    if (root == s->n)
        return err_set(err, ERR_NOT_FOUND, "there is no process %lld", (long long)pid);
    if (s->members_cap < max)
        s->members = xresize(s->members, (s->members_cap = max) * sizeof(*s->members));
    s->members[0] = root;
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &s->rows[s->members[i]];

        sum.processes++;
        sum.ticks += r->ticks;
        sum.rss_pages += r->rss_pages;
        for (size_t at = first_child(s, r->pid); at < s->n && s->rows[at].ppid == r->pid; at++) {
            if (n < max)
                s->members[n++] = at;
            else
                sum.is_partial = true;
        }
    }
    *ret = sum;
    return 0;
}
