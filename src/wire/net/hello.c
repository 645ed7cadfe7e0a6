/* SPDX-License-Identifier: MIT */
/* hello.c - see hello.h. */
#include "wire/net/hello.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/sys_peek.h"
#include "wire/net/plain.h"

/* A record starts with its type, a version and its length (RFC 8446, 5.1). */
enum { RECORD_HEAD = 5, RECORD_HANDSHAKE = 22, RECORD_MAX = 16384 };

struct hello {
    struct watch *watch;
    hello_fn *fn;
    void *arg;
    int fd;
    int wanted; /* SO_RCVLOWAT: bytes in the socket before the watch fires */
};

static void report(struct hello *h, enum hello_kind kind)
{
    struct err ignored;

    (void)watch_want(h->watch, 0, &ignored); /* removing interest cannot fail */
    if (h->wanted > 1)
        (void)sys_setsockopt(h->fd, SOL_SOCKET, SO_RCVLOWAT,
                             1); /* on failure TLS waits a little longer */
    h->fn(h->arg, kind);
}

/* Methods of HTTP are capital letters; no type of a TLS record is one. */
static bool is_letter(unsigned char c)
{
    return c >= 'A' && c <= 'Z';
}

/* If the watch fires with fewer bytes, the peer has closed its sending side; or the kernel is
 * short of memory and wants the socket to be read. */
static void hello_wait_for(struct hello *h, int wanted)
{
    if (wanted <= h->wanted || sys_setsockopt(h->fd, SOL_SOCKET, SO_RCVLOWAT, wanted))
        report(h, plain_is_gone(h->fd) ? HELLO_GONE : HELLO_TLS);
    else
        h->wanted = wanted;
}

static void hello_on_ready(void *arg, unsigned ready)
{
    struct hello *h = arg;
    unsigned char first[RECORD_HEAD + RECORD_MAX];
    ssize_t got = sys_peek(h->fd, first, sizeof(first));
    int wanted = RECORD_HEAD;

    (void)ready;
    if (got < 0 && sys_again())
        return;
    if (got <= 0) {
        report(h, HELLO_GONE);
        return;
    }
    if (got >= RECORD_HEAD)
        wanted += first[3] << 8 | first[4];
    if (is_letter(first[0]))
        report(h, HELLO_HTTP);
    else if (first[0] != RECORD_HANDSHAKE || got >= wanted || wanted > RECORD_HEAD + RECORD_MAX)
        report(h, HELLO_TLS);
    else
        hello_wait_for(h, wanted);
}

int hello_new(struct loop *loop, int fd, hello_fn *fn, void *arg, struct hello **ret,
              struct err *err)
{
    struct hello *h = xalloc(sizeof(*h));

    *h = (struct hello){ .fn = fn, .arg = arg, .fd = fd, .wanted = 1 };
    if (watch_new(loop, fd, hello_on_ready, h, &h->watch, err) ||
        watch_want(h->watch, WATCH_READ, err)) {
        hello_free(h);
        return -1;
    }
    *ret = h;
    return 0;
}

void hello_free(struct hello *h)
{
    if (!h)
        return;
    watch_free(h->watch);
    free(h);
}
