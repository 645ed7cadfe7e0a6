/* SPDX-License-Identifier: MIT */
/* terminal.h - the whole screen of a terminal, and its keys.
 *
 * Between open and close, keys come at once and are not shown, and the signals SIGINT, SIGTERM,
 * SIGHUP and SIGWINCH are blocked: terminal_wait() tells of them.  terminal_close() restores the
 * terminal and the signals.  Only lines that have changed are written. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <signal.h>
#include <termios.h>

#include "cli/out.h"

enum terminal_event {
    TERMINAL_NOTHING, /* the time is over */
    TERMINAL_KEY,
    TERMINAL_RESIZED,
    TERMINAL_END, /* a signal, or the terminal is gone */
};

/* Keys that are no characters. */
enum { KEY_UP = 256, KEY_DOWN, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME, KEY_END, KEY_ESCAPE };

struct terminal {
    int in;
    struct out *out;
    struct termios before;
    sigset_t signals, signals_before;
    size_t width, height;
    char **lines; /* on the screen; NULL: unknown */
    size_t n_lines;
    char keys[64]; /* read, and not taken yet */
    size_t n_keys;
    int signal; /* that ended it; 0: none */
};

int terminal_open(struct terminal *t, int in, struct out *out, struct err *err);
void terminal_close(struct terminal *t);

/* Waits for a key or a signal. */
enum terminal_event terminal_wait(struct terminal *t, int64_t ms, int *ret_key);

/* `lines` are t->height lines. */
int terminal_draw(struct terminal *t, const char *const *lines, struct err *err);

/* Takes a key from the front of `bytes`: its length, 0 if there is none; *ret_key is -1 for a
 * sequence that is not known. */
size_t terminal_key(const char *bytes, size_t n, int *ret_key);

#endif
