/* SPDX-License-Identifier: MIT */
/* apps.h - who calls us, from the store, remembered for a while.
 *
 * An app that was found is good for 300 s, as callers know it from ESB; that there is none
 * is believed for 5 s, so that a new app works soon and a flood of guesses costs little. */
#ifndef API_APPS_H
#define API_APPS_H

#include "base/log.h"
#include "base/loop.h"
#include "model/app.h"
#include "store/store.h"
#include "wire/seal.h"

enum { APPS_KNOWN_MS = 300 * 1000, APPS_UNKNOWN_MS = 5 * 1000, APPS_MAX = 10000 };

struct app {
    const char *code;
    const char *secret_1, *secret_2; /* hashes (wire/secret.h); "" is none */
    const char *plain_1, *plain_2;   /* the secrets themselves, of one that may sign; "" is none */
    struct app_permissions permissions;
};

extern const struct app app_admin; /* who comes in by the admin door */

struct apps;
struct app_row;

/* `seal` opens what the secrets of those who sign are kept in; NULL: nobody can sign. */
struct apps *apps_new(struct loop *loop, struct store *store, const struct seal *seal,
                      struct log *log);
void apps_free(struct apps *a); /* after the store is closed; NULL is fine */

/* One that is remembered, be it for longer than it is good for: for a first look.  NULL: none. */
const struct app *apps_peek(struct apps *a, const char *code);

/* `fn` is called once, perhaps before this returns.  An app of NULL and no failure: there is
 * none.  Who wants to keep the app takes hold of it and lets go of it later. */
typedef void app_found_fn(void *arg, const struct app *app, const struct err *failure);
void apps_find(struct apps *a, const char *code, app_found_fn *fn, void *arg);
const struct app *app_hold(const struct app *app);
void app_let_go(const struct app *app); /* NULL is fine */

void apps_forget(struct apps *a, const char *code); /* it was changed in the store */

/* What /v1 shows of a row of the store; never a secret. */
int app_view_row(const struct app_row *row, struct arena *a, struct app_view *ret, struct err *err);

bool app_has_secret(const struct app *app, const char *secret);

/* One more request of it.  0, or after how many milliseconds it may come again.  `usual` is
 * the limit of apps that have none of their own; 0: none. */
int64_t app_take_rate(const struct app *app, int64_t usual, int64_t now_ms);

#endif
