/* SPDX-License-Identifier: MIT */
/* core_drift.c - see core_drift.h. */
#include "agent/supervise/core_drift.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/supervise/core_cause.h"
#include "base/mem/buf.h"
#include "base/mem/mem.h"

struct watched {
    char *path;
    char *given;    /* its md5 in the spec, may be "" */
    char *expected; /* NULL: not known yet */
    char *found;    /* how it differs, a message; NULL: it does not, as far as known */
};

struct drift {
    char *user;
    struct watched *files;
    size_t n;
};

/* Skips entries without a path: they occur in widely copied examples. */
static size_t drift_count(const struct list *files)
{
    const struct proc_config_file *f = files->items;
    size_t n = 0;

    for (size_t i = 0; i < files->n; i++)
        n += *f[i].path != '\0';
    return n;
}

bool drift_is_wanted(const struct proc *k)
{
    return k->has_spec && drift_count(&k->spec.config_files) > 0;
}

static bool drift_is_same(const struct drift *d, const char *user, const struct list *files)
{
    const struct proc_config_file *f = files->items;
    size_t n = 0;

    if (!d || strcmp(d->user, user) != 0 || d->n != drift_count(files))
        return false;
    for (size_t i = 0; i < files->n; i++) {
        if (!*f[i].path)
            continue;
        if (strcmp(d->files[n].path, f[i].path) != 0 || strcmp(d->files[n].given, f[i].md5) != 0)
            return false;
        n++;
    }
    return true;
}

static void free_file(struct watched *w)
{
    free(w->path);
    free(w->given);
    free(w->expected);
    free(w->found);
}

void drift_free(struct drift *d)
{
    for (size_t i = 0; d && i < d->n; i++)
        free_file(&d->files[i]);
    if (d) {
        free(d->files);
        free(d->user);
    }
    free(d);
}

/* ---- differences */

enum { FOUND_SIZE = 256 };

static const char before_expected[] = ", expected ";

/* Restores what a previous agent reported: "PATH: md5 A, expected B; PATH: ...". */
static void recall(const struct proc *k, struct watched *w)
{
    const char *drift = k->cause.drift, *at = drift ? strstr(drift, w->path) : NULL;
    const char *colon = at ? at + strlen(w->path) : NULL, *end, *expected;

    if (!at || (at != drift && at[-1] != ' ') || strncmp(colon, ": ", 2) != 0)
        return;
    end = strchr(colon, ';');
    end = end ? end : colon + strlen(colon);
    w->found = xmemdup(colon + 2, (size_t)(end - colon - 2));
    expected = strstr(w->found, before_expected);
    if (!w->expected && expected)
        w->expected = xstrdup(expected + strlen(before_expected));
}

static void drift_write_all(struct proc *k, const struct drift *d)
{
    struct buf text = { 0 };
    char room[FOUND_SIZE];

    for (size_t i = 0; d && i < d->n; i++) {
        if (d->files[i].found)
            buf_printf(&text, "%s%s: %s", text.len ? "; " : "", d->files[i].path,
                       msg_english(room, sizeof(room), d->files[i].found));
    }
    cause_set_text(&k->cause.drift, buf_text(&text));
    buf_free(&text);
    if (core_is_known(k))
        journal_note_process(k);
    core_tell_process(k);
}

static char *drift_compare(struct watched *w, const char *md5, const char *why)
{
    char text[FOUND_SIZE];

    if (!*md5)
        return xstrdup(why && *why ? why : MSG("can not be read"));
    if (!w->expected)
        w->expected = xstrdup(md5);
    if (!strcasecmp(md5, w->expected))
        return NULL;
    msg_printf(text, sizeof(text), "md5 %s, expected %s", md5, w->expected);
    return xstrdup(text);
}

/* What a previous agent reported is no message. */
static bool is_other(const char *a, const char *b)
{
    char room_a[FOUND_SIZE], room_b[FOUND_SIZE];

    if (!a || !b)
        return a || b;
    return strcmp(msg_english(room_a, sizeof(room_a), a), msg_english(room_b, sizeof(room_b), b));
}

/* Sends an event when the file begins to differ and when it matches again. */
static void drift_tell(struct proc *k, const struct watched *w, bool did_differ)
{
    if (w->found && !did_differ)
        core_tell_event(k, "process_config_changed", "%s of %s is not as it should be: %s", w->path,
                        k->meta.name, w->found);
    else if (!w->found && did_differ)
        core_tell_event(k, "process_config_restored", "%s of %s is as it should be again", w->path,
                        k->meta.name);
}

void drift_on_file(struct proc *k, struct drift *d, const char *path, const char *md5,
                   const char *why)
{
    bool is_news = false;

    for (size_t i = 0; i < d->n; i++) {
        struct watched *w = &d->files[i];
        char *old = w->found;

        if (strcmp(w->path, path) != 0)
            continue;
        w->found = drift_compare(w, md5, why);
        is_news |= is_other(old, w->found);
        drift_tell(k, w, old != NULL);
        free(old);
    }
    if (is_news)
        drift_write_all(k, d);
}

/* ---- files */

static struct drift *new_drift(struct proc *k, const struct list *files)
{
    const struct proc_config_file *f = files->items;
    struct drift *d = xalloc(sizeof(*d));

    d->user = xstrdup(k->spec.identity.user);
    d->files = xalloc(drift_count(files) * sizeof(*d->files));
    for (size_t i = 0; i < files->n; i++) {
        struct watched *w = &d->files[d->n];

        if (!*f[i].path)
            continue;
        d->n++;
        w->path = xstrdup(f[i].path);
        w->given = xstrdup(f[i].md5);
        w->expected = *f[i].md5 ? xstrdup(f[i].md5) : NULL;
        recall(k, w);
    }
    return d;
}

bool drift_look(struct proc *k, struct drift **slot)
{
    static const struct list none = { 0 };
    bool is_wanted = drift_is_wanted(k);
    const struct list *files = is_wanted ? &k->spec.config_files : &none;

    if (is_wanted ? drift_is_same(*slot, k->spec.identity.user, files) : !*slot && !k->cause.drift)
        return false;
    drift_free(*slot);
    *slot = is_wanted ? new_drift(k, files) : NULL;
    drift_write_all(k, *slot); /* the expected md5 may have changed */
    return true;
}
