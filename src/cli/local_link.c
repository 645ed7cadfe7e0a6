/* SPDX-License-Identifier: MIT */
/* local_link.c - see local_link.h. */
#include "cli/local_link.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/os/sys.h"
#include "link/local.h"
#include "wire/net/frame.h"
#include "wire/net/listen.h"

/* CONNECT_MS: how long connecting is retried if the agent's queue is full.  SLICE_MS: how often
 * signals are checked. */
enum { CONNECT_MS = 5000, AGAIN_MS = 20, SLICE_MS = 100, READ_BYTES = 64 * 1024 };

static int local_link_fail(const struct cli *cli, int code, enum text id, const char *why,
                           struct err *err)
{
    return text_err(err, code, cli->lang, id, TEXT_ARGS(cli->local, why));
}

/* ---- connecting ---- */

static int fail_to_connect(const struct cli *cli, struct err *err)
{
    bool is_denied = errno == EACCES || errno == EPERM;
    char why[128];

    msg_constant(why, sizeof(why), strerror(errno));
    if (is_denied)
        return local_link_fail(cli, ERR_DENIED, TEXT_LOCAL_DENIED, why, err);
    return local_link_fail(cli, ERR_UNAVAILABLE, TEXT_LOCAL_AWAY, why, err);
}

/* connect() fails at once with EAGAIN while the agent's queue is full, which does not last long. */
static int connect_fd(const struct cli *cli, const struct address *at)
{
    int fd = sys_socket(AF_UNIX, SOCK_STREAM, 0), saved;
    int64_t until_ms = clock_mono_ms(cli->clock) + CONNECT_MS;

    if (fd < 0)
        return -1;
    while (sys_connect(fd, &at->u.any, at->len)) {
        if (errno == EAGAIN && clock_mono_ms(cli->clock) < until_ms) {
            sys_poll(NULL, 0, AGAIN_MS);
            continue;
        }
        saved = errno;
        sys_close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

/* An agent that refuses a connection sends the reason before it reads anything: then sending
 * fails, but the reason can be read. */
static void send_all(int fd, const struct buf *out)
{
    const char *bytes = buf_data(out);
    struct pollfd p = { .fd = fd, .events = POLLOUT };

    for (size_t done = 0; done < out->len;) {
        ssize_t n = sys_send(fd, bytes + done, out->len - done);

        if (n > 0)
            done += (size_t)n;
        else if (!sys_again() || sys_poll(&p, 1, CONNECT_MS) <= 0)
            return;
    }
}

int local_link_open(struct cli *cli, struct arena *a, unsigned type, const struct shape *s,
                    const void *question, struct local_link *ret, struct err *err)
{
    struct address at;
    struct buf out = { 0 };
    size_t mark = frame_begin(&out, (uint8_t)type, 0, 1);
    int bad;

    shape_write(s, question, &out);
    bad = frame_end(&out, mark, err) ||
          address_parse(arena_printf(&cli->arena, "unix:%s", cli->local), &at, err);
    if (!bad) {
        *ret = (struct local_link){ .cli = cli, .fd = connect_fd(cli, &at), .arena = a };
        cli->has_asked = true;
        cli->refused_status = CLI_OK;
        bad = ret->fd < 0 ? fail_to_connect(cli, err) : 0;
    }
    if (!bad)
        send_all(ret->fd, &out);
    buf_free(&out);
    return bad ? -1 : 0;
}

void local_link_close(struct local_link *l)
{
    sys_close(l->fd);
    buf_free(&l->in);
}

/* ---- receiving ---- */

int local_refused(struct cli *cli, int code, const char *text, struct err *err)
{
    cli->refused_status = code == ERR_UNAVAILABLE ? CLI_SERVER
                          : code == ERR_INVALID   ? CLI_USAGE
                                                  : CLI_SOME_FAILED;
    return text_err(err, code, cli->lang, TEXT_LOCAL_REFUSED, TEXT_ARGS(text));
}

static int set_refusal(const struct local_link *l, const struct message_error *e, struct err *err)
{
    const char *text = *e->text ? e->text : code_get((int)e->code)->text[l->cli->lang];
    int code = e->code == ERR_LIMIT ? ERR_UNAVAILABLE : (int)e->code;

    return local_refused(l->cli, code ? code : ERR_CONFLICT, text, err);
}

static int read_message(struct local_link *l, const struct frame *f, unsigned *ret_type,
                        const void **ret_message, struct err *err)
{
    const struct shape *s = local_shape(f->type);
    struct err inner = { 0 };
    void *message;

    if (!s)
        return local_link_fail(l->cli, ERR_MALFORMED, TEXT_LOCAL_NOT_OURS, "?", err);
    message = arena_alloc(l->arena, s->size);
    if (shape_read(s, f->body, f->body_n, 0, l->arena, message, &inner))
        return local_link_fail(l->cli, ERR_MALFORMED, TEXT_LOCAL_NOT_OURS, err_msg(&inner), err);
    if (f->type == MESSAGE_ERROR)
        return set_refusal(l, message, err);
    *ret_type = f->type;
    *ret_message = message;
    return 0;
}

/* Reads more bytes; 0 also if there are none yet. */
static int receive(struct local_link *l, int64_t wait_ms, struct err *err)
{
    struct pollfd p = { .fd = l->fd, .events = POLLIN };
    ssize_t n;

    if (sys_poll(&p, 1, (int)wait_ms) <= 0)
        return 0;
    n = sys_recv(l->fd, buf_reserve(&l->in, READ_BYTES), READ_BYTES);
    if (n > 0)
        l->in.len += (size_t)n;
    else if (n == 0 || !sys_again())
        return local_link_fail(l->cli, ERR_UNAVAILABLE, TEXT_LOCAL_LOST, "", err);
    return 0;
}

enum local_came local_link_next(struct local_link *l, int64_t until_ms, unsigned *ret_type,
                                const void **ret_message, struct err *err)
{
    buf_drop(&l->in, l->used);
    l->used = 0;
    for (;;) {
        struct err inner = { 0 };
        struct frame f;
        int64_t left_ms = until_ms - clock_mono_ms(l->cli->clock);

        switch (frame_read(buf_data(&l->in), l->in.len, &f, &l->used, &inner)) {
        case FRAME_READY:
            return read_message(l, &f, ret_type, ret_message, err) ? LOCAL_FAILED : LOCAL_CAME;
        case FRAME_BAD:
            local_link_fail(l->cli, ERR_MALFORMED, TEXT_LOCAL_NOT_OURS, err_msg(&inner), err);
            return LOCAL_FAILED;
        case FRAME_MORE: l->used = 0; break;
        }
        if (cli_is_interrupted())
            return LOCAL_INTERRUPTED;
        if (left_ms <= 0)
            return LOCAL_LATE;
        if (receive(l, left_ms < SLICE_MS ? left_ms : SLICE_MS, err))
            return LOCAL_FAILED;
    }
}
