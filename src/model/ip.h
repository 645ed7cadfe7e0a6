/* SPDX-License-Identifier: MIT */
/* ip.h - canonical text of host addresses, which are compared as text. */
#ifndef MODEL_IP_H
#define MODEL_IP_H

#include <stdbool.h>

enum { IP_TEXT_SIZE = 46 };

/* Reads a numeric IPv4 or IPv6 address; an IPv4-mapped IPv6 address becomes IPv4.  False for
 * anything else. */
bool ip_read(const char *text, char to[IP_TEXT_SIZE]);

#endif
