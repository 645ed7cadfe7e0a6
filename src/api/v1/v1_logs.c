/* SPDX-License-Identifier: MIT */
/* v1_logs.c - output of processes in /v1; the agent of the host answers. */
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "api/pipeline/hosts.h"
#include "model/log.h"

enum { HOSTS_NAMED = 10 };

struct look {
    struct call *call;
    const char *host;
};

/* The failure reported by an agent; an unknown code becomes CODE_SYSTEM. */
static void fail_as_told(const struct look *look, const struct message_log *answer)
{
    bool is_known = code_get((int)answer->code)->number == answer->code;
    struct err err;

    err_set(&err, is_known ? (int)answer->code : CODE_SYSTEM, "host %s: %s", look->host,
            answer->text);
    call_fail(look->call, &err);
}

static void v1_logs_on_answer(void *arg, const struct message_log *answer,
                              const struct err *failure)
{
    const struct look *look = arg;

    if (!answer) {
        call_fail(look->call, failure);
    } else if (answer->code) {
        fail_as_told(look, answer);
    } else {
        const struct log_view view = { look->host, answer->output, answer->next, answer->has_gap,
                                       answer->gap_bytes };

        call_finish(look->call, &log_view_shape, &view);
    }
}

/* The only host that has the process; NULL with an err if there are several, or none. */
static const struct fleet_host *find_only(const struct call *c, const struct log_ask *ask,
                                          struct err *err)
{
    const struct fleet_host *found = NULL, *h;
    struct fleet_walk walk;
    struct buf names = { 0 };
    size_t n = 0;

    hosts_walk_in(c, &ask->space, "", &walk);
    while ((h = fleet_walk_next(&walk))) {
        if (!fleet_proc(h, ask->space, ask->name))
            continue;
        if (n < HOSTS_NAMED)
            buf_printf(&names, "%s%s", n ? ", " : "", h->agent_id);
        found = h;
        n++;
    }
    if (!n)
        err_set(err, ERR_NOT_FOUND, "%s/%s: no host has such a process", ask->space, ask->name);
    else if (n > 1)
        err_set(err, ERR_INVALID, "host: required (--host), for %zu hosts have %s/%s: %s%s", n,
                ask->space, ask->name, buf_text(&names), n > HOSTS_NAMED ? " ..." : "");
    buf_free(&names);
    return n == 1 ? found : NULL;
}

static void ask_agent(struct call *c, const struct fleet_host *h, const struct log_ask *ask)
{
    const struct message_log_ask message = { .space = ask->space,
                                             .name = ask->name,
                                             .what = ask->what,
                                             .lines = ask->lines,
                                             .at = ask->at,
                                             .age_s = ask->age_s,
                                             .max_bytes = LOG_MAX_BYTES };
    struct look *look = arena_alloc(c->arena, sizeof(*look));
    struct err err;

    *look = (struct look){ c, arena_strdup(c->arena, h->agent_id) };
    if (logs_ask(c->api->parts.logs, h, &message, v1_logs_on_answer, look, &err))
        call_fail(c, &err);
}

/* A named host is asked even if the server does not know the process there: after a failed first
 * start only the agent knows its output. */
void v1_logs(struct call *c)
{
    const struct log_ask *ask = c->ask;
    const struct fleet_host *h;
    struct err err;

    if (!app_may_space(&c->app->permissions, ask->space)) {
        err_set(&err, ERR_DENIED, "namespace: this app may not see processes of %s", ask->space);
        call_fail(c, &err);
        return;
    }
    h = *ask->host ? hosts_find(c, ask->host) : find_only(c, ask, &err);
    if (*ask->host && !(h && call_may_see(c, h)))
        hosts_fail(c, "host", ask->host);
    else if (!h)
        call_fail(c, &err);
    else
        ask_agent(c, h, ask);
}
