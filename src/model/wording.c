/* SPDX-License-Identifier: MIT */
/* wording.c - see wording.h. */
#include "model/wording.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "model/phrase.h"

enum { PLACES = 4, PLACE_SIZE = 3 /* bytes of "{0}" */ };

struct piece {
    const char *p;
    size_t n;
};

/* clang-format off */
/* Places stand in their order in English.  One that fits all that another does comes after it. */
static const struct {
    const char *text[LANGS];
} wordings[] = {
    { { "no such host, or it has not joined", "没有这台主机，或其 Agent 尚未加入" } },
    { { "no such host", "没有这台主机" } },
    { { "no such agent", "没有这个 Agent" } },
    { { "the host is in a business that the app may not use", "主机所属的业务不在应用的权限范围内" } },
    { { "the host is not in business set {0}", "主机不在业务集 {0} 中" } },
    { { "the host is not in business {0}", "主机不在业务 {0} 中" } },
    { { "the host does not know how to run this process: send a spec", "主机上没有该进程的运行信息：请提供 spec" } },
    { { "op_type {0}: no such operation", "op_type {0}：没有这种操作" } },
    { { "the agent did not answer before the deadline", "Agent 未在期限内返回结果" } },
    { { "cancelled before it was sent to the agent", "下发到 Agent 之前已取消" } },
    { { "cancelled before it was begun", "开始执行之前已取消" } },
    { { "task {0}: no such task, or it has expired", "任务 {0} 不存在或已过期" } },
    { { "{0}: business set {1} does not exist", "{0}：业务集 {1} 不存在" } },
    { { "{0}: business {1} does not exist", "{0}：业务 {1} 不存在" } },
    { { "{0}: the app may not use namespace {1}", "{0}：应用无权使用命名空间 {1}" } },
    { { "{0}: the app may not use business set {1}", "{0}：应用无权使用业务集 {1}" } },
    { { "{0}: the app may not use business {1}", "{0}：应用无权使用业务 {1}" } },
    { { "{0}: app {1} may not {2}; it may: {3}", "{0}：应用 {1} 不能执行 {2}；可执行：{3}" } },
    { { "app {0} may not {1}; it may: {2}", "应用 {0} 不能执行 {1}；可执行：{2}" } },
    { { "app {0} may not {1}, and it is another's task", "应用 {0} 不能执行 {1}，且任务属于其他应用" } },
};
/* clang-format on */

/* What stands between two places, or up to the end. */
static size_t literal_bytes(const char *pattern)
{
    const char *next = strchr(pattern, '{');

    return next ? (size_t)(next - pattern) : strlen(pattern);
}

/* The next place of these bytes; the last of a pattern must stand at the end of the text. */
static const char *find(const char *text, const char *literal, size_t n, bool is_last)
{
    size_t length = strlen(text);

    if (is_last)
        return length >= n && !memcmp(text + length - n, literal, n) ? text + length - n : NULL;
    return memmem(text, length, literal, n);
}

static bool fits(const char *pattern, const char *text, struct piece places[PLACES])
{
    size_t n = literal_bytes(pattern);

    if (strncmp(pattern, text, n) != 0)
        return false;
    text += n;
    for (pattern += n; *pattern; places++) {
        const char *end;

        pattern += PLACE_SIZE;
        n = literal_bytes(pattern);
        end = find(text, pattern, n, !pattern[n]);
        if (!end)
            return false;
        *places = (struct piece){ text, (size_t)(end - text) };
        text = end + n;
        pattern += n;
    }
    return !*text;
}

static void fill(struct buf *to, const char *pattern, const struct piece places[PLACES])
{
    struct arena a = { 0 };
    const char *args[PLACES + 1] = { 0 };

    for (size_t i = 0; i < PLACES && places[i].p; i++)
        args[i] = arena_memdup(&a, places[i].p, places[i].n);
    phrase_put(to, pattern, args);
    arena_free(&a);
}

/* The words for it, with places to fill; NULL: it has none. */
static const char *choose(const char *english, enum lang lang, struct piece places[PLACES])
{
    for (const struct code_info *c = code_table; c->name; c++) {
        if (!strcmp(c->text[LANG_EN], english))
            return c->text[lang];
    }
    for (size_t i = 0; i < ARRAY_LEN(wordings); i++) {
        memset(places, 0, PLACES * sizeof(*places));
        if (fits(wordings[i].text[LANG_EN], english, places))
            return wordings[i].text[lang];
    }
    return NULL;
}

void wording_put(struct buf *to, const char *english, enum lang lang)
{
    struct piece places[PLACES] = { 0 };
    const char *words = lang == LANG_EN ? NULL : choose(english, lang, places);

    if (words)
        fill(to, words, places);
    else
        buf_puts(to, english);
}

const char *wording_in(const char *english, enum lang lang, struct arena *a)
{
    struct piece places[PLACES] = { 0 };
    const char *words = lang == LANG_EN ? NULL : choose(english, lang, places);
    struct buf b = { 0 };

    if (!words)
        return english;
    fill(&b, words, places);
    words = arena_strdup(a, buf_text(&b));
    buf_free(&b);
    return words;
}
