/* SPDX-License-Identifier: MIT */
/* cert.c - see cert.h. */
#include "wire/tls/cert.h"

#include <assert.h>
#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/io/file.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/text/hex.h"
#include "base/text/msg.h"
#include "wire/tls/tls_reason.h"

#define LETTERS_AND_DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

enum { SERIAL_BYTES = 16 };

struct cert_key {
    EVP_PKEY *pkey; /* never NULL; only the public key if it was read from a request */
};

static int fail_made(struct err *err)
{
    return err_set(err, ERR_SYSTEM, "certificate: %s", tls_first_reason());
}

/* ---- PEM text ---- */

static BIO *bio_of(const char *pem)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);

    if (!bio)
        abort();
    return bio;
}

static BIO *bio_new(void)
{
    BIO *bio = BIO_new(BIO_s_mem());

    if (!bio)
        abort();
    return bio;
}

/* Frees the BIO, which also wipes it. */
static void take_text(BIO *bio, struct buf *to)
{
    char *bytes;
    long n = BIO_get_mem_data(bio, &bytes);

    buf_add(to, bytes, (size_t)n);
    BIO_free(bio);
}

static int check_size(const char *pem, const char *what, struct err *err)
{
    if (strnlen(pem, CERT_PEM_MAX + 1) > CERT_PEM_MAX)
        return err_set(err, ERR_LIMIT, "%s: larger than %d bytes", what, CERT_PEM_MAX);
    ERR_clear_error();
    return 0;
}

static int fail_pem(struct err *err, const char *what)
{
    return err_set(err, ERR_MALFORMED, "%s: not usable PEM (%s)", what, tls_first_reason());
}

static int read_x509(const char *pem, X509 **ret, struct err *err)
{
    BIO *bio;

    if (check_size(pem, "certificate", err))
        return -1;
    bio = bio_of(pem);
    *ret = PEM_read_bio_X509(bio, NULL, tls_no_passphrase, NULL);
    BIO_free(bio);
    return *ret ? 0 : fail_pem(err, MSG("certificate"));
}

/* ---- facts ---- */

const char *cert_check_agent_id(const char *text)
{
    size_t n = strnlen(text, CERT_AGENT_ID_SIZE);

    if (n == 0)
        return MSG("must not be empty");
    if (n == CERT_AGENT_ID_SIZE)
        return MSG("must have 64 bytes at most");
    if (!strchr(LETTERS_AND_DIGITS, text[0]))
        return MSG("must begin with a letter or a digit");
    if (text[strspn(text, LETTERS_AND_DIGITS "._:-")])
        return MSG("must consist of letters, digits, '.', '_', ':' and '-'");
    return NULL;
}

/* Refuses a second common name and a NUL inside one: another reader of the certificate might
 * take it for another agent. */
static int read_agent_id(X509 *x, char to[CERT_AGENT_ID_SIZE], struct err *err)
{
    const X509_NAME *name = X509_get_subject_name(x);
    int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
    const ASN1_STRING *text;
    int n;

    if (at < 0 || X509_NAME_get_index_by_NID(name, NID_commonName, at) >= 0)
        return err_set(err, ERR_DENIED, "agent's certificate: it must name one agent");
    text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
    n = ASN1_STRING_length(text);
    if (n < CERT_AGENT_ID_SIZE) {
        memcpy(to, ASN1_STRING_get0_data(text), (size_t)n);
        to[n] = '\0';
    }
    if (n >= CERT_AGENT_ID_SIZE || strlen(to) != (size_t)n || cert_check_agent_id(to))
        return err_set(err, ERR_DENIED, "agent's certificate: not an agent's id");
    return 0;
}

static int read_time(const ASN1_TIME *at, int64_t *ret_ms, struct err *err)
{
    struct tm tm;

    if (ASN1_TIME_to_tm(at, &tm) != 1)
        return err_set(err, ERR_MALFORMED, "certificate: not a time");
    *ret_ms = (int64_t)timegm(&tm) * 1000;
    return 0;
}

static int read_serial(const X509 *x, char to[CERT_SERIAL_SIZE], struct err *err)
{
    const ASN1_INTEGER *serial = X509_get0_serialNumber(x);
    int n = ASN1_STRING_length(serial);

    if (n < 1 || n > (CERT_SERIAL_SIZE - 1) / 2)
        return err_set(err, ERR_INVALID, "certificate: a serial number of %d bytes", n);
    hex_write(ASN1_STRING_get0_data(serial), (size_t)n, to);
    return 0;
}

static enum cert_role read_role(X509 *x)
{
    if (X509_check_ca(x) == 1)
        return CERT_CA;
    switch (X509_get_extended_key_usage(x)) {
    case XKU_SSL_SERVER: return CERT_SERVER;
    case XKU_SSL_CLIENT: return CERT_AGENT;
    default: return CERT_EITHER; /* the value is a set of bits, not an enum of ours */
    }
}

static void digest_der(unsigned char *der, int n, char to[DIGEST_TEXT_SIZE])
{
    if (n < 0)
        abort(); /* the certificate is valid, so: out of memory */
    digest_sha256_text(der, (size_t)n, to);
    OPENSSL_free(der);
}

static void read_key_id(EVP_PKEY *key, char to[DIGEST_TEXT_SIZE])
{
    unsigned char *der = NULL;
    int n = i2d_PUBKEY(key, &der);

    digest_der(der, n, to);
}

int cert_facts_of(struct x509_st *x, struct cert_facts *ret, struct err *err)
{
    struct cert_facts f = { .role = read_role(x) };
    unsigned char *der = NULL;
    int n;

    if (!X509_get0_pubkey(x))
        return err_set(err, ERR_INVALID, "certificate: a key of an unknown kind");
    if (read_time(X509_get0_notBefore(x), &f.from_ms, err) ||
        read_time(X509_get0_notAfter(x), &f.until_ms, err) || read_serial(x, f.serial, err))
        return -1;
    if (f.role == CERT_AGENT && read_agent_id(x, f.agent_id, err))
        return -1;
    /* The key's encoded bytes: encoding it again would cost as much as a signature. */
    n = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(x), &der);
    digest_der(der, n, f.key_id);
    der = NULL;
    n = i2d_X509(x, &der);
    digest_der(der, n, f.fingerprint);
    *ret = f;
    return 0;
}

int cert_read(const char *pem, struct cert_facts *ret, struct err *err)
{
    X509 *x;
    int bad;

    if (read_x509(pem, &x, err))
        return -1;
    bad = cert_facts_of(x, ret, err);
    X509_free(x);
    return bad;
}

/* ---- keys ---- */

static struct cert_key *wrap(EVP_PKEY *pkey)
{
    struct cert_key *k = xalloc(sizeof(*k));

    k->pkey = pkey;
    return k;
}

struct cert_key *cert_key_new(void)
{
    EVP_PKEY *pkey = EVP_EC_gen("P-256");

    if (!pkey)
        abort();
    return wrap(pkey);
}

/* The curve must be given by name: explicit parameters may describe another curve, and no peer
 * accepts such a certificate. */
static int check_kind(EVP_PKEY *pkey, struct err *err)
{
    char group[32] = "";
    int explicit = 0;

    if (!EVP_PKEY_is_a(pkey, "EC") ||
        EVP_PKEY_get_group_name(pkey, group, sizeof(group), NULL) != 1 ||
        strcmp(group, SN_X9_62_prime256v1) != 0 ||
        (EVP_PKEY_get_int_param(pkey, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &explicit) ==
             1 &&
         explicit))
        return err_set(err, ERR_INVALID, "key: not one for ECDSA with P-256");
    return 0;
}

int cert_key_read(const char *pem, struct cert_key **ret, struct err *err)
{
    EVP_PKEY *pkey;
    BIO *bio;

    if (check_size(pem, "key", err))
        return -1;
    bio = bio_of(pem);
    pkey = PEM_read_bio_PrivateKey(bio, NULL, tls_no_passphrase, NULL);
    BIO_free(bio);
    if (!pkey)
        return fail_pem(err, MSG("key"));
    if (check_kind(pkey, err)) {
        EVP_PKEY_free(pkey);
        return -1;
    }
    *ret = wrap(pkey);
    return 0;
}

void cert_key_write(const struct cert_key *k, struct buf *to)
{
    BIO *bio = bio_new();

    if (PEM_write_bio_PKCS8PrivateKey(bio, k->pkey, NULL, NULL, 0, NULL, NULL) != 1)
        abort();
    take_text(bio, to);
}

void cert_key_id(const struct cert_key *k, char to[DIGEST_TEXT_SIZE])
{
    read_key_id(k->pkey, to);
}

void cert_key_free(struct cert_key *k)
{
    if (!k)
        return;
    EVP_PKEY_free(k->pkey);
    free(k);
}

static int key_load(const char *path, struct cert_key **ret, struct err *err)
{
    struct buf pem = { 0 };
    int bad;

    if (file_read_secret(path, CERT_PEM_MAX, &pem, err))
        return -1;
    bad = cert_key_read(buf_text(&pem), ret, err) ? err_wrap(err, "%s", path) : 0;
    file_wipe(&pem);
    return bad;
}

static int key_store(const char *path, const struct cert_key *k, struct err *err)
{
    struct buf pem = { 0 };
    int bad;

    cert_key_write(k, &pem);
    bad = file_create(path, 0600, buf_data(&pem), pem.len, err);
    file_wipe(&pem);
    return bad;
}

int cert_key_keep(const char *path, struct cert_key **ret, struct err *err)
{
    struct cert_key *k;
    struct err why = { 0 };

    if (key_load(path, ret, &why) == 0)
        return 0;
    if (why.sys != ENOENT) {
        *err = why;
        return -1;
    }
    k = cert_key_new();
    if (key_store(path, k, err)) {
        cert_key_free(k);
        return -1;
    }
    *ret = k;
    return 0;
}

/* ---- requests ---- */

void cert_request_write(const struct cert_key *k, struct buf *to)
{
    X509_REQ *req = X509_REQ_new();
    BIO *bio = bio_new();

    if (!req || X509_REQ_set_version(req, X509_REQ_VERSION_1) != 1 ||
        X509_REQ_set_pubkey(req, k->pkey) != 1 || X509_REQ_sign(req, k->pkey, EVP_sha256()) == 0 ||
        PEM_write_bio_X509_REQ(bio, req) != 1)
        abort();
    X509_REQ_free(req);
    take_text(bio, to);
}

/* The signature proves that the sender has the private key, so a client cannot get a certificate
 * for a key that it does not have. */
static int check_request(X509_REQ *req, struct err *err)
{
    EVP_PKEY *pkey = X509_REQ_get0_pubkey(req);

    if (!pkey)
        return err_set(err, ERR_INVALID, "certificate request: a key of an unknown kind");
    if (check_kind(pkey, err))
        return err_wrap(err, "certificate request");
    if (X509_REQ_verify(req, pkey) != 1)
        return err_set(err, ERR_DENIED, "certificate request: not signed by its own key");
    return 0;
}

int cert_request_read(const char *pem, struct cert_key **ret, struct err *err)
{
    X509_REQ *req;
    BIO *bio;
    int bad;

    if (check_size(pem, "certificate request", err))
        return -1;
    bio = bio_of(pem);
    req = PEM_read_bio_X509_REQ(bio, NULL, tls_no_passphrase, NULL);
    BIO_free(bio);
    if (!req)
        return fail_pem(err, MSG("certificate request"));
    bad = check_request(req, err);
    if (!bad)
        *ret = wrap(X509_REQ_get_pubkey(req)); /* takes a reference */
    X509_REQ_free(req);
    return bad;
}

/* ---- issuing ---- */

static int add_name(GENERAL_NAMES *list, const char *name, struct err *err)
{
    GENERAL_NAME *one = GENERAL_NAME_new();
    ASN1_OCTET_STRING *address = a2i_IPADDRESS(name);

    if (!one || sk_GENERAL_NAME_push(list, one) <= 0)
        abort();
    if (address) {
        GENERAL_NAME_set0_value(one, GEN_IPADD, address);
        return 0;
    }
    if (!*name || strlen(name) > 253 || name[strspn(name, LETTERS_AND_DIGITS ".-_*")])
        return err_set(err, ERR_INVALID, "certificate: '%s' is neither a host name nor an address",
                       name);
    address = ASN1_IA5STRING_new();
    if (!address || ASN1_STRING_set(address, name, -1) != 1)
        abort();
    GENERAL_NAME_set0_value(one, GEN_DNS, address);
    return 0;
}

static int add_names(X509 *x, const char *const *names, struct err *err)
{
    GENERAL_NAMES *list = GENERAL_NAMES_new();
    int bad = 0;

    if (!list)
        abort();
    if (!names || !names[0])
        bad = err_set(err, ERR_INVALID, "certificate: it must be for at least one name");
    for (size_t i = 0; !bad && names[i]; i++)
        bad = add_name(list, names[i], err);
    if (!bad && X509_add1_ext_i2d(x, NID_subject_alt_name, list, 0, 0) != 1)
        bad = fail_made(err);
    GENERAL_NAMES_free(list);
    return bad;
}

static const struct {
    bool has_names;
    const char *constraints, *usage, *extended;
} roles[] = {
    /* clang-format off */
    [CERT_CA]     = { false, "critical,CA:TRUE,pathlen:0", "critical,keyCertSign",      NULL },
    [CERT_SERVER] = { true,  "critical,CA:FALSE",          "critical,digitalSignature", "serverAuth" },
    [CERT_AGENT]  = { false, "critical,CA:FALSE",          "critical,digitalSignature", "clientAuth" },
    [CERT_EITHER] = { true,  "critical,CA:FALSE",          "critical,digitalSignature", "serverAuth,clientAuth" },
    /* clang-format on */
};

static bool add_extensions(X509 *x, X509 *issuer, enum cert_role role)
{
    const struct {
        int nid;
        const char *value;
    } rows[] = {
        { NID_basic_constraints, roles[role].constraints },
        { NID_key_usage, roles[role].usage },
        { NID_ext_key_usage, roles[role].extended },
        { NID_subject_key_identifier, "hash" },
        { NID_authority_key_identifier, x == issuer ? NULL : "keyid:always" },
    };
    X509V3_CTX context;
    bool ok = true;

    X509V3_set_ctx(&context, issuer, x, NULL, NULL, 0);
    for (size_t i = 0; i < ARRAY_LEN(rows) && ok; i++) {
        X509_EXTENSION *ext;

        if (!rows[i].value)
            continue;
        ext = X509V3_EXT_conf_nid(NULL, &context, rows[i].nid, rows[i].value);
        ok = ext && X509_add_ext(x, ext, -1) == 1;
        X509_EXTENSION_free(ext);
    }
    return ok;
}

static bool set_serial(X509 *x)
{
    unsigned char bytes[SERIAL_BYTES];
    BIGNUM *number;
    bool ok;

    sys_random(bytes, sizeof(bytes));
    bytes[0] = (bytes[0] & 0x3f) | 0x40; /* positive, and always of the same length */
    number = BN_bin2bn(bytes, sizeof(bytes), NULL);
    ok = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x));
    BN_free(number);
    return ok;
}

static int cert_fill(X509 *x, X509 *issuer, const struct cert_plan *plan,
                     const struct cert_key *subject, struct err *err)
{
    const unsigned char *name = (const unsigned char *)plan->name;

    if (roles[plan->role].has_names && add_names(x, plan->names, err))
        return -1;
    if (X509_set_version(x, X509_VERSION_3) != 1 || !set_serial(x) ||
        !ASN1_TIME_adj(X509_getm_notBefore(x), plan->from_ms / 1000, 0, 0) ||
        !ASN1_TIME_adj(X509_getm_notAfter(x), plan->until_ms / 1000, 0, 0) ||
        X509_NAME_add_entry_by_NID(X509_get_subject_name(x), NID_commonName, MBSTRING_UTF8, name,
                                   -1, -1, 0) != 1 ||
        X509_set_issuer_name(x, X509_get_subject_name(issuer)) != 1 ||
        X509_set_pubkey(x, subject->pkey) != 1 || !add_extensions(x, issuer, plan->role))
        return fail_made(err);
    return 0;
}

static int sign(X509 *x, const struct cert_key *by, struct buf *to, struct err *err)
{
    BIO *bio;

    if (X509_sign(x, by->pkey, EVP_sha256()) == 0)
        return fail_made(err);
    bio = bio_new();
    if (PEM_write_bio_X509(bio, x) != 1)
        abort();
    take_text(bio, to);
    return 0;
}

static int check_plan(const struct cert_plan *plan, struct err *err)
{
    const char *wrong = plan->role == CERT_AGENT ? cert_check_agent_id(plan->name) : NULL;

    if (wrong)
        return err_set(err, ERR_INVALID, "agent id: %s", wrong);
    if (plan->from_ms >= plan->until_ms)
        return err_set(err, ERR_INVALID, "certificate: it would end before it begins");
    return 0;
}

int cert_issue(const struct cert_plan *plan, const struct cert_key *subject,
               const struct cert_issuer *by, struct buf *to, struct err *err)
{
    X509 *x, *issuer = NULL;
    int bad;

    ERR_clear_error();
    if (check_plan(plan, err) || (by && read_x509(by->pem, &issuer, err)))
        return -1;
    x = X509_new();
    if (!x)
        abort();
    bad = cert_fill(x, by ? issuer : x, plan, subject, err) ||
          sign(x, by ? by->key : subject, to, err);
    X509_free(x);
    X509_free(issuer);
    return bad ? -1 : 0;
}

int cert_check_signed(const char *pem, const struct cert_key *by, struct err *err)
{
    X509 *x;
    bool ok;

    if (read_x509(pem, &x, err))
        return -1;
    ok = X509_verify(x, by->pkey) == 1;
    X509_free(x);
    return ok ? 0 : err_set(err, ERR_INVALID, "certificate: not signed by this key");
}

int cert_check_issued(const char *pem, const char *ca_pem, struct err *err)
{
    struct cert_key ca;
    X509 *x;
    int bad;

    if (read_x509(ca_pem, &x, err))
        return err_wrap(err, "CA");
    ca.pkey = X509_get0_pubkey(x);
    bad = ca.pkey ? cert_check_signed(pem, &ca, err)
                  : err_set(err, ERR_INVALID, "CA: a key of an unknown kind");
    X509_free(x);
    return bad;
}
