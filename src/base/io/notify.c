/* SPDX-License-Identifier: MIT */
/* notify.c - see notify.h. */
#include "base/io/notify.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/os/sys.h"

/* "@name" is an abstract socket, without a file. */
static int make_address(const char *socket, struct sockaddr_un *ret, socklen_t *ret_len,
                        struct err *err)
{
    size_t n = strlen(socket);

    if ((*socket != '/' && *socket != '@') || n < 2 || n >= sizeof(ret->sun_path))
        return err_set(err, ERR_INVALID, "NOTIFY_SOCKET: %s is not the name of a socket", socket);
    *ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
    memcpy(ret->sun_path, socket, n);
    if (*socket == '@')
        ret->sun_path[0] = '\0';
    *ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
    return 0;
}

int notify(const char *socket, const char *text, struct err *err)
{
    struct sockaddr_un to;
    socklen_t len = 0;
    int fd, failed = 0;

    if (!socket || !*socket)
        return 0;
    if (make_address(socket, &to, &len, err))
        return -1;
    fd = sys_socket(AF_UNIX, SOCK_DGRAM, 0);
    if (fd < 0)
        return err_sys(err, "NOTIFY_SOCKET: socket");
    if (sys_connect(fd, (const struct sockaddr *)&to, len) || sys_send(fd, text, strlen(text)) < 0)
        failed = err_sys(err, "NOTIFY_SOCKET: %s", socket);
    sys_close(fd);
    return failed;
}
