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
    char *path;    /* NULL: standard error */
    atomic_int fd; /* standard error's own, or one of ours */
    atomic_int level;
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
    if (l->fd != STDERR_FILENO)
        sys_close(l->fd);
    free(l->path);
    free(l);
}

/* sys_dup3 replaces the file under the same number in one step, so that a thread
 * in the middle of a line writes to the old file or the new, never to neither. */
static int put_in_place(struct log *l, int from, const char *path, struct err *err)
{
    if (sys_dup3(from, l->fd) < 0)
        return err_sys(err, "replace log file %s", path ? path : "by standard error");
    return 0;
}

static int switch_to(struct log *l, const char *path, struct err *err)
{
    int fd = STDERR_FILENO, result;

    if (!path && l->fd == STDERR_FILENO)
        return 0;
    if (path && open_file(path, &fd, err))
        return -1;
    if (l->fd == STDERR_FILENO) {
        l->fd = fd;
        return 0;
    }
    result = put_in_place(l, fd, path, err);
    if (path)
        sys_close(fd);
    return result;
}

int log_reopen(struct log *l, struct err *err)
{
    return l ? switch_to(l, l->path, err) : 0;
}

int log_set(struct log *l, const char *path, enum log_level level, struct err *err)
{
    char *copy;

    if (!l)
        return 0;
    if (switch_to(l, path, err))
        return -1;
    copy = path ? xstrdup(path) : NULL; /* it may be ours */
    free(l->path);
    l->path = copy;
    l->level = level;
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

    if (!l || level > (enum log_level)l->level)
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
