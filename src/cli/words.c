/* SPDX-License-Identifier: MIT */
/* words.c - see words.h. */
#include "cli/words.h"

#include <string.h>

#include "cli/options.h"

struct splitter {
    const char *at;
    enum words_kind kind;
    struct buf word;
};

static bool words_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* At a backslash. */
static int words_take_escape(struct splitter *s, char quote, struct err *err)
{
    static const char from[] = "abfnrtvs\\\"'", to[] = "\a\b\f\n\r\t\v \\\"'";
    const char *found;
    char c = s->at[1];

    if (!c)
        return err_set(err, ERR_INVALID, "%s", MSG("a backslash at the end"));
    s->at += 2;
    if (s->kind == WORDS_SYSTEMD) {
        found = strchr(from, c);
        if (!found)
            buf_addc(&s->word, '\\');
        buf_addc(&s->word, found ? to[found - from] : c);
        return 0;
    }
    if (quote == '"' && c != '"' && c != '\\')
        buf_addc(&s->word, '\\');
    buf_addc(&s->word, c);
    return 0;
}

/* At the opening quote. */
static int words_take_quoted(struct splitter *s, struct err *err)
{
    char quote = *s->at++;

    while (*s->at && *s->at != quote) {
        if (*s->at == '\\' && (quote == '"' || s->kind == WORDS_SYSTEMD)) {
            if (words_take_escape(s, quote, err))
                return -1;
        } else {
            buf_addc(&s->word, *s->at++);
        }
    }
    if (!*s->at)
        return err_set(err, ERR_INVALID, "%s", MSG("a quote that is not closed"));
    s->at++;
    return 0;
}

static int words_take_word(struct splitter *s, struct err *err)
{
    buf_truncate(&s->word, 0);
    while (*s->at && !words_is_blank(*s->at)) {
        int bad = 0;

        if (*s->at == '\\')
            bad = words_take_escape(s, 0, err);
        else if (*s->at == '"' || *s->at == '\'')
            bad = words_take_quoted(s, err);
        else
            buf_addc(&s->word, *s->at++);
        if (bad)
            return -1;
    }
    return 0;
}

int words_split(const char *text, enum words_kind kind, struct arena *a, struct list *ret,
                struct err *err)
{
    struct splitter s = { text, kind, { 0 } };
    struct word *words = arena_alloc(a, WORDS_MAX * sizeof(*words));
    size_t n = 0;
    int bad = 0;

    for (;;) {
        while (words_is_blank(*s.at))
            s.at++;
        if (!*s.at)
            break;
        bad = n == WORDS_MAX ? err_set(err, ERR_LIMIT, "%s", MSG("more than 1000 words"))
                             : words_take_word(&s, err);
        if (bad)
            break;
        words[n++].text = arena_memdup(a, buf_data(&s.word), s.word.len);
    }
    buf_free(&s.word);
    if (!bad)
        *ret = (struct list){ words, n };
    return bad;
}

/* ---- writing ---- */

/* The same characters as of agent/exec/command.h: a line of them is run without a shell. */
bool words_is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_@%+:,./-=";

    return *word && !word[strspn(word, plain)];
}

static bool words_is_name(const char *p, size_t n)
{
    return n && strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") >= n &&
           !(*p >= '0' && *p <= '9');
}

/* Bytes of ${X} at p; 0: it is none. */
static size_t words_variable(const char *p)
{
    const char *end = p[0] == '$' && p[1] == '{' ? strchr(p, '}') : NULL;

    return end && words_is_name(p + 2, (size_t)(end - p - 2)) ? (size_t)(end - p + 1) : 0;
}

static void words_put_expanded(struct buf *b, const char *word)
{
    if (*word == '$' && words_is_name(word + 1, strlen(word + 1))) {
        buf_puts(b, word); /* split at blanks by systemd and by the shell */
        return;
    }
    buf_addc(b, '"');
    while (*word) {
        size_t n = words_variable(word);

        if (n) {
            buf_add(b, word, n);
            word += n;
            continue;
        }
        if (strchr("$`\"\\", *word))
            buf_addc(b, '\\');
        buf_addc(b, *word);
        word += 1 + (word[0] == '$' && word[1] == '$');
    }
    buf_addc(b, '"');
}

void words_put(struct buf *b, const char *word, bool has_variables)
{
    if (words_is_plain(word)) {
        buf_puts(b, word);
    } else if (has_variables && strchr(word, '$')) {
        words_put_expanded(b, word);
    } else {
        buf_addc(b, '\'');
        for (; *word; word++) {
            if (*word == '\'')
                buf_puts(b, "'\\''");
            else
                buf_addc(b, *word);
        }
        buf_addc(b, '\'');
    }
}
