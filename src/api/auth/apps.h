/* SPDX-License-Identifier: MIT */
/* apps.h - apps that may call the API: a cache of the store.
 *
 * An app is cached for 300 s, the same as in ESB. That an app does not exist is cached for 5 s: a
 * new app works soon, and a flood of guesses costs little. */
#ifndef API_AUTH_APPS_H
#define API_AUTH_APPS_H

#include "base/io/log.h"
#include "base/io/loop.h"
#include "model/app.h"
#include "store/store.h"
#include "wire/tls/seal.h"

enum { APPS_KNOWN_MS = 300 * 1000, APPS_UNKNOWN_MS = 5 * 1000, APPS_MAX = 10000 };

struct app {
    const char *code;
    const char *secret_1, *secret_2; /* hashes (wire/tls/secret.h); "": none */
    const char *plain_1, *plain_2;   /* plain secrets of an app that may sign; "": none */
    struct app_permissions permissions;
};

extern const struct app app_admin; /* the app of calls from the admin door */

struct apps;
struct app_row;

/* `seal` decrypts the stored secrets of apps that sign; NULL: no app can sign. */
struct apps *apps_new(struct loop *loop, struct store *store, const struct seal *seal,
                      struct log *log);
void apps_free(struct apps *a); /* after the store is closed; NULL is allowed */

/* The cached app, even if it has expired: for a first check.  NULL: not cached. */
const struct app *apps_peek(struct apps *a, const char *code);

/* `fn` is called once, perhaps before this returns. app NULL without a failure: there is no such
 * app.  To use the app after `fn` returns, call app_hold(), and app_let_go() later. */
typedef void app_found_fn(void *arg, const struct app *app, const struct err *failure);
void apps_find(struct apps *a, const char *code, app_found_fn *fn, void *arg);
const struct app *app_hold(const struct app *app);
void app_let_go(const struct app *app); /* NULL is allowed */

void apps_forget(struct apps *a, const char *code); /* the app was changed in the store */

/* The view of a row for /v1; without secrets. */
int app_view_row(const struct app_row *row, struct arena *a, struct app_view *ret, struct err *err);

bool app_has_secret(const struct app *app, const char *secret);

/* Takes one request from the app's bucket.  Returns 0, or after how many milliseconds the next
 * request is allowed.  `usual` is the limit of apps that have none of their own; 0: no limit. */
int64_t app_take_rate(const struct app *app, int64_t usual, int64_t now_ms);

#endif
