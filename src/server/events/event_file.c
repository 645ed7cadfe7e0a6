/* SPDX-License-Identifier: MIT */
/* event_file.c - see event_file.h. */
#include "server/events/event_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "server/events/event_bound.h"
#include "server/events/event_line.h"

enum {
    PAGE_ROWS = 500,
    AGAIN_MS = 1000, /* first retry after a failure, doubled each time ... */
    AGAIN_MAX_MS = 30 * 1000,
    MARK_MS = 1000, /* longest delay before a mark is stored */
};

struct event_file {
    struct loop *loop;
    struct log *log;
    struct store *store;
    char *path, *reader;
    struct event_bound *bound;
    int fd;         /* -1: there is no file */
    int64_t failed; /* failed writes since the last success */
    bool torn;      /* the file may end inside a line */

    int64_t mark;   /* seq of the last event in the file */
    int64_t last;   /* seq of the last stored event */
    int64_t stored; /* the mark in the store */
    int64_t again_ms;
    bool is_reading, is_marking, is_stopping;
    struct timer again, mark_timer;
};

/* ---- one line ---- */

/* Logs the first failure, then at each doubling of their number: a disk that stays full must not
 * fill the log too. */
static void count_failed(struct event_file *f, ssize_t put)
{
    struct err err = { 0 };

    if (put < 0)
        err_sys(&err, "write events file %s", f->path);
    else
        err_set(&err, ERR_UNAVAILABLE, "write events file %s: there was room for a part only",
                f->path);
    f->failed++;
    if ((f->failed & (f->failed - 1)) == 0)
        LOG(f->log, LOG_ERROR, "events can not be written to their file; they wait in the store",
            log_err(&err), log_int("failed", f->failed));
}

/* A newline in front is needed only after a truncated line. */
static bool append(struct event_file *f, struct buf *line)
{
    ssize_t put;

    if (!f->torn)
        buf_drop(line, 1);
    buf_addc(line, '\n');
    put = sys_write(f->fd, buf_data(line), line->len);
    if (put != (ssize_t)line->len) {
        f->torn = f->torn || put > 0;
        count_failed(f, put);
        return false;
    }
    f->torn = false;
    if (f->failed > 0)
        LOG(f->log, LOG_WARN, "events are written to their file again", log_str("file", f->path),
            log_int("failed", f->failed));
    f->failed = 0;
    return true;
}

/* One line, in English, for `count` events: those omitted since the previous line, and this one. */
static bool event_file_write_line(struct event_file *f, const struct event_row *row, int64_t count)
{
    struct event_row counted = *row;
    struct buf line = { 0 }, text = { 0 };
    bool is_written;

    buf_put_msg(&text, row->message, NULL, 0);
    if (count > 1)
        buf_printf(&text, " (%lld times since the line before)", (long long)count);
    counted.message = buf_text(&text);
    buf_addc(&line, '\n');
    event_line_write(&counted, &line);
    is_written = append(f, &line);
    buf_free(&line);
    buf_free(&text);
    return is_written;
}

static bool event_file_write_row(struct event_file *f, const struct event_row *row)
{
    int64_t count = event_line_has(row) ? event_bound_look(f->bound, row) : 0;

    if (count && !event_file_write_line(f, row, count))
        return false;
    event_bound_note(f->bound, row);
    f->mark = row->seq;
    return true;
}

/* Stops at the first event that cannot be written. */
static bool write_rows(struct event_file *f, const struct event_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!event_file_write_row(f, &rows[i]))
            return false;
    }
    return true;
}

/* ---- the mark ---- */

static void mark_soon(struct event_file *f)
{
    if (f->mark != f->stored && !f->is_marking && !f->mark_timer.place && !f->is_stopping)
        timer_set(f->loop, &f->mark_timer, MARK_MS);
}

static void on_marked(void *arg, struct store_call *c)
{
    struct event_file *f = arg;

    f->is_marking = false;
    if (!c->failed)
        f->stored = ((const struct event_mark_row *)c->in)->seq;
    mark_soon(f); /* a failure is reported where events are stored */
    store_call_free(c);
}

static void store_mark(void *arg)
{
    struct event_file *f = arg;
    struct store_call *c = store_call_new(&store_event_mark, on_marked, f);
    struct event_mark_row *row = arena_alloc(&c->arena, sizeof(*row));
    struct err err;

    *row = (struct event_mark_row){ f->reader, f->mark };
    c->in = row;
    if (store_submit(f->store, c, &err)) {
        store_call_free(c);
        mark_soon(f);
        return;
    }
    f->is_marking = true;
}

/* ---- catching up ---- */

static void read_on(struct event_file *f);

static void wait_again(struct event_file *f)
{
    if (!f->is_stopping)
        timer_set(f->loop, &f->again, f->again_ms);
    f->again_ms = 2 * f->again_ms < AGAIN_MAX_MS ? 2 * f->again_ms : AGAIN_MAX_MS;
}

static void take_page(struct event_file *f, const struct event_page_got *got)
{
    if (got->oldest > f->mark + 1) {
        LOG(f->log, LOG_ERROR, "events were forgotten before they could be written to their file",
            log_str("file", f->path), log_int("number", got->oldest - f->mark - 1));
        f->mark = got->oldest - 1;
    }
    if (!write_rows(f, got->rows.items, got->rows.n)) {
        wait_again(f);
        return;
    }
    f->mark = got->reached;
    f->again_ms = AGAIN_MS;
    mark_soon(f);
    if (f->mark < f->last)
        read_on(f);
}

static void event_file_on_page(void *arg, struct store_call *c)
{
    struct event_file *f = arg;

    f->is_reading = false;
    if (c->failed) {
        LOG(f->log, LOG_WARN, "events for the file can not be read; it is tried again",
            log_err(&c->err));
        wait_again(f);
    } else {
        take_page(f, c->out);
    }
    store_call_free(c);
}

/* Events beyond `last` are appended when they are stored; they are not read here. */
static void read_on(struct event_file *f)
{
    struct store_call *c;
    struct event_page_ask *ask;
    struct err err;

    if (f->fd < 0 || f->is_reading || f->is_stopping || f->mark >= f->last)
        return;
    c = store_call_new(&store_event_page, event_file_on_page, f);
    ask = arena_alloc(&c->arena, sizeof(*ask));
    *ask = (struct event_page_ask){ .above = f->mark,
                                    .below = f->last + 1,
                                    .agent_id = "",
                                    .space = "",
                                    .proc = "",
                                    .name = "",
                                    .limit = PAGE_ROWS };
    c->in = ask;
    f->is_reading = store_submit(f->store, c, &err) == 0;
    if (f->is_reading)
        return;
    store_call_free(c);
    wait_again(f);
}

static void event_file_on_again(void *arg)
{
    read_on(arg);
}

/* ---- public ---- */

/* Non-blocking, like the log: the path may be a pipe whose reader is slow. */
static int event_file_open_file(const char *path, int *ret_fd, struct err *err)
{
    int fd = sys_open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY | O_NONBLOCK, 0640);

    if (fd < 0)
        return err_sys(err, "open events file %s", path);
    *ret_fd = fd;
    return 0;
}

/* Whether the last line is incomplete: the disk was full, or the machine lost power. */
static bool is_torn(const char *path, int fd)
{
    struct stat st;
    char last = '\n';
    int in;

    if (sys_fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size == 0)
        return false;
    in = sys_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
    if (in < 0)
        return false;
    (void)sys_pread(in, &last, 1, st.st_size - 1); /* if that fails, the line counts as complete */
    sys_close(in);
    return last != '\n';
}

int event_file_new(struct loop *loop, struct log *log, struct store *store, const char *path,
                   const char *node, struct event_file **ret, struct err *err)
{
    struct event_file *f;
    int fd = -1;

    if (*path && event_file_open_file(path, &fd, err))
        return -1;
    f = xalloc(sizeof(*f));
    *f = (struct event_file){
        .loop = loop, .log = log, .store = store, .fd = fd, .again_ms = AGAIN_MS
    };
    f->torn = fd >= 0 && is_torn(path, fd);
    f->path = xstrdup(path);
    f->bound = event_bound_new();
    f->reader = xprintf("file:%s", node);
    timer_init(&f->again, event_file_on_again, f);
    timer_init(&f->mark_timer, store_mark, f);
    *ret = f;
    return 0;
}

void event_file_free(struct event_file *f)
{
    if (!f)
        return;
    if (f->fd >= 0 && f->mark < f->last)
        LOG(f->log, LOG_WARN, "the file of events is behind; it goes on at the next start",
            log_str("file", f->path), log_int("behind", f->last - f->mark));
    timer_stop(f->loop, &f->again);
    timer_stop(f->loop, &f->mark_timer);
    if (f->fd >= 0)
        sys_close(f->fd);
    event_bound_free(f->bound);
    free(f->path);
    free(f->reader);
    free(f);
}

int event_file_reopen(struct event_file *f, struct err *err)
{
    int fd = -1;

    if (f->fd < 0)
        return 0;
    if (event_file_open_file(f->path, &fd, err))
        return -1; /* the old file stays open */
    sys_close(f->fd);
    f->fd = fd;
    f->torn = is_torn(f->path, fd);
    timer_stop(f->loop, &f->again);
    read_on(f); /* if the file was behind: there may be room now */
    return 0;
}

const char *event_file_reader(const struct event_file *f)
{
    return f->reader;
}

/* A new file starts at the current event, without older ones; this mark is stored before the
 * first event.  Without a file there is no mark.  A mark beyond the last event belongs to another
 * database that this one replaced. */
void event_file_start(struct event_file *f, int64_t mark, int64_t last)
{
    f->last = last;
    f->stored = mark;
    f->mark = f->fd < 0 ? -1 : mark < 0 || mark > last ? last : mark;
    if (f->mark != f->stored)
        store_mark(f);
    read_on(f);
}

void event_file_put(struct event_file *f, const struct event_row *rows, size_t n)
{
    bool in_step = f->mark == f->last;

    if (f->fd < 0 || !n)
        return;
    f->last = rows[n - 1].seq;
    if (!in_step) {
        if (!f->again.place)
            read_on(f);
        return;
    }
    if (write_rows(f, rows, n))
        mark_soon(f);
    else
        wait_again(f);
}

bool event_file_stop(struct event_file *f)
{
    const struct event_mark_row row = { f->reader, f->mark };
    struct arena a = { 0 };
    struct err err;

    f->is_stopping = true;
    timer_stop(f->loop, &f->again);
    timer_stop(f->loop, &f->mark_timer);
    if (f->is_reading || f->is_marking)
        return false;
    if (f->fd < 0 || f->mark == f->stored)
        return true;
    if (store_sync(f->store, &store_event_mark, &row, &a, NULL, &err))
        LOG(f->log, LOG_WARN, "some events will stand in their file twice", log_err(&err));
    else
        f->stored = f->mark;
    arena_free(&a);
    return true;
}
