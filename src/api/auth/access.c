/* SPDX-License-Identifier: MIT */
/* access.c - see access.h. */
#include "api/auth/access.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/arena.h"
#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "model/app.h"
#include "wire/net/net.h"

/* ESB's lists are one text with these separators. */
static const char between[] = ",; \t";

struct access {
    struct arena arena;
    struct map skips; /* app codes; the values have no meaning */
    struct net *trusted;
    size_t n_trusted;
    int64_t rate;
};

static int read_app(struct access *a, const char *code, struct err *err)
{
    const char *wrong = rule_app_code(code);

    if (wrong || strlen(code) > APP_CODE_MAX_BYTES)
        return err_set(err, ERR_INVALID, "\"%s\": %s", code,
                       wrong ? wrong : MSG("too long for an app"));
    (void)map_put_str(&a->skips, code, a); /* duplicates are allowed */
    return 0;
}

static int read_net(struct access *a, const char *text, struct err *err)
{
    a->trusted = xresize(a->trusted, (a->n_trusted + 1) * sizeof(*a->trusted));
    if (net_parse(text, &a->trusted[a->n_trusted], err))
        return -1;
    a->n_trusted++;
    return 0;
}

static int access_read_words(struct access *a, const char *setting, const struct list *list,
                             int (*take)(struct access *a, const char *word, struct err *err),
                             struct err *err)
{
    const struct setting_word *words = list->items;

    for (size_t i = 0; i < list->n; i++) {
        const char *p = words[i].text;

        for (p += strspn(p, between); *p; p += strspn(p, between)) {
            size_t n = strcspn(p, between);

            if (take(a, arena_memdup(&a->arena, p, n), err))
                return err_wrap(err, "%s", setting);
            p += n;
        }
    }
    return 0;
}

int access_new(const struct server_settings *s, struct access **ret, struct err *err)
{
    struct access *a = xalloc(sizeof(*a));

    a->rate = s->rate_per_second;
    if (access_read_words(a, "skip_user_auth_apps", &s->skip_user_auth_apps, read_app, err) ||
        access_read_words(a, "trusted_esb_from", &s->trusted_esb_from, read_net, err)) {
        access_free(a);
        return -1;
    }
    *ret = a;
    return 0;
}

void access_free(struct access *a)
{
    if (!a)
        return;
    map_free(&a->skips);
    free(a->trusted);
    arena_free(&a->arena);
    free(a);
}

bool access_skips_user(const struct access *a, const char *app_code)
{
    return a && map_find_str(&a->skips, app_code);
}

bool access_trusts(const struct access *a, const char *peer)
{
    struct address from;
    struct err ignored;

    if (!a || !a->n_trusted || address_parse(peer, &from, &ignored))
        return false;
    for (size_t i = 0; i < a->n_trusted; i++) {
        if (net_has(&a->trusted[i], &from))
            return true;
    }
    return false;
}

int64_t access_rate(const struct access *a)
{
    return a ? a->rate : 0;
}
