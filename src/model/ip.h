/* SPDX-License-Identifier: MIT */
/* ip.h - addresses of hosts, in one spelling each: they are compared as text. */
#ifndef MODEL_IP_H
#define MODEL_IP_H

#include <stdbool.h>

enum { IP_TEXT_SIZE = 46 };

/* Numeric ones of IPv4 and IPv6; one of IPv4 inside of IPv6 is that of IPv4. */
bool ip_read(const char *text, char to[IP_TEXT_SIZE]);

#endif
