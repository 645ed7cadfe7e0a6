/* SPDX-License-Identifier: MIT */
/* notify.h - tells the service manager how we are, by the socket that systemd names in
 * $NOTIFY_SOCKET: "READY=1", "RELOADING=1", "STOPPING=1", "STATUS=...", one a line. */
#ifndef BASE_NOTIFY_H
#define BASE_NOTIFY_H

#include "base/err.h"

/* `socket` as in the environment; NULL or "": nobody wants to know, and all is well. */
int notify(const char *socket, const char *text, struct err *err);

#endif
