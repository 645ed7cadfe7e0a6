/* SPDX-License-Identifier: MIT */
/* forward_sink.h - lines of output as datagrams for syslog (RFC 3164, as syslog(3) writes them) or
 * journald (its native protocol), and the socket that they are sent to. Nothing blocks: a socket
 * that is missing, refuses or is full is tried again later. */
#ifndef AGENT_SHELL_FORWARD_SINK_H
#define AGENT_SHELL_FORWARD_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem/buf.h"
#include "model/extra.h"

enum forward_result {
    FORWARD_SENT,
    FORWARD_LATER, /* to be repeated */
    FORWARD_LOST,  /* it can not be sent */
};

struct forward_sink {
    const char *path;
    int fd;           /* -1: not connected */
    int64_t retry_ms; /* no attempt to connect before this time */
};

enum forward_result forward_sink_send(struct forward_sink *s, const struct buf *datagram,
                                      int64_t now_ms);

struct forward_source {
    const char *tag, *process; /* "ns.name" and "ns/name" */
    int64_t pid;               /* 0: not known */
};

/* The identifier of a process: bytes that would end an identifier of syslog become "_". */
char *forward_tag(const char *space, const char *name);

/* Replaces *to; the line has no newline and no NUL. */
void forward_write(enum proc_output kind, const struct forward_source *from, int64_t wall_s,
                   const char *line, size_t n, struct buf *to);

#endif
