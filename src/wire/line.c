/* SPDX-License-Identifier: MIT */
/* line.c - see line.h. */
#include "wire/line.h"

#include <assert.h>

int line_open(struct line *l, struct loop *loop, struct far_crew *crew, int fd, struct tls *tls,
              const char *host, const struct stream_limits *limits,
              const struct stream_owner *owner, void *arg, struct err *err)
{
    *l = (struct line){ 0 };
    if (!crew)
        return stream_new(loop, fd, tls, host, limits, owner, arg, &l->near, err);
    assert(!host);
    far_new(crew, fd, tls, limits, owner, arg, &l->far);
    return 0;
}

bool line_is_open(const struct line *l)
{
    return l->near || l->far;
}

void line_write(struct line *l, const void *bytes, size_t n)
{
    if (l->near)
        stream_write(l->near, bytes, n);
    else if (l->far)
        far_write(l->far, bytes, n);
}

size_t line_pending(const struct line *l)
{
    if (l->near)
        return stream_pending(l->near);
    return l->far ? far_pending(l->far) : 0;
}

int64_t line_stuck_ms(const struct line *l)
{
    if (l->near)
        return stream_stuck_ms(l->near);
    return l->far ? far_stuck_ms(l->far) : 0;
}

int line_peer(const struct line *l, struct cert_facts *ret, struct err *err)
{
    if (l->near)
        return stream_peer(l->near, ret, err);
    if (l->far)
        return far_peer(l->far, ret, err);
    return err_set(err, ERR_NOT_FOUND, "the connection is closed");
}

bool line_is_resumed(const struct line *l)
{
    if (l->near)
        return stream_is_resumed(l->near);
    return l->far && far_is_resumed(l->far);
}

void line_end(struct line *l)
{
    if (l->near)
        stream_end(l->near);
    else if (l->far)
        far_end(l->far);
}

void line_free(struct line *l)
{
    stream_free(l->near);
    far_free(l->far);
    *l = (struct line){ 0 };
}
