/* SPDX-License-Identifier: MIT */
/* job_scope.c - see job_scope.h. */
#include "api/pipeline/job_scope.h"

#include <stdlib.h>
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "base/mem/mem.h"
#include "model/code.h"

enum { SETS_FROM = 8000000, SETS_TO = 9999999, ID_MAX_DIGITS = 18 };

static const struct {
    const char *type, *action;
    int missing;
} kinds[] = {
    [SCOPE_BIZ] = { "biz", "business", CODE_NO_BUSINESS },
    [SCOPE_BIZ_SET] = { "biz_set", "business_set", CODE_NO_SCOPE },
};

/* 0: not a valid number. */
static int64_t job_scope_read_id(const char *text)
{
    size_t n = strspn(text, "0123456789");

    return n && !text[n] && n <= ID_MAX_DIGITS ? strtoll(text, NULL, 10) : 0;
}

static int find_kind(const char *type, enum scope_kind *ret, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!strcmp(kinds[i].type, type)) {
            *ret = (enum scope_kind)i;
            return 0;
        }
    }
    return err_set(err, ERR_INVALID,
                   *type ? "bk_scope_type: must be `biz` or `biz_set`"
                         : "bk_scope_type: required with bk_scope_id: `biz` or `biz_set`");
}

static int read_scope(const struct job_scope *given, struct job_found *ret, struct err *err)
{
    if (find_kind(given->type, &ret->kind, err))
        return -1;
    ret->id = job_scope_read_id(given->id);
    if (!ret->id && !given->id[strspn(given->id, " \t")])
        return err_set(err, ERR_INVALID, "bk_scope_id: required with bk_scope_type");
    if (!ret->id)
        return err_set(err, ERR_INVALID,
                       ret->kind == SCOPE_BIZ
                           ? "bk_scope_id: must be the number of a business, is '%s'"
                           : "bk_scope_id: must be the number of a business set, is '%s'",
                       given->id);
    return 0;
}

static int read_business(const struct job_scope *given, struct job_found *ret, struct err *err)
{
    if (!given->biz_id)
        return err_set(err, ERR_INVALID,
                       "bk_scope_type: required with bk_scope_id, or else bk_biz_id");
    if (given->biz_id < 1)
        return err_set(err, ERR_INVALID, "bk_biz_id: must be 1 or more, is %lld",
                       (long long)given->biz_id);
    ret->kind = given->biz_id >= SETS_FROM && given->biz_id <= SETS_TO ? SCOPE_BIZ_SET : SCOPE_BIZ;
    ret->id = given->biz_id;
    return 0;
}

static bool may_use_set(const struct app_permissions *p, int64_t id)
{
    const struct app_number *sets = p->business_sets.items;

    for (size_t i = 0; i < p->business_sets.n; i++) {
        if (sets[i].number == id)
            return true;
    }
    return !p->business_sets.n && !p->businesses.n;
}

/* A business in one of the app's sets may be used too. */
static bool may_use(const struct call *c, const struct job_found *scope)
{
    return scope->kind == SCOPE_BIZ ? call_may_business(c, scope->id)
                                    : may_use_set(&c->app->permissions, scope->id);
}

int job_scope_find(struct call *c, const struct job_scope *given, struct job_found *ret,
                   struct err *err)
{
    bool is_new = *given->type || *given->id;

    ret->field = is_new ? "bk_scope_id" : "bk_biz_id";
    if (is_new ? read_scope(given, ret, err) : read_business(given, ret, err))
        return -1;
    if (!may_use(c, ret)) {
        c->denied = kinds[ret->kind].action;
        return err_set(err, CODE_DENIED,
                       ret->kind == SCOPE_BIZ ? "%s: the app may not use business %lld"
                                              : "%s: the app may not use business set %lld",
                       ret->field, (long long)ret->id);
    }
    if (!scopes_has(c->api->parts.scopes, ret->kind, ret->id))
        return err_set(err, kinds[ret->kind].missing,
                       ret->kind == SCOPE_BIZ ? "%s: business %lld does not exist"
                                              : "%s: business set %lld does not exist",
                       ret->field, (long long)ret->id);
    ret->space = arena_printf(c->arena, "job.%s.%lld", kinds[ret->kind].type, (long long)ret->id);
    return 0;
}

bool job_scope_has(const struct call *c, const struct job_found *scope, const struct fleet_host *h)
{
    return scopes_covers(c->api->parts.scopes, scope->kind, scope->id, h->biz_id);
}
