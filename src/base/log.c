/* SPDX-License-Identifier: MIT */
/* log.c - see log.h. */
#include "base/log.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"

struct log {
    char *path; /* NULL: standard error */
    int fd;
    enum log_level level;
    const struct clock *clock;
    atomic_long lost;
    atomic_bool torn; /* the file may end inside a line */
};

static const char *const levels[LOG_LEVELS] = { "error", "warn", "info", "debug" };

const char *log_level_name(enum log_level level)
{
    return levels[level];
}

/* Not blocking, for a path may name a pipe: without a reader it cannot be opened
 * then, and what it has no room for is lost, but nobody waits. */
static int open_file(const char *path, int *ret_fd, struct err *err)
{
    int fd = sys_open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY | O_NONBLOCK, 0640);

    if (fd < 0)
        return err_sys(err, "open log file %s", path);
    *ret_fd = fd;
    return 0;
}

int log_new(const char *path, enum log_level level, const struct clock *clock, struct log **ret,
            struct err *err)
{
    struct log *l;
    int fd = STDERR_FILENO;

    if (path && open_file(path, &fd, err))
        return -1;
    l = xalloc(sizeof(*l));
    l->path = path ? xstrdup(path) : NULL;
    l->fd = fd;
    l->level = level;
    l->clock = clock;
    *ret = l;
    return 0;
}

void log_free(struct log *l)
{
    if (!l)
        return;
    if (l->path)
        sys_close(l->fd);
    free(l->path);
    free(l);
}

/* sys_dup3 replaces the file under the same number in one step, so that a thread
 * in the middle of a line writes to the old file or the new, never to neither. */
int log_reopen(struct log *l, struct err *err)
{
    int fd = -1;

    if (!l || !l->path)
        return 0;
    if (open_file(l->path, &fd, err))
        return -1;
    if (sys_dup3(fd, l->fd) < 0) {
        err_sys(err, "replace log file %s", l->path);
        sys_close(fd);
        return -1;
    }
    sys_close(fd);
    return 0;
}

static void put_member(struct buf *b, char before, const char *key, const char *text,
                       int64_t number)
{
    buf_addc(b, before);
    buf_quote(b, key, strlen(key));
    buf_addc(b, ':');
    if (text)
        buf_quote(b, text, strlen(text));
    else
        buf_put_int(b, number);
}

/* The line comes with a newline in front, which is needed only if the one
 * before was cut short: the two would be one line, and neither could be read. */
static void write_line(struct log *l, struct buf *b, long lost)
{
    bool torn = atomic_exchange(&l->torn, false);
    ssize_t put;

    if (!torn)
        buf_drop(b, 1);
    put = sys_write(l->fd, buf_data(b), b->len);
    if (put == (ssize_t)b->len)
        return;
    atomic_fetch_add(&l->lost, lost + 1);
    if (torn || put > 0)
        atomic_store(&l->torn, true);
}

void log_line(struct log *l, enum log_level level, const char *text, const struct log_field *fields)
{
    struct buf b = { 0 };
    char when[TIME_TEXT_SIZE];
    long lost;

    if (!l || level > l->level)
        return;
    time_iso(clock_wall_ms(l->clock), when);
    buf_addc(&b, '\n');
    put_member(&b, '{', "time", when, 0);
    put_member(&b, ',', "level", levels[level], 0);
    put_member(&b, ',', "text", text, 0);
    for (; fields->key; fields++)
        put_member(&b, ',', fields->key, fields->text, fields->number);
    lost = atomic_exchange(&l->lost, 0);
    if (lost)
        put_member(&b, ',', "lines_lost_before", NULL, lost);
    buf_puts(&b, "}\n");
    write_line(l, &b, lost);
    buf_free(&b);
}
