/* SPDX-License-Identifier: MIT */
/* pki.h - authorities, and certificates of theirs with any flaw, as the text that
 * tls_config.own_pem takes: key, certificate, authority. */
#ifndef TESTS_LIB_PKI_H
#define TESTS_LIB_PKI_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those before it. */
#include <cmocka.h>

#include "base/mem/mem.h"
#include "base/os/time.h"
#include "wire/tls/cert.h"

enum { PKI_HOUR_MS = 3600 * 1000 };

struct pki {
    struct cert_key *key;
    struct buf pem;
    struct cert_facts facts;
};

static inline int64_t pki_now_ms(void)
{
    return clock_wall_ms(&clock_system);
}

static inline void pki_init(struct pki *p, const char *name)
{
    const int64_t now_ms = pki_now_ms();
    const struct cert_plan plan = { CERT_CA, name, NULL, now_ms - 10 * PKI_HOUR_MS,
                                    now_ms + 10 * PKI_HOUR_MS };
    struct err err = { 0 };

    *p = (struct pki){ .key = cert_key_new() };
    if (cert_issue(&plan, p->key, NULL, &p->pem, &err) ||
        cert_read(buf_text(&p->pem), &p->facts, &err))
        fail_msg("%s", err.text);
}

static inline void pki_done(struct pki *p)
{
    cert_key_free(p->key);
    buf_free(&p->pem);
}

/* One from `from_h` to `until_h` hours from now; `by` NULL: it signs itself.  Behind
 * it the certificates of `shown` (NULL: nothing). */
struct pki_wish {
    enum cert_role role;
    const char *name;
    struct pki *by, *shown;
    int from_h, until_h;
    const char *host; /* NULL: localhost */
};

static inline char *pki_issue(const struct pki_wish *wish)
{
    const char *const names[] = { wish->host ? wish->host : "localhost", NULL };
    const int64_t now_ms = pki_now_ms();
    const struct cert_plan plan = { wish->role, wish->name, names,
                                    now_ms + (int64_t)wish->from_h * PKI_HOUR_MS,
                                    now_ms + (int64_t)wish->until_h * PKI_HOUR_MS };
    const struct cert_issuer by = { wish->by ? buf_text(&wish->by->pem) : NULL,
                                    wish->by ? wish->by->key : NULL };
    struct cert_key *key = cert_key_new();
    struct buf text = { 0 };
    struct err err = { 0 };
    char *copy;

    cert_key_write(key, &text);
    if (cert_issue(&plan, key, wish->by ? &by : NULL, &text, &err))
        fail_msg("%s", err.text);
    if (wish->shown)
        buf_puts(&text, buf_text(&wish->shown->pem));
    copy = xstrdup(buf_text(&text));
    cert_key_free(key);
    buf_free(&text);
    return copy;
}

#endif
