/* SPDX-License-Identifier: MIT */
/* banned.h - forbids unsafe libc functions; the build includes it in front of every file.  The
 * headers that declare them are included first, so that only our own uses are errors. */
#ifndef BASE_OS_BANNED_H
#define BASE_OS_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC poison strcpy strcat sprintf vsprintf strncpy strncat strtok atoi atol atof gets
#pragma GCC poison tmpnam mktemp popen

#endif
