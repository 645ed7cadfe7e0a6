/* SPDX-License-Identifier: MIT */
/* fleet_lines.c - see fleet_lines.h. */
#include "fleetsim/fleet_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "wire/net/stream.h"

struct fleet_lines {
    struct stream *stream;
    const struct fleet_lines_owner *owner;
    void *arg;
    bool busy, dropped; /* busy: on_line() is running; dropped: it has freed the lines */
};

static const struct stream_limits limits = {
    .in_max = 64 * 1024, .out_max = 1024 * 1024, .handshake_ms = 1000, .linger_ms = 1000
};

static void hand_out(struct fleet_lines *l, const char *line, size_t n)
{
    char *copy = xmemdup(line, n > 0 && line[n - 1] == '\r' ? n - 1 : n);

    l->owner->on_line(l->arg, copy, strlen(copy));
    free(copy);
}

static size_t fleet_lines_on_bytes(void *arg, const char *bytes, size_t n)
{
    struct fleet_lines *l = arg;
    const char *end;
    size_t done = 0;

    l->busy = true;
    while (!l->dropped && (end = memchr(bytes + done, '\n', n - done))) {
        size_t length = (size_t)(end - bytes) - done;

        hand_out(l, bytes + done, length);
        done += length + 1;
    }
    l->busy = false;
    if (!l->dropped)
        return done;
    free(l);
    return n;
}

static void fleet_lines_on_end(void *arg, const struct err *why)
{
    struct fleet_lines *l = arg;

    (void)why; /* fleet_lines_on_end() has no reason */
    l->owner->on_end(l->arg);
}

static const struct stream_owner stream_owner = { .on_bytes = fleet_lines_on_bytes,
                                                  .on_end = fleet_lines_on_end };

int fleet_lines_new(struct loop *loop, int fd, const struct fleet_lines_owner *owner, void *arg,
                    struct fleet_lines **ret, struct err *err)
{
    struct fleet_lines *l = xalloc(sizeof(*l));

    l->owner = owner;
    l->arg = arg;
    if (stream_new(loop, fd, NULL, NULL, &limits, &stream_owner, l, &l->stream, err)) {
        free(l);
        return -1;
    }
    *ret = l;
    return 0;
}

void fleet_lines_free(struct fleet_lines *l)
{
    if (!l)
        return;
    stream_free(l->stream);
    l->dropped = true;
    if (!l->busy)
        free(l);
}

void fleet_lines_send(struct fleet_lines *l, const char *bytes, size_t n)
{
    stream_write(l->stream, bytes, n);
}
