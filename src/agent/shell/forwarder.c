/* SPDX-License-Identifier: MIT */
/* forwarder.c - see forwarder.h. */
#include "agent/shell/forwarder.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

#include "agent/exec/outlog_read.h"
#include "agent/shell/forward_sink.h"
#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/sys_old.h"
#include "base/os/time.h"
#include "base/text/utf8.h"

enum {
    PIECE_BYTES = 64 * 1024, /* of a read */
    LINE_BYTES = 8192,       /* a longer line is sent in parts */
    NEWS_MS = 10,            /* delay between event and look, so that many are handled together */
    FULL_MS = 20,            /* between attempts while the socket is full */
    MISSING_MS = 250,        /* and while it is missing */
    BLIND_MS = 1000,         /* between looks without inotify */
    PID_MS = 2000,           /* that lines wait for a pid */
    SECOND_MS = 1000,
};

enum { DONE_MS = -1 }; /* nothing to wait for but news */

struct how {
    enum proc_output kind;
    int64_t pid, hold_ms; /* lines wait until then for the pid */
};

struct follow {
    char *tag, *process;

    /* Protected by the lock of the forwarder. */
    struct how set;
    uint64_t turn; /* of the pid */
    bool is_dirty, is_removed;

    /* Used by the thread only. */
    struct how now;        /* a copy of `set` */
    uint64_t at;           /* position of the next byte to read */
    struct buf part;       /* read, and not sent yet */
    size_t sent;           /* bytes at its front that are sent */
    bool is_cut;           /* the next line has lost its front */
    int64_t window_ms;     /* begin of the current second */
    uint64_t lines, bytes; /* sent in it */
    uint64_t lost_lines, lost_bytes;
    char name[OUTLOG_NAME_SIZE];
};

struct forwarder {
    struct outlog *o;
    char *path;
    struct forward_options options;

    /* Used by the thread only. */
    struct forward_sink sinks[2];
    struct buf datagram;
    int news; /* inotify; -1: none */

    int wake;             /* eventfd; -1: there is no thread */
    pthread_mutex_t lock; /* protects the following members */
    pthread_cond_t on_end;
    struct map follows; /* struct follow, by name */
    bool is_running, is_closing;
};

static int64_t forward_now_ms(void)
{
    return clock_mono_ms(&clock_system);
}

/* ---- one line */

static struct forward_sink *sink_of(struct forwarder *f, enum proc_output kind)
{
    return &f->sinks[kind == OUTPUT_JOURNAL];
}

static enum forward_result send_text(struct forwarder *f, const struct follow *w, const char *text,
                                     size_t n)
{
    const struct forward_source from = { w->tag, w->process, w->now.pid };

    forward_write(w->now.kind, &from, clock_wall_ms(&clock_system) / 1000, text, n, &f->datagram);
    return forward_sink_send(sink_of(f, w->now.kind), &f->datagram, forward_now_ms());
}

static int64_t later_ms(struct forwarder *f, const struct follow *w)
{
    return sink_of(f, w->now.kind)->fd < 0 ? MISSING_MS : FULL_MS;
}

static bool is_used_up(const struct forwarder *f, const struct follow *w)
{
    return w->lines >= f->options.lines_per_s || w->bytes >= f->options.bytes_per_s;
}

/* False: not now. */
static bool send_loss(struct forwarder *f, struct follow *w)
{
    char text[128];

    if (w->lost_lines) {
        snprintf(text, sizeof(text), "%llu lines were not forwarded",
                 (unsigned long long)w->lost_lines);
        if (send_text(f, w, text, strlen(text)) == FORWARD_LATER)
            return false;
        w->lost_lines = 0;
        w->lines++;
    }
    if (w->lost_bytes) {
        snprintf(text, sizeof(text), "%llu bytes were not forwarded",
                 (unsigned long long)w->lost_bytes);
        if (send_text(f, w, text, strlen(text)) == FORWARD_LATER)
            return false;
        w->lost_bytes = 0;
        w->lines++;
    }
    return true;
}

/* Length of the next line, or part of a long one; *ret_skip: with its newline.  False: it has no
 * end yet. */
static bool next_line(const struct follow *w, size_t *ret, size_t *ret_skip)
{
    size_t n = w->part.len - w->sent;
    const char *text, *end;

    if (!n)
        return false;
    text = buf_data(&w->part) + w->sent;
    end = memchr(text, '\n', n < LINE_BYTES ? n : LINE_BYTES);
    if (!end && n <= LINE_BYTES)
        return false;
    *ret = end ? (size_t)(end - text) : utf8_whole(text, LINE_BYTES);
    *ret_skip = *ret + (end != NULL);
    return true;
}

/* Milliseconds to wait; DONE_MS: all lines are sent. */
static int64_t send_lines(struct forwarder *f, struct follow *w, int64_t now_ms)
{
    size_t n, skip;

    while (next_line(w, &n, &skip)) {
        enum forward_result result;

        if (is_used_up(f, w))
            return w->window_ms + SECOND_MS - now_ms;
        if (!send_loss(f, w))
            return later_ms(f, w);
        result = n && !w->is_cut ? send_text(f, w, buf_data(&w->part) + w->sent, n) : FORWARD_SENT;
        if (result == FORWARD_LATER)
            return later_ms(f, w);
        w->lost_lines += result == FORWARD_LOST || (w->is_cut && skip > n);
        w->is_cut = w->is_cut && skip == n;
        w->sent += skip;
        w->lines++;
        w->bytes += n;
    }
    if (!w->lost_lines && !w->lost_bytes)
        return DONE_MS;
    if (is_used_up(f, w))
        return w->window_ms + SECOND_MS - now_ms;
    return send_loss(f, w) ? DONE_MS : later_ms(f, w);
}

/* ---- the file */

static int forward_read(struct forwarder *f, struct follow *w, struct buf *to,
                        struct outlog_piece *ret)
{
    const struct outlog_ask ask = { .at = (int64_t)w->at,
                                    .max_bytes = PIECE_BYTES,
                                    .wait = OUTLOG_MAY_WAIT };
    struct err ignored; /* it is tried again */

    return outlog_read(f->o, w->name, &ask, to, ret, &ignored);
}

/* 1: nothing more; -1: not now. */
static int read_more(struct forwarder *f, struct follow *w)
{
    struct outlog_piece piece = { 0 };
    struct buf text = { 0 };
    bool is_end;

    if (w->sent)
        buf_drop(&w->part, w->sent);
    w->sent = 0;
    if (forward_read(f, w, &text, &piece)) {
        buf_free(&text);
        return -1;
    }
    if (piece.has_gap) {
        buf_truncate(&w->part, 0);
        w->lost_bytes += piece.gap_bytes;
    }
    is_end = !piece.is_there || piece.next == w->at;
    buf_add(&w->part, buf_text(&text), text.len);
    buf_free(&text);
    if (piece.is_there)
        w->at = piece.next;
    return is_end ? 1 : 0;
}

static uint64_t count_lines(const struct buf *b, size_t from)
{
    uint64_t lines = 0;

    for (size_t i = from; i < b->len; i++)
        lines += buf_data(b)[i] == '\n';
    return lines;
}

static int skip_piece(struct forwarder *f, struct follow *w)
{
    struct outlog_piece piece = { 0 };
    struct buf text = { 0 };
    bool has_moved;

    if (forward_read(f, w, &text, &piece)) {
        buf_free(&text);
        return -1;
    }
    has_moved = piece.next > w->at;
    w->lost_lines += count_lines(&text, 0);
    w->lost_bytes += piece.gap_bytes;
    w->is_cut = text.len && buf_data(&text)[text.len - 1] != '\n';
    w->at = has_moved ? piece.next : w->at;
    buf_free(&text);
    return has_moved ? 0 : -1;
}

/* A process that is too far behind loses its oldest lines. */
static void skip(struct forwarder *f, struct follow *w)
{
    uint64_t end = outlog_end(f->o, w->name, OUTLOG_MAY_WAIT), keep = f->options.lag_max_bytes / 2;

    if (end <= w->at || end - w->at <= f->options.lag_max_bytes)
        return;
    w->lost_lines += count_lines(&w->part, w->sent);
    buf_truncate(&w->part, 0);
    w->sent = 0;
    if (end - w->at > f->options.count_max_bytes) {
        w->lost_bytes += end - keep - w->at;
        w->at = end - keep;
        w->is_cut = true;
    }
    while (w->at < end && end - w->at > keep && !skip_piece(f, w))
        ;
}

/* Milliseconds to the next look; DONE_MS: at the next news of it. */
static int64_t forward(struct forwarder *f, struct follow *w)
{
    int64_t now_ms = forward_now_ms(), wait_ms;
    int result = 0;

    if (!w->now.pid && now_ms < w->now.hold_ms)
        return FULL_MS;
    if (now_ms - w->window_ms >= SECOND_MS) {
        w->window_ms = now_ms;
        w->lines = w->bytes = 0;
    }
    skip(f, w);
    while (!result) {
        wait_ms = send_lines(f, w, now_ms);
        if (wait_ms != DONE_MS)
            return wait_ms > 0 ? wait_ms : 1;
        result = read_more(f, w);
    }
    return result < 0 ? FULL_MS : DONE_MS;
}

/* ---- the thread */

static void free_follow(struct follow *w)
{
    buf_free(&w->part);
    free(w->tag);
    free(w->process);
    free(w);
}

/* Followers that have to be looked at, with their settings of now; only this thread frees them. */
static size_t take_due(struct forwarder *f, bool all, struct follow ***ret)
{
    struct map_entry *e;
    size_t n = 0;

    pthread_mutex_lock(&f->lock);
    *ret = xalloc((f->follows.n + 1) * sizeof(struct follow *));
    for (size_t at = 0; (e = map_next(&f->follows, &at));) {
        struct follow *w = e->value;

        w->now = w->set;
        if (w->is_dirty || w->is_removed || all)
            (*ret)[n++] = w;
        w->is_dirty = false;
    }
    pthread_mutex_unlock(&f->lock);
    return n;
}

/* True: it has been removed. */
static bool drop_removed(struct forwarder *f, struct follow *w)
{
    bool is_removed;

    pthread_mutex_lock(&f->lock);
    is_removed = w->is_removed;
    if (is_removed)
        (void)map_del_str(&f->follows, w->name); /* the entry is w itself */
    pthread_mutex_unlock(&f->lock);
    if (is_removed)
        free_follow(w);
    return is_removed;
}

static void set_dirty(struct forwarder *f, struct follow *w)
{
    pthread_mutex_lock(&f->lock);
    w->is_dirty = true;
    pthread_mutex_unlock(&f->lock);
}

static bool forwarder_is_closing(struct forwarder *f)
{
    bool closing;

    pthread_mutex_lock(&f->lock);
    closing = f->is_closing;
    pthread_mutex_unlock(&f->lock);
    return closing;
}

/* Milliseconds to the next round; DONE_MS: with the next news. */
static int64_t forward_all(struct forwarder *f, bool all)
{
    int64_t wait_ms = DONE_MS, one_ms;
    struct follow **due;
    size_t n = take_due(f, all, &due);

    for (size_t i = 0; i < n && !forwarder_is_closing(f); i++) {
        if (drop_removed(f, due[i]))
            continue;
        one_ms = forward(f, due[i]);
        if (one_ms == DONE_MS)
            continue;
        set_dirty(f, due[i]);
        wait_ms = wait_ms < 0 || one_ms < wait_ms ? one_ms : wait_ms;
    }
    free(due);
    return wait_ms;
}

static void on_written(struct forwarder *f, const char *name)
{
    struct follow *w;

    pthread_mutex_lock(&f->lock);
    w = f->follows.n ? map_find_str(&f->follows, name) : NULL;
    if (w)
        w->is_dirty = true;
    pthread_mutex_unlock(&f->lock);
}

/* True: events were lost, so all files have to be looked at. */
static bool read_written(struct forwarder *f)
{
    enum { READS_MAX = 64 };
    _Alignas(struct inotify_event) char news[16384];
    bool has_missed = false;
    ssize_t got = 1;

    for (int i = 0; f->news >= 0 && i < READS_MAX && got > 0; i++) {
        got = sys_read(f->news, news, sizeof(news));
        for (ssize_t at = 0; at < got;) {
            const struct inotify_event *e = (const void *)(news + at);

            if (e->len)
                on_written(f, e->name);
            has_missed |= (e->mask & IN_Q_OVERFLOW) != 0;
            at += (ssize_t)(sizeof(*e) + e->len);
        }
    }
    return has_missed;
}

static void *run_forwarder(void *forwarder)
{
    struct forwarder *f = forwarder;
    int64_t wait_ms = 0;
    uint64_t ignored;

    while (!forwarder_is_closing(f)) {
        struct pollfd fds[2] = { { .fd = f->wake, .events = POLLIN },
                                 { .fd = f->news, .events = POLLIN } };
        bool is_blind = f->news < 0;

        (void)sys_poll(fds, 2, (int)(wait_ms < 0 && is_blind ? BLIND_MS : wait_ms));
        (void)sys_poll(NULL, 0, NEWS_MS);
        (void)sys_read(f->wake, &ignored, sizeof(ignored));
        wait_ms = forward_all(f, read_written(f) || is_blind);
    }
    pthread_mutex_lock(&f->lock);
    f->is_running = false;
    pthread_cond_signal(&f->on_end);
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

static void wake_forwarder(struct forwarder *f)
{
    const uint64_t one = 1;

    (void)sys_write(f->wake, &one, sizeof(one)); /* on failure it is awake */
}

/* Called with the lock held. Without a thread nothing is forwarded; the next call tries again. */
static void begin_forwarder(struct forwarder *f)
{
    sigset_t all, old;
    pthread_t id;

    if (f->is_running || f->is_closing)
        return;
    if (f->wake < 0)
        f->wake = sys_eventfd();
    if (f->wake < 0)
        return;
    if (f->news < 0)
        f->news = sys_inotify(f->path, IN_MODIFY | IN_ONLYDIR);
    sigfillset(&all); /* only the loop handles signals */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    f->is_running = !pthread_create(&id, NULL, run_forwarder, f);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (f->is_running)
        pthread_detach(id);
}

/* ---- what is followed */

static struct follow *new_follow(const char *file, const char *space, const char *name, uint64_t at)
{
    struct follow *w = xalloc(sizeof(*w));

    *w = (struct follow){ .at = at,
                          .tag = forward_tag(space, name),
                          .process = xprintf("%s/%s", space, name) };
    snprintf(w->name, sizeof(w->name), "%s", file);
    return w;
}

void forwarder_follow(struct forwarder *f, const char *file, const char *space, const char *name,
                      enum proc_output kind, uint64_t at)
{
    struct follow *w;

    pthread_mutex_lock(&f->lock);
    w = map_find_str(&f->follows, file);
    if (!w && kind != OUTPUT_FILE) {
        w = new_follow(file, space, name, at);
        map_put_str(&f->follows, w->name, w);
    }
    if (w) {
        w->is_removed = kind == OUTPUT_FILE;
        w->set = (struct how){ .kind = kind, .hold_ms = forward_now_ms() + PID_MS };
        w->is_dirty = true;
        begin_forwarder(f);
        wake_forwarder(f);
    }
    pthread_mutex_unlock(&f->lock);
}

void forwarder_set_pid(struct forwarder *f, const char *file, int64_t pid, uint64_t turn)
{
    struct follow *w;

    pthread_mutex_lock(&f->lock);
    w = map_find_str(&f->follows, file);
    if (w && w->turn != turn) {
        w->turn = turn;
        w->set.pid = pid;
    }
    pthread_mutex_unlock(&f->lock);
}

bool forwarder_has(struct forwarder *f, const char *file)
{
    const struct follow *w;
    bool has;

    pthread_mutex_lock(&f->lock);
    w = map_find_str(&f->follows, file);
    has = w && !w->is_removed;
    pthread_mutex_unlock(&f->lock);
    return has;
}

bool forwarder_is_idle(struct forwarder *f)
{
    bool is_idle;

    pthread_mutex_lock(&f->lock);
    is_idle = !f->follows.n;
    pthread_mutex_unlock(&f->lock);
    return is_idle;
}

/* ---- start and end */

static const char *socket_path(const char *variable, const char *otherwise)
{
    const char *path = getenv(variable);

    return path && *path ? path : otherwise;
}

struct forward_options forward_defaults(void)
{
    return (struct forward_options){
        .syslog = socket_path("HOLDFAST_SYSLOG_SOCKET", "/dev/log"),
        .journal = socket_path("HOLDFAST_JOURNAL_SOCKET", "/run/systemd/journal/socket"),
        .lines_per_s = 2000,
        .bytes_per_s = 1 << 20,
        .lag_max_bytes = 1 << 20,
        .count_max_bytes = 16 << 20,
    };
}

struct forwarder *forwarder_new(struct outlog *o, const char *path,
                                const struct forward_options *options)
{
    struct forwarder *f = xalloc(sizeof(*f));
    pthread_condattr_t attr;

    *f = (struct forwarder){ .o = o,
                             .path = xstrdup(path),
                             .options = *options,
                             .sinks = { { .path = options->syslog, .fd = -1 },
                                        { .path = options->journal, .fd = -1 } },
                             .news = -1,
                             .wake = -1 };
    pthread_mutex_init(&f->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&f->on_end, &attr);
    pthread_condattr_destroy(&attr);
    return f;
}

static bool end_forwarder(struct forwarder *f, int64_t wait_ms)
{
    int64_t until_ms = forward_now_ms() + wait_ms;
    struct timespec until = { .tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000 };
    bool is_late = false, has_ended;

    pthread_mutex_lock(&f->lock);
    f->is_closing = true;
    if (f->is_running)
        wake_forwarder(f);
    while (f->is_running && !is_late)
        is_late = pthread_cond_timedwait(&f->on_end, &f->lock, &until) == ETIMEDOUT;
    has_ended = !f->is_running;
    pthread_mutex_unlock(&f->lock);
    return has_ended;
}

bool forwarder_free(struct forwarder *f, int64_t wait_ms)
{
    struct map_entry *e;

    if (!f)
        return true;
    if (!end_forwarder(f, wait_ms))
        return false;
    for (size_t at = 0; (e = map_next(&f->follows, &at));)
        free_follow(e->value);
    map_free(&f->follows);
    buf_free(&f->datagram);
    for (size_t i = 0; i < ARRAY_LEN(f->sinks); i++)
        sys_close(f->sinks[i].fd);
    sys_close(f->news);
    sys_close(f->wake);
    pthread_cond_destroy(&f->on_end);
    pthread_mutex_destroy(&f->lock);
    free(f->path);
    free(f);
    return true;
}
