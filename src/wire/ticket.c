/* SPDX-License-Identifier: MIT */
/* ticket.c - see ticket.h.
 *
 * The file has a line for each key, newest first: when it was made, in hex
 * milliseconds, and its 80 bytes. */
#include "wire/ticket.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hex.h"
#include "base/sys.h"

enum {
    BYTES = sizeof(((struct ticket_key *)0)->bytes),
    MADE_DIGITS = 16,
    LINE = MADE_DIGITS + 1 + 2 * BYTES + 1, /* with the space and the newline */
    FILE_MAX = TICKET_KEYS_MAX * LINE,
    DAY_MS = 24 * 3600 * 1000,
};

static bool read_line(char line[LINE], struct ticket_key *to)
{
    unsigned char made[MADE_DIGITS / 2];

    if (line[MADE_DIGITS] != ' ' || line[LINE - 1] != '\n')
        return false;
    line[MADE_DIGITS] = line[LINE - 1] = '\0';
    if (!hex_read(line, made, sizeof(made)) || made[0] & 0x80 ||
        !hex_read(line + MADE_DIGITS + 1, to->bytes, BYTES))
        return false;
    to->made_ms = 0;
    for (size_t i = 0; i < sizeof(made); i++)
        to->made_ms = to->made_ms << 8 | made[i];
    return true;
}

static int read_keys(const char *path, struct tickets *ret, struct err *err)
{
    struct buf text = { 0 };
    struct tickets t = { 0 };
    bool ok;

    if (file_read_secret(path, FILE_MAX, &text, err))
        return -1;
    ok = text.len > 0 && text.len % LINE == 0;
    for (; ok && t.n < text.len / LINE; t.n++)
        ok = read_line(buf_data(&text) + t.n * LINE, &t.keys[t.n]);
    file_wipe(&text);
    if (!ok)
        return err_set(err, ERR_MALFORMED,
                       "%s: damaged; without it every client needs a full handshake, once", path);
    *ret = t;
    return 0;
}

static int write_keys(const char *path, const struct tickets *t, struct err *err)
{
    struct buf text = { 0 };
    int bad;

    (void)buf_reserve(&text, FILE_MAX + 1); /* all at once, so that nothing is copied about */
    for (size_t i = 0; i < t->n; i++) {
        char hex[HEX_SIZE(BYTES)];

        hex_write(t->keys[i].bytes, BYTES, hex);
        buf_printf(&text, "%016llx %s\n", (unsigned long long)t->keys[i].made_ms, hex);
        explicit_bzero(hex, sizeof(hex));
    }
    bad = file_replace(path, 0600, buf_data(&text), text.len, err);
    file_wipe(&text);
    return bad;
}

/* A clock that was set back makes a key sooner, never later. */
static bool is_due(const struct tickets *t, int64_t now_ms)
{
    return t->n == 0 || now_ms < t->keys[0].made_ms || now_ms - t->keys[0].made_ms >= DAY_MS;
}

static void add_key(struct tickets *t, int64_t now_ms)
{
    if (t->n == TICKET_KEYS_MAX)
        t->n--;
    memmove(t->keys + 1, t->keys, t->n * sizeof(t->keys[0]));
    t->n++;
    t->keys[0].made_ms = now_ms;
    sys_random(t->keys[0].bytes, BYTES);
}

/* When a key comes, those go that can open no living ticket any more: one sealed
 * until the next was made, which is at least a day after itself. */
static void drop_old(struct tickets *t, int64_t now_ms)
{
    while (t->n > 1 && now_ms - t->keys[t->n - 2].made_ms > TICKET_LIFE_S * INT64_C(1000))
        t->n--;
}

int tickets_keep(const char *path, int64_t now_ms, struct tickets *ret, struct err *err)
{
    struct tickets t = { 0 };
    struct err why = { 0 };

    if (read_keys(path, &t, &why) && why.sys != ENOENT) {
        *err = why;
        return -1;
    }
    if (is_due(&t, now_ms)) {
        add_key(&t, now_ms);
        drop_old(&t, now_ms);
        if (write_keys(path, &t, err))
            return -1;
    }
    *ret = t;
    return 0;
}
