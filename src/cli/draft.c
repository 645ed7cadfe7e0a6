/* SPDX-License-Identifier: MIT */
/* draft.c - see draft.h. */
#include "cli/draft.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem/mem.h"
#include "base/text/utf8.h"

/* clang-format off */
const char *const draft_keys[] = {
    "name", "namespace", "command", "pre_start", "stop_command", "reload_command", "restart_command", "kill_command",
    "version_command", "health_command", "user", "program", "directory", "pid_file", "auto_type", "restart", "keep_trying", "schedule",
    "start_check_secs", "stop_check_secs", "start_retries", "start_interval", "op_timeout", "exit_codes",
    "stop_signal", "stop_wait", "ready", "environment", "env_file", "limits", "caps", "nice", "rlimits", "log_max_bytes",
    "priority", "after", "scope", NULL,
};
/* clang-format on */

enum draft_kind { DRAFT_ONE, DRAFT_PART, DRAFT_ITEM };

struct draft_entry {
    const char *key, *part;
    const char *text; /* NULL: a number */
    char number[32];  /* or a word that is none */
    enum draft_kind kind;
};

static struct draft_entry *draft_entries(const struct draft *d, size_t *ret_n)
{
    *ret_n = d->entries.len / sizeof(struct draft_entry);
    return (struct draft_entry *)(void *)buf_data(&d->entries);
}

static void draft_put(struct draft *d, const struct draft_entry *e)
{
    size_t n;
    struct draft_entry *all = draft_entries(d, &n);

    for (size_t i = 0; i < n && e->kind != DRAFT_ITEM; i++) {
        if (!strcmp(all[i].key, e->key) &&
            (e->kind == DRAFT_ONE || !strcmp(all[i].part, e->part))) {
            all[i] = *e;
            return;
        }
    }
    buf_add(&d->entries, e, sizeof(*e));
}

static void draft_put_number(struct draft *d, enum draft_kind kind, const char *key,
                             const char *part, int64_t number)
{
    struct draft_entry e = { .key = key, .part = part, .kind = kind };

    snprintf(e.number, sizeof(e.number), "%lld", (long long)number);
    draft_put(d, &e);
}

void draft_text(struct draft *d, const char *key, const char *text)
{
    draft_put(d, &(struct draft_entry){ .key = key, .text = text, .kind = DRAFT_ONE });
}

void draft_number(struct draft *d, const char *key, int64_t number)
{
    draft_put_number(d, DRAFT_ONE, key, "", number);
}

void draft_yes(struct draft *d, const char *key)
{
    draft_put(d, &(struct draft_entry){ .key = key, .number = "true", .kind = DRAFT_ONE });
}

void draft_part(struct draft *d, const char *key, const char *part, const char *text)
{
    draft_put(d,
              &(struct draft_entry){ .key = key, .part = part, .text = text, .kind = DRAFT_PART });
}

void draft_part_number(struct draft *d, const char *key, const char *part, int64_t number)
{
    draft_put_number(d, DRAFT_PART, key, part, number);
}

void draft_part_float(struct draft *d, const char *key, const char *part, double number)
{
    struct draft_entry e = { .key = key, .part = part, .kind = DRAFT_PART };

    snprintf(e.number, sizeof(e.number), "%.4g", number);
    draft_put(d, &e);
}

void draft_item(struct draft *d, const char *key, const char *text)
{
    draft_put(d, &(struct draft_entry){ .key = key, .text = text, .kind = DRAFT_ITEM });
}

void draft_item_number(struct draft *d, const char *key, int64_t number)
{
    draft_put_number(d, DRAFT_ITEM, key, "", number);
}

void draft_drop(struct draft *d, const char *key)
{
    size_t n, kept = 0;
    struct draft_entry *all = draft_entries(d, &n);

    for (size_t i = 0; i < n; i++) {
        if (strcmp(all[i].key, key) != 0)
            all[kept++] = all[i];
    }
    buf_truncate(&d->entries, kept * sizeof(*all));
}

const char *draft_find(const struct draft *d, const char *key)
{
    size_t n;
    const struct draft_entry *all = draft_entries(d, &n);

    for (size_t i = 0; i < n; i++) {
        if (!strcmp(all[i].key, key))
            return all[i].text;
    }
    return NULL;
}

void draft_free(struct draft *d)
{
    buf_free(&d->entries);
}

/* ---- YAML ---- */

static bool draft_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Of words that a reader of YAML takes for something else than a text. */
static bool draft_is_taken(const char *text)
{
    static const char *const words[] = {
        "null", "true", "false", "yes", "no", "on", "off", "y", "n"
    };

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (!strcasecmp(text, words[i]))
            return true;
    }
    return false;
}

/* A letter or a slash first, so that it is no number, date or sign; no ": " and no " #". */
static bool draft_is_plain(const char *text)
{
    bool is_relative = text[0] == '.' && text[1] == '/';

    if (!draft_is_letter(*text) && *text != '/' && *text != '_' && !is_relative)
        return false;
    for (const char *p = text; *p; p++) {
        if (!draft_is_letter(*p) && !(*p >= '0' && *p <= '9') && !strchr(" _./,+@%=-:;$()<>|&", *p))
            return false;
        if ((*p == ':' && (p[1] == ' ' || !p[1])) || (*p == ' ' && !p[1]))
            return false;
    }
    return !draft_is_taken(text);
}

/* Of characters that YAML takes for the end of a line, or that a file of YAML must not hold. */
static bool draft_is_special(uint32_t c)
{
    return c < 0x20 || c == '"' || c == '\\' || (c >= 0x7f && c <= 0xa0) || c == 0x2028 ||
           c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff;
}

static uint32_t draft_decode(const char *p, size_t n)
{
    static const unsigned char first[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
    uint32_t c = (unsigned char)p[0] & first[n];

    for (size_t i = 1; i < n; i++)
        c = c << 6 | ((unsigned char)p[i] & 0x3f);
    return c;
}

static void draft_quote_always(struct buf *out, const char *text)
{
    buf_addc(out, '"');
    for (size_t left = strlen(text); left;) {
        size_t n = utf8_char(text, left);
        uint32_t c = n ? draft_decode(text, n) : 0xfffd;

        if (!n)
            buf_puts(out, "\xef\xbf\xbd");
        else if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", (char)c);
        else if (draft_is_special(c))
            buf_printf(out, "\\u%04x", (unsigned)c);
        else
            buf_add(out, text, n);
        n += n == 0;
        text += n;
        left -= n;
    }
    buf_addc(out, '"');
}

void draft_quote(struct buf *out, const char *text)
{
    if (draft_is_plain(text))
        buf_puts(out, text);
    else
        draft_quote_always(out, text);
}

static void draft_write_value(const struct draft_entry *e, struct buf *out)
{
    if (e->text)
        draft_quote(out, e->text);
    else
        buf_puts(out, e->number);
}

/* YAML takes a key of more than 1,024 bytes only behind a question mark. */
static void draft_write_key(const char *key, const char *indent, struct buf *out)
{
    enum { PLAIN_MAX = 1000 };
    struct buf quoted = { 0 };

    draft_quote(&quoted, key);
    if (quoted.len > PLAIN_MAX)
        buf_printf(out, "\n%s  ? %s\n%s  : ", indent, buf_text(&quoted), indent);
    else
        buf_printf(out, "\n%s  %s: ", indent, buf_text(&quoted));
    buf_free(&quoted);
}

static void draft_write_map(const struct draft_entry *all, size_t n, const char *indent,
                            struct buf *out)
{
    const char *key = all[0].key;

    for (size_t i = 0; i < n; i++) {
        if (strcmp(all[i].key, key) != 0)
            continue;
        draft_write_key(all[i].part, indent, out);
        draft_write_value(&all[i], out);
    }
}

static void draft_write_list(const struct draft_entry *all, size_t n, struct buf *out)
{
    const char *key = all[0].key;

    buf_puts(out, " [");
    for (size_t i = 0; i < n; i++) {
        if (strcmp(all[i].key, key) != 0)
            continue;
        buf_puts(out, i ? ", " : "");
        if (all[i].text)
            draft_quote_always(out, all[i].text); /* a comma would end a plain one */
        else
            buf_puts(out, all[i].number);
    }
    buf_addc(out, ']');
}

void draft_write(const struct draft *d, const char *first, const char *indent, struct buf *out)
{
    size_t n, lines = 0;
    const struct draft_entry *all = draft_entries(d, &n);

    for (const char *const *key = draft_keys; *key; key++) {
        size_t i = 0;

        while (i < n && strcmp(all[i].key, *key) != 0)
            i++;
        if (i == n)
            continue;
        buf_printf(out, "%s%s:", lines++ ? indent : first, *key);
        switch (all[i].kind) {
        case DRAFT_ONE:
            buf_addc(out, ' ');
            draft_write_value(&all[i], out);
            break;
        case DRAFT_PART: draft_write_map(all + i, n - i, indent, out); break;
        case DRAFT_ITEM: draft_write_list(all + i, n - i, out); break;
        }
        buf_addc(out, '\n');
    }
}
