/* SPDX-License-Identifier: MIT */
/* ca.c - see ca.h. */
#include "wire/tls/ca.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/file.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/text/hex.h"

enum { CA_YEARS = 30, NAMES_MAX = 256, DAYS_MAX = 3650 };

static const int64_t hour_ms = 3600 * 1000, day_ms = 24 * 3600 * 1000;

struct ca {
    struct cert_key *key;
    struct buf pem; /* only the certificate */
    struct cert_facts facts;
};

/* ---- its file ---- */

/* Takes exactly the certificate: the text around it may contain the key, in any order, and the
 * certificate is public. */
static int take_cert(const char *text, struct buf *to, struct err *err)
{
    static const char head[] = "-----BEGIN CERTIFICATE-----", tail[] = "-----END CERTIFICATE-----";
    const char *from = strstr(text, head), *end = from ? strstr(from, tail) : NULL;

    if (!end)
        return err_set(err, ERR_MALFORMED, "there is no certificate in it");
    buf_add(to, from, (size_t)(end - from));
    buf_printf(to, "%s\n", tail);
    (void)buf_text(to); /* terminates the text */
    return 0;
}

static int parse(struct ca *ca, const char *text, int64_t now_ms, struct err *err)
{
    if (take_cert(text, &ca->pem, err) || cert_key_read(text, &ca->key, err) ||
        cert_read(ca_cert(ca), &ca->facts, err) || cert_check_signed(ca_cert(ca), ca->key, err))
        return -1;
    if (ca->facts.role != CERT_CA)
        return err_set(err, ERR_INVALID, "not the certificate of an authority");
    if (now_ms >= ca->facts.until_ms)
        return err_set(err, ERR_INVALID, "the certificate has expired");
    return 0;
}

static int ca_load(struct ca *ca, const char *path, int64_t now_ms, struct err *err)
{
    struct buf text = { 0 };
    int bad;

    if (file_read_secret(path, CERT_PEM_MAX, &text, err))
        return -1;
    bad = parse(ca, buf_text(&text), now_ms, err) ? err_wrap(err, "%s", path) : 0;
    file_wipe(&text);
    return bad;
}

/* The name distinguishes several CAs for people; programs compare the key. */
static int make_text(int64_t now_ms, struct buf *to, struct err *err)
{
    unsigned char tag[4];
    char hex[HEX_SIZE(sizeof(tag))], name[32];
    const struct cert_plan plan = { CERT_CA, name, NULL, now_ms - hour_ms,
                                    now_ms + CA_YEARS * 365 * day_ms };
    struct cert_key *key = cert_key_new();
    int bad;

    sys_random(tag, sizeof(tag));
    hex_write(tag, sizeof(tag), hex);
    snprintf(name, sizeof(name), "holdfast CA %s", hex);
    cert_key_write(key, to);
    bad = cert_issue(&plan, key, NULL, to, err);
    cert_key_free(key);
    return bad;
}

static int ca_make(const char *path, int64_t now_ms, struct err *err)
{
    struct buf text = { 0 };
    int bad =
        make_text(now_ms, &text, err) || file_create(path, 0600, buf_data(&text), text.len, err);

    file_wipe(&text);
    return bad ? -1 : 0;
}

/* Reads a new file like any other, so that a file that cannot be read is found now.  If another
 * process created it first, that one is loaded. */
static int load_or_make(struct ca *ca, const char *path, int64_t now_ms, bool *ret_made,
                        struct err *err)
{
    struct err why = { 0 };

    *ret_made = false;
    if (ca_load(ca, path, now_ms, &why) == 0)
        return 0;
    if (why.sys != ENOENT) {
        *err = why;
        return -1;
    }
    *ret_made = ca_make(path, now_ms, &why) == 0;
    if (!*ret_made && why.code != ERR_CONFLICT) {
        *err = why;
        return -1;
    }
    return ca_load(ca, path, now_ms, err);
}

int ca_open(const char *dir, int64_t now_ms, bool *ret_made, struct ca **ret, struct err *err)
{
    struct ca *ca = xalloc(sizeof(*ca));
    char *path = xprintf("%s/ca.pem", dir);
    bool made;
    int bad = load_or_make(ca, path, now_ms, &made, err);

    free(path);
    if (bad) {
        ca_free(ca);
        return err_wrap(err, "CA");
    }
    *ret_made = made;
    *ret = ca;
    return 0;
}

void ca_free(struct ca *ca)
{
    if (!ca)
        return;
    cert_key_free(ca->key);
    buf_free(&ca->pem);
    free(ca);
}

const char *ca_cert(const struct ca *ca)
{
    return buf_data(&ca->pem);
}

const char *ca_fingerprint(const struct ca *ca)
{
    return ca->facts.fingerprint;
}

/* ---- issuing ---- */

/* Valid from an hour ago, because the peer's clock may be behind ours.  Never valid longer than
 * the CA's own certificate. */
static int issue(const struct ca *ca, struct cert_plan *plan, const struct cert_key *subject,
                 int days, int64_t now_ms, struct buf *to, struct err *err)
{
    const struct cert_issuer by = { buf_data(&ca->pem), ca->key };

    if (days < 1 || days > DAYS_MAX)
        return err_set(err, ERR_INVALID, "certificate: valid for 1 to %d days, not %d", DAYS_MAX,
                       days);
    plan->from_ms = now_ms - hour_ms;
    plan->until_ms = now_ms + days * day_ms;
    if (plan->until_ms > ca->facts.until_ms)
        plan->until_ms = ca->facts.until_ms;
    return cert_issue(plan, subject, &by, to, err);
}

int ca_issue_server(const struct ca *ca, const char *const *names, int days, int64_t now_ms,
                    struct buf *to, struct err *err)
{
    const char *all[NAMES_MAX + 2] = { CA_SERVER_NAME };
    struct cert_plan plan = { .role = CERT_SERVER, .name = "holdfast server", .names = all };
    struct buf cert = { 0 };
    struct cert_key *key;
    int bad;

    for (size_t i = 0; names[i]; i++) {
        if (i == NAMES_MAX)
            return err_set(err, ERR_LIMIT, "certificate: more than %d names", NAMES_MAX);
        all[i + 1] = names[i];
    }
    key = cert_key_new();
    bad = issue(ca, &plan, key, days, now_ms, &cert, err);
    if (!bad) {
        cert_key_write(key, to);
        buf_add(to, buf_data(&cert), cert.len);
        buf_puts(to, ca_cert(ca));
    }
    buf_free(&cert);
    cert_key_free(key);
    return bad;
}

int ca_sign_agent(const struct ca *ca, const char *request_pem, const char *agent_id, int days,
                  int64_t now_ms, struct buf *to, struct err *err)
{
    struct cert_plan plan = { .role = CERT_AGENT, .name = agent_id };
    struct cert_key *key;
    int bad;

    if (cert_request_read(request_pem, &key, err))
        return -1;
    bad = issue(ca, &plan, key, days, now_ms, to, err);
    cert_key_free(key);
    return bad;
}

bool ca_is_due(const struct cert_facts *f, int64_t now_ms)
{
    return f->until_ms - now_ms < (f->until_ms - f->from_ms) / 3;
}
