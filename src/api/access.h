/* SPDX-License-Identifier: MIT */
/* access.h - what the operator's settings say about who is believed what. */
#ifndef API_ACCESS_H
#define API_ACCESS_H

#include "server/settings.h"

struct access;

/* An error names the setting. */
int access_new(const struct server_settings *s, struct access **ret, struct err *err);
void access_free(struct access *a); /* NULL is fine, here and below: nobody, no limit */

/* Whether the app may say who its user is, and nobody else has to prove it. */
bool access_skips_user(const struct access *a, const char *app_code);

/* Whether a peer ("10.0.0.7:51324") is an ESB that has checked app and user for us. */
bool access_trusts(const struct access *a, const char *peer);

int64_t access_rate(const struct access *a); /* per second, of apps without their own; 0: none */

#endif
