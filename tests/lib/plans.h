/* SPDX-License-Identifier: MIT */
/* plans.h - for tests: a plan on a made-up host, and its specs and notes as text. */
#ifndef TESTS_LIB_PLANS_H
#define TESTS_LIB_PLANS_H

#include <stdio.h>
#include <string.h>

#include "cli/plan.h"

struct plans {
    struct arena arena;
    struct plan_host host;
    struct plan plan;
    struct buf specs, notes; /* a note is "LINE KEY! why\n", of a remark "LINE KEY? what\n" */
};

static inline void plans_init(struct plans *w)
{
    static char port[] = "PORT=8080", *env[] = { port, NULL };

    *w = (struct plans){ .host = { env, "alpha", 4, "root", "" } };
    w->plan = (struct plan){ .arena = &w->arena, .lang = LANG_EN, .host = &w->host };
}

static inline void plans_put_notes(struct plans *w, const struct buf *notes)
{
    const struct plan_note *note;
    size_t n = plan_notes(notes, &note);

    for (size_t i = 0; i < n; i++)
        buf_printf(&w->notes, "%zu %s%c %s\n", note[i].at->line, note[i].at->key,
                   note[i].kind == PLAN_LEFT_OUT ? '!' : '?', note[i].why);
}

static inline void plans_write(struct plans *w)
{
    for (size_t i = 0; i < plan_count(&w->plan); i++) {
        draft_write(&plan_at(&w->plan, i)->draft, "", "", &w->specs);
        plans_put_notes(w, &plan_at(&w->plan, i)->notes);
    }
    plans_put_notes(w, &w->plan.notes);
}

static inline void plans_done(struct plans *w)
{
    plan_free(&w->plan);
    buf_free(&w->specs);
    buf_free(&w->notes);
    arena_free(&w->arena);
}

#endif
