/* SPDX-License-Identifier: MIT */
/* notify.h - reports our state to the service manager (sd_notify) through the socket that
 * systemd names in $NOTIFY_SOCKET: "READY=1", "RELOADING=1", "STOPPING=1", "STATUS=...", one per
 * line. */
#ifndef BASE_IO_NOTIFY_H
#define BASE_IO_NOTIFY_H

#include "base/text/err.h"

/* `socket` is the variable's value.  If it is NULL or "", nothing is sent and 0 is returned. */
int notify(const char *socket, const char *text, struct err *err);

#endif
