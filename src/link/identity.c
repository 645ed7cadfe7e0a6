/* SPDX-License-Identifier: MIT */
/* identity.c - see identity.h. */
#include "link/identity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/file.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/text/msg.h"
#include "wire/tls/ca.h"

static const char pem_head[] = "-----BEGIN CERTIFICATE-----";
static const char pem_tail[] = "-----END CERTIFICATE-----";

/* The two certificates of agent.pem, as PEM and parsed. */
struct cert_pair {
    char *cert, *ca; /* NULL: none */
    struct cert_facts facts, ca_facts;
};

struct identity {
    char *key_path, *pem_path;
    struct cert_key *key;
    struct cert_pair certs;
};

static void cert_pair_done(struct cert_pair *p)
{
    free(p->cert);
    free(p->ca);
    *p = (struct cert_pair){ 0 };
}

/* ---- PEM ---- */

/* Returns a copy of the next certificate in the text and moves *text behind it; NULL if there is
 * none.  The caller frees it. */
static char *next_cert(const char **text)
{
    const char *from = strstr(*text, pem_head), *end = from ? strstr(from, pem_tail) : NULL;

    if (!end)
        return NULL;
    *text = end + strlen(pem_tail);
    return xprintf("%.*s%s\n", (int)(end - from), from, pem_tail);
}

/* Accepts exactly one certificate: a server signs one per request, so more would not be an answer
 * to ours. */
static int only_cert(const char *text, const char *what, char **ret, struct err *err)
{
    char *one = next_cert(&text);

    if (one && !strstr(text, pem_head)) {
        *ret = one;
        return 0;
    }
    free(one);
    return err_set(err, ERR_MALFORMED, "%s: there must be one certificate in it", what);
}

static int read_facts(struct cert_pair *p, struct err *err)
{
    if (cert_read(p->cert, &p->facts, err))
        return -1;
    if (cert_read(p->ca, &p->ca_facts, err))
        return err_wrap(err, "CA");
    if (p->facts.role != CERT_AGENT)
        return err_set(err, ERR_INVALID, "certificate: not one of an agent");
    if (p->ca_facts.role != CERT_CA)
        return err_set(err, ERR_INVALID, "CA: not the certificate of an authority");
    return 0;
}

/* Checks that the certificates belong together and to our key. */
static int check_certs(const struct identity *id, struct cert_pair *p, struct err *err)
{
    char key_id[DIGEST_TEXT_SIZE];

    if (read_facts(p, err))
        return -1;
    cert_key_id(id->key, key_id);
    if (strcmp(p->facts.key_id, key_id) != 0)
        return err_set(err, ERR_INVALID, "certificate: not for the key in %s", id->key_path);
    return cert_check_issued(p->cert, p->ca, err);
}

/* ---- the files ---- */

static int split_pem(const char *text, struct cert_pair *p, struct err *err)
{
    p->cert = next_cert(&text);
    p->ca = next_cert(&text);
    if (!p->ca || strstr(text, pem_head))
        return err_set(err, ERR_MALFORMED,
                       "there must be two certificates in it, the agent's and then the CA's");
    return 0;
}

static int load_certs(struct identity *id, const char *text, struct err *err)
{
    struct cert_pair p = { 0 };

    if (split_pem(text, &p, err) || check_certs(id, &p, err)) {
        cert_pair_done(&p);
        return err_wrap(err, "%s (restore it, or remove it and join again)", id->pem_path);
    }
    id->certs = p;
    return 0;
}

/* A certificate without its key means that the key was lost; making a new key would hide that. */
static int check_key_exists(const struct identity *id, struct err *err)
{
    struct stat st;

    if (sys_stat(id->key_path, &st) == 0)
        return 0;
    if (errno != ENOENT)
        return err_sys(err, "%s", id->key_path);
    return err_set(err, ERR_NOT_FOUND,
                   "%s: missing, but its certificate %s is there (restore the key, or remove the "
                   "certificate and join again)",
                   id->key_path, id->pem_path);
}

static int load_identity(struct identity *id, struct err *err)
{
    struct buf text = { 0 };
    struct err why = { 0 };
    bool has_pem = file_read(id->pem_path, 2 * CERT_PEM_MAX, &text, &why) == 0;
    int bad = 0;

    if (!has_pem && why.sys != ENOENT) {
        *err = why;
        bad = -1;
    } else if (has_pem) {
        bad = check_key_exists(id, err);
    }
    if (!bad)
        bad = cert_key_keep(id->key_path, &id->key, err);
    if (!bad && has_pem)
        bad = load_certs(id, buf_text(&text), err);
    buf_free(&text);
    return bad;
}

int identity_open(const char *dir, struct identity **ret, struct err *err)
{
    struct identity *id = xalloc(sizeof(*id));

    id->key_path = xprintf("%s/agent.key", dir);
    id->pem_path = xprintf("%s/agent.pem", dir);
    if (load_identity(id, err)) {
        identity_free(id);
        return err_wrap(err, "identity of the agent");
    }
    *ret = id;
    return 0;
}

void identity_free(struct identity *id)
{
    if (!id)
        return;
    cert_pair_done(&id->certs);
    cert_key_free(id->key);
    free(id->key_path);
    free(id->pem_path);
    free(id);
}

/* ---- queries ---- */

bool identity_has_cert(const struct identity *id)
{
    return id->certs.cert != NULL;
}

const char *identity_agent_id(const struct identity *id)
{
    return id->certs.facts.agent_id;
}

bool identity_is_due(const struct identity *id, int64_t now_ms)
{
    return identity_has_cert(id) && ca_is_due(&id->certs.facts, now_ms);
}

bool identity_is_over(const struct identity *id, int64_t now_ms)
{
    return identity_has_cert(id) && now_ms >= id->certs.facts.until_ms;
}

void identity_request(const struct identity *id, struct buf *to)
{
    cert_request_write(id->key, to);
}

/* ---- certificates from the server ---- */

static int check_joined(const struct identity *id, const struct message_joined *joined,
                        const char *ca_pin, struct cert_pair *p, struct err *err)
{
    const struct cert_pair *old = &id->certs;

    if (only_cert(joined->cert, MSG("certificate"), &p->cert, err) ||
        only_cert(joined->ca, MSG("CA"), &p->ca, err) || check_certs(id, p, err))
        return -1;
    if (strcmp(p->ca_facts.fingerprint, ca_pin ? ca_pin : old->ca_facts.fingerprint) != 0)
        return err_set(err, ERR_DENIED,
                       ca_pin ? "CA: not the one that the join token names"
                              : "CA: not the one that this agent has joined");
    if (strcmp(p->facts.agent_id, joined->agent_id) != 0 ||
        (!ca_pin && strcmp(p->facts.agent_id, old->facts.agent_id) != 0))
        return err_set(err, ERR_INVALID, "certificate: for the agent %s, not %s", p->facts.agent_id,
                       ca_pin ? joined->agent_id : old->facts.agent_id);
    return 0;
}

static int store_certs(const struct identity *id, const struct cert_pair *p, struct err *err)
{
    char *text = xprintf("%s%s", p->cert, p->ca);
    int bad = file_replace(id->pem_path, 0600, text, strlen(text), err);

    free(text);
    return bad;
}

int identity_take(struct identity *id, const struct message_joined *joined, const char *ca_pin,
                  struct err *err)
{
    struct cert_pair p = { 0 };

    if (check_joined(id, joined, ca_pin, &p, err) || store_certs(id, &p, err)) {
        cert_pair_done(&p);
        return err_wrap(err, "the identity that the server issued");
    }
    cert_pair_done(&id->certs);
    id->certs = p;
    return 0;
}

int identity_tls(const struct identity *id, struct tls **ret, struct err *err)
{
    struct buf own = { 0 };
    struct tls_config config = { .ca_pem = id->certs.ca, .only_1_3 = true, .keep_session = true };
    int bad;

    cert_key_write(id->key, &own);
    buf_puts(&own, id->certs.cert);
    config.own_pem = buf_text(&own);
    bad = tls_client_new(&config, ret, err);
    file_wipe(&own);
    return bad;
}
