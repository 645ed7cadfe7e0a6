/* SPDX-License-Identifier: MIT */
/* mark.c - see mark.h. */
#include "agent/identify/mark.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/identify/procfs.h"
#include "base/mem/buf.h"
#include "base/os/sys.h"

#define MARK "HOLDFAST_RUN=%lld"

enum { ENVIRONMENT_MAX = 1 << 20, PIECE = 64 * 1024 };

const char *mark_variable(int64_t mark, struct arena *a)
{
    return arena_printf(a, MARK, (long long)mark);
}

struct search {
    char text[48];
    const char *output;      /* see mark_find() */
    struct mark_found found; /* pid 0: not found yet */
};

/* `bytes` are strings, each terminated by NUL. */
static bool has_string(const char *bytes, size_t n, const char *text)
{
    size_t len = strlen(text) + 1;
    const char *at = bytes, *end = bytes + n;

    while ((at = memmem(at, (size_t)(end - at), text, len))) {
        if (at == bytes || !at[-1])
            return true;
        at++;
    }
    return false;
}

/* The file belongs to its user, or to a user that it has switched from or to: only root can do
 * that. */
static bool has_user_of(pid_t pid, const char *file)
{
    struct stat st;
    struct err why;
    uid_t uid;

    return !procfs_uid(pid, &uid, &why) && !sys_stat(file, &st) &&
           (uid == st.st_uid || uid == 0 || st.st_uid == 0);
}

static bool is_output(const char *output, const char *file)
{
    size_t n = strlen(output);

    return !strncmp(file, output, n) &&
           (file[n] == '\0' || (file[n] == '~' && !strchr(file + n, '/')));
}

/* Whether it writes to the output file, which is in a folder that only the agent can enter. The
 * number alone could be forged by another user's process. Reads only a link and the agent's own
 * file; memory of the process is read after this check. */
static bool writes_to_us(const struct search *s, pid_t pid)
{
    char path[64], to[PATH_MAX];

    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)pid, fd);
        ssize_t got = sys_readlinkat(AT_FDCWD, path, to, sizeof(to) - 1);

        if (got <= 0)
            continue;
        to[got] = '\0';
        if (is_output(s->output, to) && has_user_of(pid, to))
            return true;
    }
    return false;
}

/* False also if the environment can not be read: then it is not a command of the agent. */
static bool is_marked(const struct search *s, pid_t pid)
{
    struct buf b = { 0 };
    char path[64];
    ssize_t got = 0;
    bool found;
    int fd;

    snprintf(path, sizeof(path), "/proc/%ld/environ", (long)pid);
    fd = sys_open(path, O_RDONLY, 0);
    while (fd >= 0 && b.len < ENVIRONMENT_MAX &&
           (got = sys_read(fd, buf_reserve(&b, PIECE), PIECE)) > 0)
        b.len += (size_t)got;
    found = b.len > 0 && has_string(buf_data(&b), b.len, s->text);
    sys_close(fd);
    buf_free(&b);
    return found;
}

static bool on_pid(void *search, pid_t pid)
{
    struct search *s = search;
    struct procfs_stat st;
    struct err ignored;

    if (procfs_stat(pid, &st, &ignored) || st.session != pid || st.state == 'Z' ||
        (s->found.pid && s->found.start_ticks <= st.start_ticks) || !writes_to_us(s, pid) ||
        !is_marked(s, pid))
        return true;
    s->found = (struct mark_found){ st.pid, st.start_ticks };
    return true;
}

bool mark_find(int64_t mark, const char *output, struct mark_found *ret)
{
    struct search s = { .output = output };
    struct err ignored; /* on failure it is not found */

    snprintf(s.text, sizeof(s.text), MARK, (long long)mark);
    if (procfs_each(on_pid, &s, &ignored) || !s.found.pid)
        return false;
    *ret = s.found;
    return true;
}
