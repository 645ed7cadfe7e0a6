/* SPDX-License-Identifier: MIT */
/* plain.c - see plain.h. */
#include "wire/net/plain.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/os/sys.h"

enum { SCRATCH = 64 * 1024 };

enum tls_status plain_read(int fd, void *to, size_t n, size_t *ret_got, struct err *err)
{
    ssize_t got = sys_recv(fd, to, n);

    if (got < 0 && sys_again())
        return TLS_WANT_READ;
    if (got < 0) {
        err_sys(err, "read from the peer");
        return TLS_FAILED;
    }
    *ret_got = (size_t)got;
    return got ? TLS_OK : TLS_END;
}

enum tls_status plain_write(int fd, const void *from, size_t n, size_t *ret_put, struct err *err)
{
    ssize_t put = sys_send(fd, from, n);

    if (put < 0 && sys_again())
        return TLS_WANT_WRITE;
    if (put < 0) {
        err_sys(err, "write to the peer");
        return TLS_FAILED;
    }
    *ret_put = (size_t)put;
    return TLS_OK;
}

enum tls_status plain_discard(int fd, size_t max, size_t *sum)
{
    char scratch[SCRATCH];
    size_t got = SCRATCH, seen = 0;
    enum tls_status st = TLS_OK;
    struct err err;

    while (st == TLS_OK && got == SCRATCH && seen < max) {
        got = 0;
        st = plain_read(fd, scratch, SCRATCH, &got, &err);
        seen += got;
    }
    *sum += seen;
    return st;
}

/* recv() cannot tell: there may be unread bytes before the end. */
bool plain_is_gone(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLRDHUP };

    return sys_poll(&p, 1, 0) > 0;
}

int plain_connected(int fd, struct err *err)
{
    int problem = 0;

    if (sys_getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem))
        problem = errno;
    errno = problem;
    return problem ? err_sys(err, "connect") : 0;
}
