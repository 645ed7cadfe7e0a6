/* SPDX-License-Identifier: MIT */
/* mark.h - a number in the environment of a command, to find the command again. An agent that is
 * killed right after starting a command has not recorded its pid. The number is in the journal
 * before the start, so the next agent searches for it. */
#ifndef AGENT_IDENTIFY_MARK_H
#define AGENT_IDENTIFY_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem/arena.h"

/* "HOLDFAST_RUN=1234", for the command. */
const char *mark_variable(int64_t mark, struct arena *a);

/* The command itself, which is a session leader, and not its descendants; the oldest, if one of its
 * children is a session leader, too. */
struct mark_found {
    int64_t pid, start_ticks;
};
/* `output`: output file of the command, without symbolic links; also matches names with "~WHAT"
 * appended. Reads the memory of processes that write there and run as the owner of the file, so it
 * may block as long as that user likes. Processes of other users can not make it block, unless the
 * file is root's: a command of root may have changed its user. */
bool mark_find(int64_t mark, const char *output, struct mark_found *ret);

#endif
