/* SPDX-License-Identifier: MIT */
/* log.c - see log.h. */
#include "base/io/log.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"

struct log {
    char *path;    /* NULL: standard error */
    atomic_int fd; /* 2, or a descriptor that we opened */
    atomic_int level;
    const struct clock *clock;
    atomic_long lost;
    atomic_bool torn; /* the file may end in the middle of a line */
};

static const char *const levels[LOG_LEVELS] = { "error", "warn", "info", "debug" };

const char *log_level_name(enum log_level level)
{
    return levels[level];
}

/* Opens without blocking, because the path may name a pipe.  Without a reader the open fails,
 * and a line that does not fit into the pipe is lost, but no thread ever waits for the reader. */
static int log_open_file(const char *path, int *ret_fd, struct err *err)
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

    if (path && log_open_file(path, &fd, err))
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

/* sys_dup3() replaces the file behind the descriptor in one step: a thread that is writing a
 * line writes it to the old file or to the new one. */
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
    if (path && log_open_file(path, &fd, err))
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
    copy = path ? xstrdup(path) : NULL; /* path may be l->path, which is freed below */
    free(l->path);
    l->path = copy;
    l->level = level;
    return 0;
}

static void put_english(struct buf *b, const char *text)
{
    struct buf english = { 0 };

    if (!msg_is(text)) {
        buf_quote(b, text, strlen(text));
        return;
    }
    buf_put_msg(&english, text, NULL, 0);
    buf_quote(b, buf_text(&english), english.len);
    buf_free(&english);
}

static void put_member(struct buf *b, char before, const char *key, const char *text,
                       int64_t number)
{
    buf_addc(b, before);
    buf_quote(b, key, strlen(key));
    buf_addc(b, ':');
    if (text)
        put_english(b, text);
    else
        buf_put_int(b, number);
}

/* The line starts with a newline.  It is written only if the previous line was cut short:
 * otherwise the two would form one line that no reader can parse. */
static void log_write_line(struct log *l, struct buf *b, long lost)
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
    log_write_line(l, &b, lost);
    buf_free(&b);
}
