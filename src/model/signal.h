/* SPDX-License-Identifier: MIT */
/* signal.h - names of signals: "HUP", "SIGHUP", "hup", "RTMIN+3", "RTMAX", and numbers from 1
 * to 64.
 *
 * Requests and the link carry the name, because numbers differ between architectures; the agent
 * converts it. */
#ifndef MODEL_SIGNAL_H
#define MODEL_SIGNAL_H

enum { SIGNAL_NAME_MAX_BYTES = 16, SIGNAL_NUMBER_MAX = 64 };

int signal_number(const char *name); /* 0: no signal has this name */

/* For field tables: NULL, or what is wrong; "" is right. */
const char *signal_check(const char *name);

#endif
