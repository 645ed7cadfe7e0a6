/* SPDX-License-Identifier: MIT */
/* access.h - the operator's settings for trust: apps that need not prove their users, trusted ESBs,
 * the default rate limit. */
#ifndef API_AUTH_ACCESS_H
#define API_AUTH_ACCESS_H

#include "server/sessions/settings.h"

struct access;

/* An error names the setting. */
int access_new(const struct server_settings *s, struct access **ret, struct err *err);
void access_free(struct access *a); /* NULL is allowed here and below: the defaults */

/* Whether the app may name its user without proof. */
bool access_skips_user(const struct access *a, const char *app_code);

/* Whether a peer ("10.0.0.7:51324") is an ESB that has checked app and user for us. */
bool access_trusts(const struct access *a, const char *peer);

int64_t access_rate(const struct access *a); /* requests per second of apps without a limit of their
                                                own; 0: no limit */

#endif
