/* SPDX-License-Identifier: MIT */
/* command.h - decides how a command line is run: directly, or by the shell. A line of plain words
 * only (letters, digits and _ @ % + : , . / - and, except in the first word, =) has the same
 * meaning with and without a shell. If its program is an ELF file or begins with "#!", it is
 * executed directly, so that the pid is the program's own. Everything else goes to `/bin/sh -c`,
 * including errors: a missing program is then reported by the shell, in the usual form. */
#ifndef AGENT_EXEC_COMMAND_H
#define AGENT_EXEC_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "base/mem/arena.h"
#include "base/text/err.h"

struct command {
    const char *path;  /* to execute; relative to setup_path */
    const char *file;  /* the same as an absolute path, for a policy */
    char *const *argv; /* NULL-terminated */
    bool is_direct;    /* executed without a shell */
};

/* Cache of files known to be programs and unchanged since: they are not opened again. All zero:
 * empty. */
struct command_cache {
    struct {
        dev_t dev;
        ino_t ino;
        off_t size;
        struct timespec changed;
    } seen[16];
};

/* A program with a slash is relative to setup_path; a bare name is searched for in the folders of
 * `search` (like PATH). Reads from the disk and may block. The cache may be NULL. The result lives
 * in the arena. */
void command_plan(const char *line, const char *setup_path, const char *search,
                  struct command_cache *cache, struct arena *a, struct command *ret);

/* Splits a line of plain words; NULL: it is not one. */
char **command_words(const char *line, struct arena *a);

/* Whether the file name of the first word equals `name`, so that the program, executed directly,
 * has that name (find.h). */
bool command_has_name(const char *line, const char *name);

#endif
