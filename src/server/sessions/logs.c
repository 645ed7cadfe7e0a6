/* SPDX-License-Identifier: MIT */
/* logs.c - see logs.h. */
#include "server/sessions/logs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "model/code.h"

/* A query in progress. */
struct query {
    TAILQ_ENTRY(query) link;
    struct logs *logs;
    int64_t id, epoch;
    char *agent;
    logs_fn *fn;
    void *arg;
    struct timer timer;
};

struct logs {
    struct loop *loop;
    logs_send_fn *send;
    void *arg;
    TAILQ_HEAD(, query) all;
    struct map by_id;
    int64_t last_id;
};

struct logs *logs_new(struct loop *loop, logs_send_fn *send, void *arg)
{
    struct logs *l = xalloc(sizeof(*l));

    l->loop = loop;
    l->send = send;
    l->arg = arg;
    TAILQ_INIT(&l->all);
    return l;
}

/* The callback may start another query. */
static void query_end(struct query *q, const struct message_log *answer, const struct err *failure)
{
    struct logs *l = q->logs;
    logs_fn *fn = q->fn;
    void *arg = q->arg;

    TAILQ_REMOVE(&l->all, q, link);
    map_del(&l->by_id, (const char *)&q->id, sizeof(q->id));
    timer_stop(l->loop, &q->timer);
    free(q->agent);
    free(q);
    fn(arg, answer, failure);
}

static void query_fail(struct query *q, int code, const char *text)
{
    struct err err;

    err_set(&err, code, "host %s: %s", q->agent, text);
    query_end(q, NULL, &err);
}

void logs_free(struct logs *l)
{
    if (!l)
        return;
    while (!TAILQ_EMPTY(&l->all))
        query_fail(TAILQ_FIRST(&l->all), ERR_UNAVAILABLE, MSG("the server is stopping"));
    map_free(&l->by_id);
    free(l);
}

static void logs_on_late(void *query)
{
    query_fail(query, CODE_DEADLINE, MSG("its agent did not send the output in time; try again"));
}

static bool is_of(const struct query *q, const char *agent, int64_t epoch)
{
    return q->epoch == epoch && !strcmp(q->agent, agent);
}

static int logs_check_room(const struct logs *l, const struct fleet_host *host, struct err *err)
{
    const struct query *q;
    size_t of_one = 0;

    if (!host->epoch)
        return err_set(err, CODE_OFFLINE, "host %s: its agent is not connected", host->agent_id);
    TAILQ_FOREACH(q, &l->all, link)
        of_one += is_of(q, host->agent_id, host->epoch);
    if (l->by_id.n >= LOGS_MAX || of_one >= LOGS_OF_ONE)
        return err_set(err, ERR_UNAVAILABLE, "host %s: too many ask for output; try again",
                       host->agent_id);
    return 0;
}

int logs_ask(struct logs *l, const struct fleet_host *host, const struct message_log_ask *ask,
             logs_fn *fn, void *arg, struct err *err)
{
    struct message_log_ask message = *ask;
    struct query *q;

    if (logs_check_room(l, host, err))
        return -1;
    q = xalloc(sizeof(*q));
    q->logs = l;
    q->id = message.id = ++l->last_id;
    q->epoch = host->epoch;
    q->agent = xstrdup(host->agent_id);
    q->fn = fn;
    q->arg = arg;
    TAILQ_INSERT_TAIL(&l->all, q, link);
    map_put(&l->by_id, (const char *)&q->id, sizeof(q->id), q);
    timer_init(&q->timer, logs_on_late, q);
    timer_set(l->loop, &q->timer, LOGS_MS);
    l->send(l->arg, q->agent, q->epoch, MESSAGE_LOG_ASK, &message_log_ask_shape, &message);
    return 0;
}

void logs_on_answer(struct logs *l, const char *agent, int64_t epoch,
                    const struct message_log *answer)
{
    struct query *q = map_find(&l->by_id, (const char *)&answer->id, sizeof(answer->id));

    if (q && is_of(q, agent, epoch))
        query_end(q, answer, NULL);
}

void logs_on_session_end(struct logs *l, const char *agent, int64_t epoch)
{
    struct query *q = TAILQ_FIRST(&l->all), *next;

    for (; q; q = next) {
        next = TAILQ_NEXT(q, link);
        if (is_of(q, agent, epoch))
            query_fail(q, CODE_OFFLINE, MSG("its agent is no longer connected"));
    }
}
