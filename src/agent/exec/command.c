/* SPDX-License-Identifier: MIT */
/* command.c - see command.h. */
#include "agent/exec/command.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"

static bool command_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool command_is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("_@%+:,./-=", c));
}

/* -1: the line has a character with a meaning for the shell, or an assignment. */
static int count_words(const char *line)
{
    int n = 0;
    bool in_word = false;

    for (const char *p = line; *p; p++) {
        if (!command_is_blank(*p) && !in_word)
            n++;
        in_word = !command_is_blank(*p);
        if (in_word && (!command_is_plain(*p) || (*p == '=' && n == 1)))
            return -1;
    }
    return n;
}

char **command_words(const char *line, struct arena *a)
{
    int n = count_words(line), at = 0;
    char **words, *p;

    if (n <= 0)
        return NULL;
    words = arena_alloc(a, ((size_t)n + 1) * sizeof(*words));
    for (p = arena_strdup(a, line); *p;) {
        while (command_is_blank(*p))
            *p++ = '\0';
        if (*p)
            words[at++] = p;
        while (*p && !command_is_blank(*p))
            p++;
    }
    return words;
}

bool command_has_name(const char *line, const char *name)
{
    const char *word = line + strspn(line, " \t");
    size_t word_n = strcspn(word, " \t"), n = strlen(name);

    return n > 0 && word_n >= n && !memcmp(word + word_n - n, name, n) &&
           (word_n == n || word[word_n - n - 1] == '/');
}

/* Opens exactly the resolved file, even if its name was replaced. */
static bool begins_as_program(int path_fd)
{
    char self[64], head[4];
    ssize_t n = -1;
    int fd;

    snprintf(self, sizeof(self), "/proc/self/fd/%d", path_fd);
    fd = sys_open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (fd >= 0)
        n = sys_read(fd, head, sizeof(head));
    sys_close(fd);
    return n == sizeof(head) && (!memcmp(head, "\177ELF", 4) || !memcmp(head, "#!", 2));
}

static bool may_be_run(const struct stat *st)
{
    return S_ISREG(st->st_mode) && (st->st_mode & 0111);
}

static size_t command_place_of(const struct command_cache *c, const struct stat *st)
{
    return st->st_ino % ARRAY_LEN(c->seen);
}

/* Every change of a file updates its ctime, which can not be set by a program. */
static bool is_seen(const struct command_cache *c, const struct stat *st)
{
    size_t i = command_place_of(c, st);

    return c->seen[i].ino == st->st_ino && c->seen[i].dev == st->st_dev &&
           c->seen[i].size == st->st_size && c->seen[i].changed.tv_sec == st->st_ctim.tv_sec &&
           c->seen[i].changed.tv_nsec == st->st_ctim.tv_nsec;
}

static void note_seen(struct command_cache *c, const struct stat *st)
{
    size_t i = command_place_of(c, st);

    c->seen[i].dev = st->st_dev;
    c->seen[i].ino = st->st_ino;
    c->seen[i].size = st->st_size;
    c->seen[i].changed = st->st_ctim;
}

/* Whether the kernel can execute it without a shell. A pipe or a device is not opened, because
 * opening may have side effects. */
static bool is_program(const char *file, struct command_cache *cache)
{
    struct stat st;
    bool is;
    int fd;

    if (cache && !sys_stat(file, &st) && may_be_run(&st) && is_seen(cache, &st))
        return true;
    fd = sys_open(file, O_PATH, 0);
    is = fd >= 0 && !sys_fstat(fd, &st) && may_be_run(&st) && begins_as_program(fd);
    sys_close(fd);
    if (is && cache)
        note_seen(cache, &st);
    return is;
}

/* The first executable file, as in execvp(); NULL: none. */
static const char *search_for(const char *name, const char *search, struct arena *a)
{
    struct stat st;

    for (const char *p = search; *p;) {
        size_t n = strcspn(p, ":");
        const char *file = arena_printf(a, "%.*s/%s", (int)n, p, name);

        if (*p == '/' && !sys_stat(file, &st) && may_be_run(&st))
            return file;
        p += n + (p[n] == ':');
    }
    return NULL;
}

static bool plan_direct(char **words, const char *setup_path, const char *search,
                        struct command_cache *cache, struct arena *a, struct command *ret)
{
    const char *name = words[0], *file = name, *path = name;

    if (!strchr(name, '/'))
        file = path = search_for(name, search, a);
    else if (name[0] != '/')
        file = arena_printf(a, "%s/%s", setup_path, name);
    if (!file || !is_program(file, cache))
        return false;
    *ret = (struct command){ path, file, words, true };
    return true;
}

void command_plan(const char *line, const char *setup_path, const char *search,
                  struct command_cache *cache, struct arena *a, struct command *ret)
{
    static const char shell[] = "/bin/sh";
    char **argv = command_words(line, a);

    if (argv && plan_direct(argv, setup_path, search, cache, a, ret))
        return;
    argv = arena_alloc(a, 4 * sizeof(*argv));
    argv[0] = arena_strdup(a, shell);
    argv[1] = arena_strdup(a, "-c");
    argv[2] = arena_strdup(a, line);
    *ret = (struct command){ shell, shell, argv, false };
}
