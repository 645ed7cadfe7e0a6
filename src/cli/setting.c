/* SPDX-License-Identifier: MIT */
/* setting.c - see setting.h. */
#include "cli/setting.h"

#include <string.h>

#include "base/text/utf8.h"

void setting_lines_begin(struct setting_lines *l, const char *file, const char *text, size_t n)
{
    static const char mark[] = "\xef\xbb\xbf";

    if (n >= 3 && !memcmp(text, mark, 3)) {
        text += 3;
        n -= 3;
    }
    *l = (struct setting_lines){ file, text, text + n, 0 };
}

int setting_fail(const char *file, size_t line, const char *why, struct err *err)
{
    return err_set(err, ERR_INVALID, "%s:%zu: %s", file, line, why);
}

int setting_lines_next(struct setting_lines *l, const char **ret, size_t *ret_n, struct err *err)
{
    size_t left = (size_t)(l->end - l->at), n;
    const char *newline = left ? memchr(l->at, '\n', left) : NULL;

    if (!left)
        return 0;
    l->line++;
    n = newline ? (size_t)(newline - l->at) : left;
    if (n > SETTING_LINE_MAX)
        return setting_fail(l->file, l->line, MSG("a line of more than 65536 bytes"), err);
    if (memchr(l->at, '\0', n))
        return setting_fail(l->file, l->line, MSG("a byte of zero"), err);
    if (utf8_valid(l->at, n) != n)
        return setting_fail(l->file, l->line, MSG("not UTF-8; save the file as UTF-8"), err);
    *ret = l->at;
    l->at += n + (newline != NULL);
    while (n && strchr(" \t\r", (*ret)[n - 1]))
        n--;
    *ret_n = n;
    return 1;
}

int setting_add(struct buf *all, const struct setting *s, struct err *err)
{
    if (all->len / sizeof(*s) >= SETTINGS_MAX)
        return setting_fail(s->file, s->line, MSG("more than 20000 settings"), err);
    buf_add(all, s, sizeof(*s));
    return 0;
}

void setting_list(struct buf *all, struct arena *a, struct list *ret)
{
    ret->n = all->len / sizeof(struct setting);
    ret->items = arena_alloc(a, all->len + 1);
    if (all->len)
        memcpy(ret->items, buf_data(all), all->len);
    buf_free(all);
}

const struct setting *setting_find(const struct list *all, const char *section, const char *key)
{
    const struct setting *s = all->items;

    for (size_t i = all->n; i-- > 0;) {
        if (!strcmp(s[i].key, key) && !strcmp(s[i].section, section))
            return &s[i];
    }
    return NULL;
}
