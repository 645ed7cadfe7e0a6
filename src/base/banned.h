/* SPDX-License-Identifier: MIT */
/* banned.h - calls nobody here may make; the build puts this in front of
 * every file.  The headers that declare them come first, so that only our
 * own uses are refused. */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC poison strcpy strcat sprintf vsprintf strncpy strncat strtok atoi atol atof gets
#pragma GCC poison tmpnam mktemp popen

#endif
