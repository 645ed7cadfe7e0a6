/* SPDX-License-Identifier: MIT */
/* notify_socket.c - see notify_socket.h. The lock protects the list of threads and their states.
 * The guard never touches the socket, so it never hangs. */
#include "agent/shell/notify_socket.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/io/queue.h"
#include "base/io/thread.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/sys_sender.h"
#include "base/os/sys_unix.h"
#include "base/os/time.h"
#include "base/text/hex.h"
#include "wire/tls/digest.h"

enum {
    TEXT_MAX = 4096, /* maximum size of a datagram */
    OUT_MAX = 16, /* messages per turn of the loop; further ones wait in the socket, and block their
                   * senders */
    NAME_BYTES = 8,
};

struct message {
    struct queue_node node;
    pid_t pid;
    int64_t main_pid;
};

struct receiver {
    struct notify_socket *socket;
    pthread_t thread;
    int64_t busy_ms; /* start of receiving one message or closing the socket; 0: idle */
    bool is_used, is_stuck;
};

struct notify_socket {
    struct loop *loop;
    notify_socket_fn *fn;
    void *arg;
    char name[80];
    int fd;             /* the socket; after its close a duplicate of the descriptor of `stop` */
    struct queue *stop; /* closed to end the receivers, which makes its descriptor readable. A
                         * duplicate of it takes the number of the closed socket, because a receiver
                         * may be about to use that number. */
    struct queue *out;
    struct watch *watch;

    pthread_mutex_t lock;
    pthread_cond_t begun, room, end; /* a receiver is busy; `out` has room; a thread has ended */
    struct receiver receivers[NOTIFY_SOCKET_RECEIVERS];
    size_t n_receivers, n_stuck, n_threads; /* n_threads includes the guard */
    bool is_closing, is_closed;
};

static int64_t notify_socket_now(void)
{
    return clock_mono_ms(&clock_system);
}

static struct timespec at_ms(int64_t until_ms)
{
    return (struct timespec){ .tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000 };
}

/* ---- a message */

bool notify_socket_parse(char *text, int64_t *ret_main_pid)
{
    bool is_ready = false;
    char *line, *rest = text;

    *ret_main_pid = 0;
    while ((line = strsep(&rest, "\n"))) {
        if (!strcmp(line, "READY=1"))
            is_ready = true;
        else if (!strncmp(line, "MAINPID=", 8))
            *ret_main_pid = strtoll(line + 8, NULL, 10);
    }
    return is_ready;
}

/* NULL: no message, or without READY=1. */
static struct message *receive_one(int fd)
{
    char text[TEXT_MAX + 1];
    struct sys_sender sender = { 0 };
    ssize_t got = sys_recv_sender(fd, text, TEXT_MAX, &sender);
    struct message *m;
    int64_t main_pid;

    if (got < 0 || sender.had_descriptors)
        return NULL;
    text[got] = '\0';
    if (!notify_socket_parse(text, &main_pid))
        return NULL;
    m = xalloc(sizeof(*m));
    m->pid = sender.pid;
    m->main_pid = main_pid;
    return m;
}

/* ---- receiver threads; these functions are called with the lock held */

static void begin_work(struct receiver *me)
{
    me->busy_ms = notify_socket_now();
    pthread_cond_signal(&me->socket->begun);
    pthread_mutex_unlock(&me->socket->lock);
}

static void end_work(struct receiver *me)
{
    pthread_mutex_lock(&me->socket->lock);
    me->busy_ms = 0;
    me->socket->n_stuck -= me->is_stuck;
    me->is_stuck = false;
}

static void wait_for_message(struct notify_socket *s)
{
    struct pollfd p[] = { { .fd = s->fd, .events = POLLIN },
                          { .fd = queue_fd(s->stop), .events = POLLIN } };

    pthread_mutex_unlock(&s->lock);
    (void)sys_poll(p, ARRAY_LEN(p), -1); /* on EINTR there is no message */
    pthread_mutex_lock(&s->lock);
}

static void take_message(struct receiver *me)
{
    struct notify_socket *s = me->socket;
    struct message *m;

    begin_work(me);
    m = receive_one(s->fd);
    end_work(me);
    if (m && !queue_put(s->out, &m->node))
        free(m); /* not reached: there is room for one message of each receiver */
}

/* Closes descriptors that still wait in the socket, so the guard supervises it like a receive. */
static void close_socket(struct receiver *me)
{
    struct notify_socket *s = me->socket;

    if (s->is_closed)
        return;
    s->is_closed = true;
    begin_work(me);
    (void)sys_dup3(queue_fd(s->stop), s->fd); /* both are open, so this can not fail */
    end_work(me);
}

/* This receiver was stuck and has been replaced. */
static bool is_one_too_many(const struct notify_socket *s)
{
    return s->n_receivers - s->n_stuck > 1;
}

static void *run_receiver(void *arg)
{
    struct receiver *me = arg;
    struct notify_socket *s = me->socket;

    thread_allow_interrupts();
    pthread_mutex_lock(&s->lock);
    me->thread = pthread_self();
    while (!s->is_closing && !is_one_too_many(s)) {
        if (queue_len(s->out) >= OUT_MAX) {
            pthread_cond_wait(&s->room, &s->lock);
            continue;
        }
        wait_for_message(s);
        if (!s->is_closing)
            take_message(me);
    }
    if (s->is_closing)
        close_socket(me);
    me->is_used = false;
    s->n_receivers--;
    s->n_threads--;
    pthread_cond_broadcast(&s->begun); /* the guard ends with the last receiver */
    pthread_cond_broadcast(&s->end);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static int start_receiver(struct notify_socket *s, struct err *err)
{
    struct receiver *one = s->receivers;

    while (one->is_used)
        one++;
    *one = (struct receiver){ .socket = s, .is_used = true };
    if (thread_start_detached(run_receiver, one, err)) {
        one->is_used = false;
        return -1;
    }
    s->n_receivers++;
    s->n_threads++;
    return 0;
}

/* ---- guard thread; these functions are called with the lock held */

/* Returns the time of the next check; INT64_MAX: no receiver is busy. */
static int64_t look_at_receivers(struct notify_socket *s)
{
    int64_t now_ms = notify_socket_now(), next_ms = INT64_MAX;

    for (size_t i = 0; i < NOTIFY_SOCKET_RECEIVERS; i++) {
        struct receiver *one = &s->receivers[i];
        int64_t due_ms = one->busy_ms + NOTIFY_SOCKET_SLOW_MS;

        if (!one->is_used || !one->busy_ms)
            continue;
        if (due_ms <= now_ms) {
            thread_interrupt(one->thread);
            due_ms = now_ms + NOTIFY_SOCKET_SLOW_MS; /* a signal that had no effect is repeated */
        }
        if (!one->is_stuck && now_ms - one->busy_ms >= NOTIFY_SOCKET_STUCK_MS) {
            one->is_stuck = true;
            s->n_stuck++;
        }
        next_ms = due_ms < next_ms ? due_ms : next_ms;
    }
    return next_ms;
}

static void replace_stuck(struct notify_socket *s)
{
    struct err ignored; /* on failure the next check retries */

    if (s->n_stuck == s->n_receivers && s->n_receivers < NOTIFY_SOCKET_RECEIVERS && !s->is_closed)
        (void)start_receiver(s, &ignored);
}

static void *run_guard(void *arg)
{
    struct notify_socket *s = arg;

    pthread_mutex_lock(&s->lock);
    while (s->n_receivers) {
        int64_t next_ms = look_at_receivers(s);
        struct timespec until;

        replace_stuck(s);
        if (next_ms == INT64_MAX) {
            pthread_cond_wait(&s->begun, &s->lock);
        } else {
            until = at_ms(next_ms);
            (void)pthread_cond_timedwait(&s->begun, &s->lock, &until);
        }
    }
    s->n_threads--;
    pthread_cond_broadcast(&s->end);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static int start_threads(struct notify_socket *s, struct err *err)
{
    int result;

    pthread_mutex_lock(&s->lock);
    result = start_receiver(s, err);
    if (!result && !(result = thread_start_detached(run_guard, s, err)))
        s->n_threads++;
    pthread_mutex_unlock(&s->lock);
    return result;
}

/* ---- on the loop */

static void notify_socket_on_out(void *socket, unsigned ready)
{
    struct notify_socket *s = socket;
    struct queue_node *next, *node = queue_take(s->out);

    (void)ready;
    pthread_mutex_lock(&s->lock);
    pthread_cond_broadcast(&s->room);
    pthread_mutex_unlock(&s->lock);
    for (; node; node = next) {
        struct message *m = (struct message *)node;

        next = node->next;
        s->fn(s->arg, m->pid, m->main_pid);
        free(m);
    }
}

const char *notify_socket_name(const struct notify_socket *s)
{
    return s->name;
}

/* ---- start and end */

static void choose_name(struct notify_socket *s, const char *dir, bool is_taken)
{
    unsigned char more[NAME_BYTES];
    char digest[DIGEST_TEXT_SIZE], suffix[2 * NAME_BYTES + 1] = "";

    sys_random(more, sizeof(more));
    digest_sha256_text(dir, strlen(dir), digest);
    if (is_taken)
        hex_write(more, sizeof(more), suffix);
    snprintf(s->name, sizeof(s->name), "@holdfast/notify/%.16s%s", digest, suffix);
}

static int bind_name(struct notify_socket *s)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    size_t len = strlen(s->name);

    memcpy(to.sun_path, s->name, len);
    to.sun_path[0] = '\0'; /* abstract name */
    return sys_bind(s->fd, (struct sockaddr *)&to,
                    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
}

static int take_name(struct notify_socket *s, const char *dir)
{
    choose_name(s, dir, false);
    if (!bind_name(s))
        return 0;
    choose_name(s, dir, true);
    return errno == EADDRINUSE ? bind_name(s) : -1;
}

static int notify_socket_open_socket(struct notify_socket *s, const char *dir, struct err *err)
{
    s->fd = sys_socket(AF_UNIX, SOCK_DGRAM, 0);
    if (s->fd < 0 || sys_setsockopt(s->fd, SOL_SOCKET, SO_PASSCRED, 1))
        return err_sys(err, "a socket for readiness");
    (void)sys_refuse_descriptors(s->fd); /* on failure the threads close them */
    return take_name(s, dir) ? err_sys(err, "bind %s", s->name) : 0;
}

static void notify_socket_init_lock(struct notify_socket *s)
{
    pthread_condattr_t attr;

    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->begun, &attr);
    pthread_cond_init(&s->room, &attr);
    pthread_cond_init(&s->end, &attr);
    pthread_condattr_destroy(&attr);
}

int notify_socket_new(struct loop *loop, const char *dir, notify_socket_fn *fn, void *arg,
                      struct notify_socket **ret, struct err *err)
{
    struct notify_socket *s = xalloc(sizeof(*s));

    s->loop = loop;
    s->fn = fn;
    s->arg = arg;
    s->fd = -1;
    notify_socket_init_lock(s);
    if (notify_socket_open_socket(s, dir, err) || queue_new(1, &s->stop, err) ||
        queue_new(OUT_MAX + NOTIFY_SOCKET_RECEIVERS, &s->out, err) ||
        watch_new(loop, queue_fd(s->out), notify_socket_on_out, s, &s->watch, err) ||
        watch_want(s->watch, WATCH_READ, err) || start_threads(s, err)) {
        (void)notify_socket_free(s, INT32_MAX); /* a receiver that was started ends */
        return -1;
    }
    *ret = s;
    return 0;
}

static bool wait_for_end(struct notify_socket *s, int64_t wait_ms)
{
    struct timespec until = at_ms(notify_socket_now() + wait_ms);
    bool has_ended;
    int late = 0;

    pthread_mutex_lock(&s->lock);
    s->is_closing = true;
    pthread_cond_broadcast(&s->room);
    if (s->stop)
        queue_close(s->stop);
    while (s->n_threads && !late)
        late = pthread_cond_timedwait(&s->end, &s->lock, &until);
    has_ended = !s->n_threads;
    pthread_mutex_unlock(&s->lock);
    return has_ended;
}

static void drop_messages(struct notify_socket *s)
{
    struct queue_node *next, *node = s->out ? queue_take(s->out) : NULL;

    for (; node; node = next) {
        next = node->next;
        free(node);
    }
}

bool notify_socket_free(struct notify_socket *s, int64_t wait_ms)
{
    bool has_ended;

    if (!s)
        return true;
    has_ended = wait_for_end(s, wait_ms);
    watch_free(s->watch);
    s->watch = NULL;
    if (!has_ended)
        return false;
    drop_messages(s);
    queue_free(s->out);
    sys_close(s->fd);
    queue_free(s->stop);
    pthread_cond_destroy(&s->end);
    pthread_cond_destroy(&s->room);
    pthread_cond_destroy(&s->begun);
    pthread_mutex_destroy(&s->lock);
    free(s);
    return true;
}
