/* SPDX-License-Identifier: MIT */
/* program.h - identifies the file that a process runs, to tell programs apart. */
#ifndef AGENT_IDENTIFY_PROGRAM_H
#define AGENT_IDENTIFY_PROGRAM_H

#include <stdint.h>

uint64_t program_of(int64_t pid); /* 0: unknown */

#endif
