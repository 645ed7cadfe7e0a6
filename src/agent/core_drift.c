/* SPDX-License-Identifier: MIT */
/* core_drift.c - see core_drift.h. */
#include "agent/core_drift.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/core_cause.h"
#include "base/buf.h"
#include "base/mem.h"

struct watched {
    char *path;
    char *given;    /* its md5 in the spec, which may be "" */
    char *expected; /* NULL: not known yet */
    char *found;    /* how it differs; NULL: it does not, as far as is known */
};

struct drift {
    struct watched *files;
    size_t n;
};

/* Entries without a path are in examples that many have copied. */
static size_t count(const struct list *files)
{
    const struct proc_config_file *f = files->items;
    size_t n = 0;

    for (size_t i = 0; i < files->n; i++)
        n += *f[i].path != '\0';
    return n;
}

bool drift_is_wanted(const struct kept *k)
{
    return k->has_spec && count(&k->spec.config_files) > 0;
}

static bool is_same(const struct drift *d, const struct list *files)
{
    const struct proc_config_file *f = files->items;
    size_t n = 0;

    if (!d || d->n != count(files))
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
    if (d)
        free(d->files);
    free(d);
}

/* ---- how it differs */

#define DRIFT_MD5      "md5 "
#define DRIFT_EXPECTED ", expected "

/* What the agent before us had told of it: "PATH: md5 A, expected B; PATH: ...". */
static void recall(const struct kept *k, struct watched *w)
{
    const char *drift = k->cause.drift, *at = drift ? strstr(drift, w->path) : NULL;
    const char *colon = at ? at + strlen(w->path) : NULL, *end, *expected;

    if (!at || (at != drift && at[-1] != ' ') || strncmp(colon, ": ", 2) != 0)
        return;
    end = strchr(colon, ';');
    end = end ? end : colon + strlen(colon);
    w->found = xmemdup(colon + 2, (size_t)(end - colon - 2));
    expected = strstr(w->found, DRIFT_EXPECTED);
    if (!w->expected && expected)
        w->expected = xstrdup(expected + strlen(DRIFT_EXPECTED));
}

static void write_all(struct kept *k, const struct drift *d)
{
    struct buf text = { 0 };

    for (size_t i = 0; d && i < d->n; i++) {
        if (d->files[i].found)
            buf_printf(&text, "%s%s: %s", text.len ? "; " : "", d->files[i].path,
                       d->files[i].found);
    }
    cause_set_text(&k->cause.drift, buf_text(&text));
    buf_free(&text);
    if (core_is_known(k))
        book_process(k);
    core_tell_process(k);
}

static char *compare(struct watched *w, const char *md5, const char *why)
{
    if (!*md5)
        return xstrdup(why && *why ? why : "can not be read");
    if (!w->expected)
        w->expected = xstrdup(md5);
    return strcasecmp(md5, w->expected) != 0
               ? xprintf(DRIFT_MD5 "%s" DRIFT_EXPECTED "%s", md5, w->expected)
               : NULL;
}

/* Once when it begins to differ, and once when it does not any more. */
static void tell(struct kept *k, const struct watched *w, bool did_differ)
{
    if (w->found && !did_differ)
        core_tell_event(k, "process_config_changed", "%s of %s is not as it should be: %s", w->path,
                        k->meta.name, w->found);
    else if (!w->found && did_differ)
        core_tell_event(k, "process_config_restored", "%s of %s is as it should be again", w->path,
                        k->meta.name);
}

void drift_on_file(struct kept *k, struct drift *d, const char *path, const char *md5,
                   const char *why)
{
    bool is_news = false;

    for (size_t i = 0; i < d->n; i++) {
        struct watched *w = &d->files[i];
        char *old = w->found;

        if (strcmp(w->path, path) != 0)
            continue;
        w->found = compare(w, md5, why);
        is_news |= !old != !w->found || (old && strcmp(old, w->found) != 0);
        tell(k, w, old != NULL);
        free(old);
    }
    if (is_news)
        write_all(k, d);
}

/* ---- which files */

static struct drift *new_drift(struct kept *k, const struct list *files)
{
    const struct proc_config_file *f = files->items;
    struct drift *d = xalloc(sizeof(*d));

    d->files = xalloc(count(files) * sizeof(*d->files));
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

void drift_look(struct kept *k, struct drift **slot)
{
    static const struct list none = { 0 };
    bool is_wanted = drift_is_wanted(k);
    const struct list *files = is_wanted ? &k->spec.config_files : &none;
    struct core *c = k->core;

    if (is_wanted ? is_same(*slot, files) : !*slot && !k->cause.drift)
        return;
    drift_free(*slot);
    *slot = is_wanted ? new_drift(k, files) : NULL;
    write_all(k, *slot); /* what is expected may be another thing now */
    c->hands->files(c->arg, k->meta.space, k->meta.name, files);
}
