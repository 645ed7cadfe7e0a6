/* SPDX-License-Identifier: MIT */
/* seal.c - see seal.h.  Format of a sealed text: "v1:" and base64url of nonce, ciphertext and
 * tag. */
#include "wire/tls/seal.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/file.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/text/base64.h"

enum { KEY = 32, NONCE = 12, TAG = 16, TEXT_MAX = 4096, FILE_MAX = 256 };

static const char scheme[] = "v1:";

struct seal {
    unsigned char key[KEY];
};

/* ---- the key file ---- */

/* One line of base64url; an editor may have added blanks behind it. */
static int seal_load(struct seal *s, const char *path, struct err *err)
{
    struct buf text = { 0 };
    bool good;

    if (file_read_secret(path, FILE_MAX, &text, err))
        return -1;
    while (text.len && strchr(" \r\n", buf_data(&text)[text.len - 1]))
        buf_truncate(&text, text.len - 1);
    good = base64_read(buf_text(&text), s->key, KEY);
    file_wipe(&text);
    return good ? 0 : err_set(err, ERR_MALFORMED, "%s: not a key of ours; restore it", path);
}

static int seal_make(const char *path, struct err *err)
{
    unsigned char key[KEY];
    char text[BASE64_SIZE(KEY) + 1];
    int bad;

    sys_random(key, sizeof(key));
    base64_write(key, sizeof(key), text);
    memcpy(text + BASE64_SIZE(KEY) - 1, "\n", 2);
    bad = file_create(path, 0600, text, BASE64_SIZE(KEY), err);
    explicit_bzero(key, sizeof(key));
    explicit_bzero(text, sizeof(text));
    return bad;
}

/* If another process created the file first, that one is loaded. */
static int load_or_make(struct seal *s, const char *path, struct err *err)
{
    struct err why = { 0 };

    if (seal_load(s, path, &why) == 0)
        return 0;
    if (why.sys == ENOENT && (seal_make(path, &why) == 0 || why.code == ERR_CONFLICT))
        return seal_load(s, path, err);
    *err = why;
    return -1;
}

int seal_open(const char *dir, struct seal **ret, struct err *err)
{
    struct seal *s = xalloc(sizeof(*s));
    char *path = xprintf("%s/seal.key", dir);
    int bad = load_or_make(s, path, err);

    free(path);
    if (bad) {
        seal_free(s);
        return err_wrap(err, "key of sealed secrets");
    }
    *ret = s;
    return 0;
}

void seal_free(struct seal *s)
{
    if (s)
        explicit_bzero(s, sizeof(*s));
    free(s);
}

/* ---- sealing ---- */

/* Encryption and decryption take the same steps; false: the tag is wrong, or out of memory. */
static bool run_cipher(const struct seal *s, bool encrypt, const unsigned char nonce[NONCE],
                       const char *about, const unsigned char *from, size_t n, unsigned char *to,
                       unsigned char tag[TAG])
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int part = 0, last = 0;
    bool good = ctx && EVP_CipherInit_ex(ctx, EVP_aes_256_gcm(), NULL, s->key, nonce, encrypt) == 1;

    good = good &&
           EVP_CipherUpdate(ctx, NULL, &part, (const void *)about, (int)strlen(about)) == 1 &&
           EVP_CipherUpdate(ctx, to, &part, from, (int)n) == 1;
    if (good && !encrypt)
        good = EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG, TAG, tag) == 1;
    good = good && EVP_CipherFinal_ex(ctx, to + part, &last) == 1;
    if (good && encrypt)
        good = EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, TAG, tag) == 1;
    EVP_CIPHER_CTX_free(ctx);
    return good;
}

const char *seal_text(const struct seal *s, const char *about, const char *text, struct arena *a)
{
    size_t n = strlen(text), whole = NONCE + n + TAG;
    unsigned char *bytes = (unsigned char *)arena_bytes(a, whole);
    char *to = arena_bytes(a, sizeof(scheme) - 1 + BASE64_SIZE(whole));

    sys_random(bytes, NONCE);
    if (!run_cipher(s, true, bytes, about, (const unsigned char *)text, n, bytes + NONCE,
                    bytes + NONCE + n))
        abort(); /* out of memory: there is no other way to fail */
    memcpy(to, scheme, sizeof(scheme) - 1);
    base64_write(bytes, whole, to + sizeof(scheme) - 1);
    return to;
}

int seal_read(const struct seal *s, const char *about, const char *sealed, struct arena *a,
              char **ret, struct err *err)
{
    size_t n = strlen(sealed), whole;
    unsigned char *bytes;
    char *text;

    if (strncmp(sealed, scheme, sizeof(scheme) - 1) != 0 || n > TEXT_MAX)
        return err_set(err, ERR_MALFORMED, "not a sealed text");
    whole = (n - (sizeof(scheme) - 1)) * 3 / 4;
    bytes = (unsigned char *)arena_bytes(a, whole + 1);
    if (whole < NONCE + TAG || !base64_read(sealed + sizeof(scheme) - 1, bytes, whole))
        return err_set(err, ERR_MALFORMED, "not a sealed text");
    n = whole - NONCE - TAG;
    text = arena_bytes(a, n + 1);
    if (!run_cipher(s, false, bytes, about, bytes + NONCE, n, (unsigned char *)text,
                    bytes + NONCE + n))
        return err_set(err, ERR_DENIED,
                       "sealed with another key, or for another; was seal.key replaced?");
    text[n] = '\0';
    *ret = text;
    return 0;
}
