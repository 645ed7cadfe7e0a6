/* SPDX-License-Identifier: MIT */
/* plain.c - see plain.h. */
#include "wire/plain.h"

#include "base/sys.h"

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
