/* SPDX-License-Identifier: MIT */
/* out.c - see out.h. */
#include "cli/out.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/os/sys.h"
#include "cli/width.h"
#include "model/translate.h"

enum { WIDTH_USUAL = 80, WRAPPED_MIN = 20 };

static const char *const codes[STYLES] = {
    [STYLE_PLAIN] = "",          [STYLE_HEAD] = "\033[1m",  [STYLE_GOOD] = "\033[32m",
    [STYLE_BAD] = "\033[31m",    [STYLE_DIM] = "\033[2m",   [STYLE_CYAN] = "\033[36m",
    [STYLE_YELLOW] = "\033[33m", [STYLE_BLUE] = "\033[34m", [STYLE_PURPLE] = "\033[35m",
    [STYLE_MARKED] = "\033[7m",
};

void out_init(struct out *o, int fd, const char *name, enum lang lang)
{
    struct winsize size = { 0 };

    *o = (struct out){ .fd = fd, .name = name, .lang = lang, .width = WIDTH_USUAL };
    o->terminal = isatty(fd);
    if (o->terminal && sys_ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
        o->width = size.ws_col;
}

void out_colour(struct out *o, enum colour_wish wish, const char *no_colour, const char *term)
{
    bool can = o->terminal && !(no_colour && *no_colour) && !(term && !strcmp(term, "dumb"));

    o->colour = wish == COLOUR_ALWAYS || (wish == COLOUR_AUTO && can);
}

void out_done(struct out *o)
{
    buf_free(&o->b);
}

void out_puts(struct out *o, const char *text)
{
    buf_puts(&o->b, text);
}

void out_styled(struct out *o, enum style style, const char *text)
{
    if (!o->colour || style == STYLE_PLAIN) {
        buf_puts(&o->b, text);
        return;
    }
    buf_puts(&o->b, codes[style]);
    buf_puts(&o->b, text);
    buf_puts(&o->b, "\033[0m");
}

/* The arguments may come from a server: they must not move the cursor. */
void out_text(struct out *o, enum text id, const char *const *args)
{
    const char *clean[TEXT_ARGS_MAX + 1] = { 0 };
    struct arena a = { 0 };

    for (size_t i = 0; i < TEXT_ARGS_MAX && args && args[i]; i++)
        clean[i] = width_clean(&a, msg_is(args[i]) ? translate(args[i], o->lang, &a) : args[i]);
    text_put(&o->b, o->lang, id, clean);
    arena_free(&a);
}

void out_line(struct out *o, enum text id, const char *const *args)
{
    out_text(o, id, args);
    buf_addc(&o->b, '\n');
}

void out_blanks(struct out *o, size_t n)
{
    while (n--)
        buf_addc(&o->b, ' ');
}

void out_wrapped(struct out *o, size_t column, enum style style, const char *text)
{
    size_t room = o->width > column + WRAPPED_MIN ? o->width - column : WRAPPED_MIN;
    struct arena a = { 0 };

    for (;;) {
        size_t n = o->terminal ? width_line(text, room) : strlen(text);

        out_styled(o, style, arena_memdup(&a, text, n));
        buf_addc(&o->b, '\n');
        text += n + strspn(text + n, " ");
        if (!*text)
            break;
        out_blanks(o, column);
    }
    arena_free(&a);
}

int out_flush(struct out *o, struct err *err)
{
    while (o->b.len) {
        ssize_t put = sys_write(o->fd, buf_data(&o->b), o->b.len);

        if (put < 0) {
            (void)err_sys(err, "write to %s", o->name); /* -1, returned below */
            buf_truncate(&o->b, 0);                     /* failed output is not written again */
            return -1;
        }
        buf_drop(&o->b, (size_t)put);
    }
    return 0;
}
