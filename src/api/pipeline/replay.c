/* SPDX-License-Identifier: MIT */
/* replay.c - see replay.h. */
#include "api/pipeline/replay.h"

#include <stdlib.h>
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/routes.h"
#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "model/job.h"
#include "model/task.h"
#include "store/store_signatures.h"

/* Counts the remembered signatures of an app. */
struct signer {
    size_t n;
    char name[];
};

struct used {
    TAILQ_ENTRY(used) link;
    struct signer *signer;
    int64_t expires_s;
    bool is_open; /* the first call with it is unanswered */
    size_t len;
    char key[]; /* app, line end, signature */
};

struct replays {
    struct map by_key;
    struct map signers;     /* by name; all have n > 0 */
    TAILQ_HEAD(, used) all; /* in order of arrival */
    size_t n;
};

struct replays *replays_new(void)
{
    struct replays *r = xalloc(sizeof(*r));

    TAILQ_INIT(&r->all);
    return r;
}

static void forget_signature(struct replays *r, struct used *u)
{
    map_del(&r->by_key, u->key, u->len);
    TAILQ_REMOVE(&r->all, u, link);
    r->n--;
    if (!--u->signer->n) {
        map_del_str(&r->signers, u->signer->name);
        free(u->signer);
    }
    free(u);
}

void replays_free(struct replays *r)
{
    if (!r)
        return;
    while (!TAILQ_EMPTY(&r->all))
        forget_signature(r, TAILQ_FIRST(&r->all));
    map_free(&r->by_key);
    map_free(&r->signers);
    free(r);
}

/* Timestamps of different clients are not in order: the head may expire later than entries behind
 * it.  These are removed at most SIGNATURE_S late. */
static void forget_expired(struct replays *r, int64_t wall_s)
{
    struct used *u;

    while ((u = TAILQ_FIRST(&r->all)) && u->expires_s < wall_s && !u->is_open)
        forget_signature(r, u);
}

/* An unescaped "+" in a query is read as a blank. */
static char *make_key(const char *app, const char *given, size_t *ret_len)
{
    char *key = xprintf("%s\n%s", app, given);

    *ret_len = strlen(key);
    for (char *p = strchr(key, '\n') + 1; *p; p++)
        *p = *p == ' ' ? '+' : *p;
    return key;
}

static struct signer *get_signer(struct replays *r, const char *app)
{
    struct signer *signer = map_find_str(&r->signers, app);
    size_t n = strlen(app) + 1;

    if (signer)
        return signer;
    signer = xalloc(sizeof(*signer) + n);
    memcpy(signer->name, app, n);
    map_put_str(&r->signers, signer->name, signer);
    return signer;
}

/* An app that signs very many requests must not use up the room of others. */
static bool replay_has_room(const struct replays *r, const char *app)
{
    const struct signer *signer = map_find_str(&r->signers, app);

    return r->n < REPLAYS_MAX && (!signer || signer->n < REPLAYS_PER_APP);
}

static struct used *remember_signature(struct replays *r, const char *app, const char *key,
                                       size_t len, int64_t expires_s)
{
    struct used *u = xalloc(sizeof(*u) + len);

    u->signer = get_signer(r, app);
    u->signer->n++;
    u->expires_s = expires_s;
    u->len = len;
    memcpy(u->key, key, len);
    map_put(&r->by_key, u->key, u->len, u);
    TAILQ_INSERT_TAIL(&r->all, u, link);
    r->n++;
    return u;
}

static bool makes_task(const struct route *route)
{
    return route->out == &task_ref_shape || route->out == &job_task_ref_shape;
}

/* The signature was used before: the call may only join an unfinished task. */
static enum refusal judge_used(struct call *c)
{
    if (!makes_task(c->route))
        return REFUSAL_SIGNATURE;
    c->joins_only = true;
    return REFUSALS;
}

/* `key` is from make_key(). */
static const struct signature_row *make_row(struct call *c, const char *app, const char *key,
                                            int64_t expires_s)
{
    struct signature_row *row = arena_alloc(c->arena, sizeof(*row));

    row->app = arena_strdup(c->arena, app);
    row->signature = arena_strdup(c->arena, strchr(key, '\n') + 1);
    row->expires_s = expires_s;
    return row;
}

enum refusal replay_enter(struct call *c, const char *app, const struct signature *s)
{
    struct replays *r = c->api->replays;
    int64_t signed_s = strtoll(s->time, NULL, 10); /* checked by signature_judge() */
    size_t len;
    char *key = make_key(app, s->given, &len);
    struct used *u;
    enum refusal why = REFUSALS;

    forget_expired(r, clock_wall_ms(loop_clock(c->api->parts.loop)) / 1000);
    u = map_find(&r->by_key, key, len);
    /* A repeated change is not carried out even while the first is in progress: another change may
     * have come between them. */
    if (u && (!u->is_open || c->route->right != APP_READ))
        why = judge_used(c);
    else if (!u)
        why = replay_has_room(r, app) ? REFUSALS : REFUSAL_RATE;
    if (why == REFUSALS && !u) {
        c->replay = remember_signature(r, app, key, len, signed_s + SIGNATURE_S);
        c->replay->is_open = true;
    }
    if (c->route->right != APP_READ)
        c->stored_signature = make_row(c, app, key, signed_s + SIGNATURE_S);
    free(key);
    return why;
}

/* ---- across restarts of the server */

/* A repetition goes through the store too: writes are done in the order of submission, so the task
 * of the first request exists when the repetition looks for it. */

struct storing {
    struct call *call;
    void (*in)(struct call *c);
};

static void replay_on_stored(void *arg, struct store_call *s)
{
    const struct storing *w = arg;
    const struct signature_use_got *got = s->out;
    struct call *c = w->call;

    if (s->failed)
        call_fail(c, &s->err);
    else if (c->api->is_stopping)
        call_fail(c, &call_stopping);
    else if (!got->is_new && judge_used(c) != REFUSALS)
        call_refuse(c, REFUSAL_SIGNATURE, c->app->code);
    else
        w->in(c);
    store_call_free(s);
}

void replay_pass(struct call *c, void (*in)(struct call *c))
{
    struct store_call *s;
    struct signature_use_ask *ask;
    struct storing *w;
    struct err err;

    if (!c->stored_signature) {
        in(c);
        return;
    }
    s = store_call_new(&store_signature_use, replay_on_stored, NULL);
    ask = arena_alloc(&s->arena, sizeof(*ask));
    w = arena_alloc(&s->arena, sizeof(*w));
    ask->row = *c->stored_signature; /* its texts live as long as the call, which waits for this */
    ask->now_s = clock_wall_ms(loop_clock(c->api->parts.loop)) / 1000;
    *w = (struct storing){ c, in };
    s->in = ask;
    s->arg = w;
    if (!store_submit(c->api->parts.store, s, &err))
        return;
    store_call_free(s);
    call_fail(c, &err);
}

void replay_release(struct call *c)
{
    if (c->replay)
        c->replay->is_open = false;
    c->replay = NULL;
}
