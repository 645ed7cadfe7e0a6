/* SPDX-License-Identifier: MIT */
/* terminal.c - see terminal.h. */
#include "cli/terminal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"

/* SLICE_MS: how often signals are checked.  WIDTH_USUAL, HEIGHT_USUAL: of a terminal that does not
 * know its size. */
enum { SLICE_MS = 100, WIDTH_USUAL = 80, HEIGHT_USUAL = 24, LINES_MAX = 500 };

/* Alternate screen without a cursor, and back. */
static const char enter[] = "\033[?1049h\033[?25l";
static const char leave[] = "\033[?25h\033[?1049l";

/* ---- the screen ---- */

static void forget_lines(struct terminal *t)
{
    for (size_t i = 0; i < t->n_lines; i++)
        free(t->lines[i]);
    free(t->lines);
    t->lines = NULL;
    t->n_lines = 0;
}

static void measure(struct terminal *t)
{
    struct winsize size = { 0 };

    t->width = WIDTH_USUAL;
    t->height = HEIGHT_USUAL;
    if (sys_ioctl(t->out->fd, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row) {
        t->width = size.ws_col;
        t->height = size.ws_row < LINES_MAX ? size.ws_row : LINES_MAX;
    }
    forget_lines(t);
    t->lines = xalloc(t->height * sizeof(*t->lines));
    t->n_lines = t->height;
    out_puts(t->out, "\033[2J");
}

int terminal_draw(struct terminal *t, const char *const *lines, struct err *err)
{
    for (size_t i = 0; i < t->n_lines; i++) {
        if (t->lines[i] && !strcmp(t->lines[i], lines[i]))
            continue;
        buf_printf(&t->out->b, "\033[%zu;1H%s\033[K", i + 1, lines[i]);
        free(t->lines[i]);
        t->lines[i] = xstrdup(lines[i]);
    }
    return out_flush(t->out, err);
}

/* ---- begin and end ---- */

int terminal_open(struct terminal *t, int in, struct out *out, struct err *err)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH };
    struct termios raw;

    *t = (struct terminal){ .in = in, .out = out };
    if (tcgetattr(in, &t->before))
        return err_sys(err, "the settings of the terminal");
    sigemptyset(&t->signals);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        sigaddset(&t->signals, signals[i]);
    sigprocmask(SIG_BLOCK, &t->signals, &t->signals_before); /* of this thread; cannot fail */
    raw = t->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VSUSP] = _POSIX_VDISABLE; /* the terminal is not restored for that */
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(in, TCSAFLUSH, &raw)) {
        (void)err_sys(err, "the settings of the terminal"); /* -1, returned below */
        sigprocmask(SIG_SETMASK, &t->signals_before, NULL);
        return -1;
    }
    out_puts(out, enter);
    measure(t);
    return 0;
}

void terminal_close(struct terminal *t)
{
    struct err ignored; /* a terminal that is gone needs nothing */

    out_puts(t->out, leave);
    (void)out_flush(t->out, &ignored);
    (void)tcsetattr(t->in, TCSADRAIN, &t->before);
    sigprocmask(SIG_SETMASK, &t->signals_before, NULL);
    forget_lines(t);
}

/* ---- keys ---- */

size_t terminal_key(const char *bytes, size_t n, int *ret_key)
{
    static const struct {
        const char *text;
        int key;
    } keys[] = { { "\033[A", KEY_UP },   { "\033OA", KEY_UP },       { "\033[B", KEY_DOWN },
                 { "\033OB", KEY_DOWN }, { "\033[5~", KEY_PAGE_UP }, { "\033[H", KEY_HOME },
                 { "\033OH", KEY_HOME }, { "\033[1~", KEY_HOME },    { "\033[F", KEY_END },
                 { "\033OF", KEY_END },  { "\033[4~", KEY_END },     { "\033[6~", KEY_PAGE_DOWN } };
    size_t end = 2;

    if (!n)
        return 0;
    *ret_key = bytes[0] == '\033' ? KEY_ESCAPE : (unsigned char)bytes[0];
    if (bytes[0] != '\033' || n == 1 || (bytes[1] != '[' && bytes[1] != 'O'))
        return 1;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        size_t len = strlen(keys[i].text);

        if (n >= len && !memcmp(bytes, keys[i].text, len)) {
            *ret_key = keys[i].key;
            return len;
        }
    }
    *ret_key = -1;
    while (end < n && (bytes[end] < '@' || bytes[end] > '~'))
        end++;
    return end < n ? end + 1 : n;
}

static bool take_key(struct terminal *t, int *ret_key)
{
    size_t n = terminal_key(t->keys, t->n_keys, ret_key);

    t->n_keys -= n;
    memmove(t->keys, t->keys + n, t->n_keys);
    return n > 0;
}

/* -1: the terminal is gone. */
static int read_keys(struct terminal *t, int64_t ms)
{
    struct pollfd p = { .fd = t->in, .events = POLLIN };
    ssize_t n;

    if (sys_poll(&p, 1, (int)ms) <= 0)
        return 0;
    n = sys_read(t->in, t->keys, sizeof(t->keys));
    if (n <= 0)
        return n < 0 && sys_again() ? 0 : -1;
    t->n_keys = (size_t)n;
    return 0;
}

/* TERMINAL_NOTHING: no signal has come. */
static enum terminal_event take_signal(struct terminal *t)
{
    const struct timespec now = { 0 };
    int number = sigtimedwait(&t->signals, NULL, &now);

    if (number <= 0)
        return TERMINAL_NOTHING;
    if (number == SIGWINCH) {
        measure(t);
        return TERMINAL_RESIZED;
    }
    t->signal = number;
    return TERMINAL_END;
}

enum terminal_event terminal_wait(struct terminal *t, int64_t ms, int *ret_key)
{
    for (;;) {
        enum terminal_event event = take_signal(t);

        if (event != TERMINAL_NOTHING)
            return event;
        if (take_key(t, ret_key))
            return TERMINAL_KEY;
        if (ms <= 0)
            return TERMINAL_NOTHING;
        if (read_keys(t, ms < SLICE_MS ? ms : SLICE_MS))
            return TERMINAL_END;
        ms -= SLICE_MS;
    }
}
