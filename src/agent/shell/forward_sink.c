/* SPDX-License-Identifier: MIT */
/* forward_sink.c - see forward_sink.h. */
#include "agent/shell/forward_sink.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"

enum { RECONNECT_MS = 250 };
enum { DAEMON_INFO = 3 << 3 | 6, INFO = 6 }; /* facility daemon, priority info */

static int sink_connect(struct forward_sink *s, int64_t now_ms)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    size_t n = strlen(s->path);
    int fd;

    if (now_ms < s->retry_ms)
        return -1;
    s->retry_ms = now_ms + RECONNECT_MS;
    if (n >= sizeof(to.sun_path))
        return -1;
    memcpy(to.sun_path, s->path, n);
    fd = sys_socket(AF_UNIX, SOCK_DGRAM, 0);
    if (fd >= 0 && !sys_connect(fd, (const struct sockaddr *)&to, sizeof(to))) {
        s->fd = fd;
        return 0;
    }
    sys_close(fd);
    return -1;
}

static enum forward_result judge_failure(struct forward_sink *s, int number)
{
    if (number == EAGAIN || number == EINTR || number == ENOBUFS || number == ENOMEM)
        return FORWARD_LATER;
    if (number == EMSGSIZE)
        return FORWARD_LOST;
    sys_close(s->fd); /* the receiver has ended */
    s->fd = -1;
    return FORWARD_LATER;
}

enum forward_result forward_sink_send(struct forward_sink *s, const struct buf *datagram,
                                      int64_t now_ms)
{
    if (s->fd < 0 && sink_connect(s, now_ms))
        return FORWARD_LATER;
    if (sys_send(s->fd, buf_data(datagram), datagram->len) >= 0)
        return FORWARD_SENT;
    return judge_failure(s, errno);
}

char *forward_tag(const char *space, const char *name)
{
    char *tag = xprintf("%s.%s", space, name);

    for (char *c = tag; *c; c++) {
        if ((unsigned char)*c <= ' ' || *c == ':' || *c == '[' || *c == ']' || *c == 127)
            *c = '_';
    }
    return tag;
}

/* No host name, as syslog(3). */
static void write_syslog(const struct forward_source *from, int64_t wall_s, struct buf *to)
{
    static const char months[][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
    time_t at = (time_t)wall_s;
    struct tm tm = { .tm_mon = 0 };

    (void)localtime_r(&at, &tm); /* it fails for no time of a clock */
    buf_printf(to, "<%d>%s %2d %02d:%02d:%02d %s", DAEMON_INFO, months[tm.tm_mon], tm.tm_mday,
               tm.tm_hour, tm.tm_min, tm.tm_sec, from->tag);
    if (from->pid)
        buf_printf(to, "[%lld]", (long long)from->pid);
    buf_puts(to, ": ");
}

static void write_journal(const struct forward_source *from, struct buf *to)
{
    buf_printf(to, "PRIORITY=%d\nSYSLOG_IDENTIFIER=%s\nHOLDFAST_PROCESS=%s\n", INFO, from->tag,
               from->process);
    if (from->pid)
        buf_printf(to, "SYSLOG_PID=%lld\n", (long long)from->pid);
    buf_puts(to, "MESSAGE=");
}

void forward_write(enum proc_output kind, const struct forward_source *from, int64_t wall_s,
                   const char *line, size_t n, struct buf *to)
{
    buf_truncate(to, 0);
    if (kind == OUTPUT_JOURNAL)
        write_journal(from, to);
    else
        write_syslog(from, wall_s, to);
    buf_add(to, line, n);
    if (kind == OUTPUT_JOURNAL)
        buf_addc(to, '\n');
}
