/* SPDX-License-Identifier: MIT */
/* pipeline.c - see pipeline.h. */
#include "api/pipeline/pipeline.h"

#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/audit.h"
#include "api/pipeline/call.h"
#include "api/pipeline/gate.h"
#include "api/pipeline/idempotency.h"
#include "api/pipeline/params.h"
#include "api/pipeline/replay.h"
#include "api/pipeline/routes.h"

/* For a missing top-level field ESB has its own text. */
static void fail_params(struct call *c, const struct err *err)
{
    const char *at = strstr(err->text, ": required");
    bool is_missing =
        at && !at[strlen(": required")] && !memchr(err->text, '.', (size_t)(at - err->text));

    if (!c->route->label || err->code != ERR_INVALID)
        call_fail(c, err);
    else if (is_missing) /* the only label is in the texts */
        call_refuse(c, REFUSAL_FORM, MSG("host list [hosts] This field is required."));
    else
        call_refuse(c, REFUSAL_FORM, arena_msg(c->arena, "host list [hosts] %s", err_msg(err)));
}

/* /v1 refuses unknown parameters; the other dialects ignore them. */
static void pass_params(struct call *c)
{
    bool is_v1 = c->dialect->kind == DIALECT_V1;
    bool is_get = !strcmp(c->req->head.method, "GET");
    struct params p = call_params(c);
    struct err err;

    if (c->api->is_stopping) {
        call_fail(c, &call_stopping);
        return;
    }
    if (is_v1 && !is_get)
        p.is_json = true;
    if (c->route->in) {
        void *ask = arena_alloc(c->arena, c->route->in->size);

        if (params_read(&p, c->route->in, is_v1 ? SHAPE_ASKED | SHAPE_UNITS : 0, c->arena, ask,
                        &err)) {
            fail_params(c, &err);
            return;
        }
        c->ask = ask;
    }
    idempotency_pass(c);
}

void pipeline_start(struct call *c)
{
    c->begun_us = loop_now_us(c->api->parts.loop); /* the time to receive the body is not counted */
    gate_pass(c, pass_params);
}

/* ---- the end of a call */

/* A change is in the audit log before its answer is sent. */
static void record_and_send(struct call *c)
{
    if (idempotency_keep(c, c->result.status))
        return; /* it calls call_answer() later */
    if (audit_is_due(c))
        audit_put(c->api->audit, c, call_send);
    else
        call_send(c);
}

static void release_steps(struct call *c)
{
    gate_forget(c);
    idempotency_release(c);
    replay_release(c);
}

const struct call_steps pipeline_steps = { record_and_send, release_steps };
