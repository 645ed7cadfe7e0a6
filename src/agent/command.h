/* SPDX-License-Identifier: MIT */
/* command.h - what a command line runs: a program itself, or the shell.
 *
 * A line made only of plain words (letters, digits and _ @ % + : , . / - and, but
 * in the first, =) means the same with and without a shell.  If its program is an
 * ELF file or begins with "#!", it is executed as it is, so that the pid we get is
 * the program's own.  Everything else goes to `/bin/sh -c`, the errors too: what is
 * not there is then reported as people know it, by the shell. */
#ifndef AGENT_COMMAND_H
#define AGENT_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "base/arena.h"
#include "base/err.h"

struct command {
    const char *path;  /* to execute; relative ones from setup_path */
    const char *file;  /* the same, absolute: what a policy looks at */
    char *const *argv; /* ends with NULL */
    bool is_direct;    /* no shell between us and the program */
};

/* Files that were seen to be programs, and have not been changed since: they need not be
 * opened again.  All zeroes is an empty one. */
struct command_cache {
    struct {
        dev_t dev;
        ino_t ino;
        off_t size;
        struct timespec changed;
    } seen[16];
};

/* A program with a slash is looked for from setup_path, a bare name in the folders
 * of `search` (as PATH).  Reads from the disk, so it may block as long as that
 * does.  The cache may be NULL.  The result lives in the arena. */
void command_plan(const char *line, const char *setup_path, const char *search,
                  struct command_cache *cache, struct arena *a, struct command *ret);

/* Splits a line of plain words; NULL if it is not one. */
char **command_words(const char *line, struct arena *a);

/* Whether the file name of its first word is this one, so that the program, executed
 * directly, has that name (find.h). */
bool command_has_name(const char *line, const char *name);

#endif
