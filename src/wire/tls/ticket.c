/* SPDX-License-Identifier: MIT */
/* ticket.c - see ticket.h.
 *
 * The file has a line for each key, newest first: its time of creation in hex milliseconds, and
 * its 80 bytes in hex. */
#include "wire/tls/ticket.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/file.h"
#include "base/os/sys.h"
#include "base/text/hex.h"

enum {
    BYTES = sizeof(((struct ticket_key *)0)->bytes),
    MADE_DIGITS = 16,
    LINE = MADE_DIGITS + 1 + 2 * BYTES + 1, /* with the space and the newline */
    FILE_MAX = TICKET_KEYS_MAX * LINE,
    DAY_MS = 24 * 3600 * 1000,
};

static bool ticket_read_line(char line[LINE], struct ticket_key *to)
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
        ok = ticket_read_line(buf_data(&text) + t.n * LINE, &t.keys[t.n]);
    file_wipe(&text);
    if (!ok)
        return err_set(err, ERR_MALFORMED, "%s: damaged, or of another version", path);
    *ret = t;
    return 0;
}

static int write_keys(const char *path, const struct tickets *t, struct err *err)
{
    struct buf text = { 0 };
    int bad;

    /* All at once, so that growing leaves no copies of the keys. */
    (void)buf_reserve(&text, FILE_MAX + 1);
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

/* If the clock was set back, a key is made earlier, never later. */
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

/* When a key is added, keys are removed that can open no valid ticket any more: a key seals
 * until the next one is made, at least a day later. */
static void drop_old(struct tickets *t, int64_t now_ms)
{
    while (t->n > 1 && now_ms - t->keys[t->n - 2].made_ms > TICKET_LIFE_S * INT64_C(1000))
        t->n--;
}

int tickets_keep(const char *path, int64_t now_ms, struct tickets *t, struct err *err)
{
    struct err unread = { 0 }, unwritten = { 0 };
    bool is_changed = read_keys(path, t, &unread) != 0;

    if (is_due(t, now_ms)) {
        add_key(t, now_ms);
        drop_old(t, now_ms);
        is_changed = true;
    }
    if (is_changed && write_keys(path, t, &unwritten)) {
        *err = unwritten;
        return -1;
    }
    if (unread.code == ERR_NONE || unread.sys == ENOENT)
        return 0;
    *err = unread;
    return -1;
}
