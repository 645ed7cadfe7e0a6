/* SPDX-License-Identifier: MIT */
/* command.c - see command.h. */
#include "agent/command.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/sys.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("_@%+:,./-=", c));
}

/* -1 if there is a character that only a shell understands, or an assignment. */
static int count_words(const char *line)
{
    int n = 0;
    bool in_word = false;

    for (const char *p = line; *p; p++) {
        if (!is_blank(*p) && !in_word)
            n++;
        in_word = !is_blank(*p);
        if (in_word && (!is_plain(*p) || (*p == '=' && n == 1)))
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
        while (is_blank(*p))
            *p++ = '\0';
        if (*p)
            words[at++] = p;
        while (*p && !is_blank(*p))
            p++;
    }
    return words;
}

/* Of what the path was found to lead to, and nothing that has taken its place. */
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

/* Whether the kernel would run it without a shell's help.  A pipe or a device is
 * not opened: that alone can do things. */
static bool is_program(const char *file)
{
    int fd = sys_open(file, O_PATH, 0);
    struct stat st;
    bool is = fd >= 0 && !sys_fstat(fd, &st) && S_ISREG(st.st_mode) && (st.st_mode & 0111) &&
              begins_as_program(fd);

    sys_close(fd);
    return is;
}

/* The first that can be executed, as execvp() finds it; NULL if none. */
static const char *search_for(const char *name, const char *search, struct arena *a)
{
    struct stat st;

    for (const char *p = search; *p;) {
        size_t n = strcspn(p, ":");
        const char *file = arena_printf(a, "%.*s/%s", (int)n, p, name);

        if (*p == '/' && !sys_stat(file, &st) && S_ISREG(st.st_mode) && (st.st_mode & 0111))
            return file;
        p += n + (p[n] == ':');
    }
    return NULL;
}

static bool plan_direct(char **words, const char *setup_path, const char *search, struct arena *a,
                        struct command *ret)
{
    const char *name = words[0], *file = name, *path = name;

    if (!strchr(name, '/'))
        file = path = search_for(name, search, a);
    else if (name[0] != '/')
        file = arena_printf(a, "%s/%s", setup_path, name);
    if (!file || !is_program(file))
        return false;
    *ret = (struct command){ path, file, words, true };
    return true;
}

void command_plan(const char *line, const char *setup_path, const char *search, struct arena *a,
                  struct command *ret)
{
    static const char shell[] = "/bin/sh";
    char **argv = command_words(line, a);

    if (argv && plan_direct(argv, setup_path, search, a, ret))
        return;
    argv = arena_alloc(a, 4 * sizeof(*argv));
    argv[0] = arena_strdup(a, shell);
    argv[1] = arena_strdup(a, "-c");
    argv[2] = arena_strdup(a, line);
    *ret = (struct command){ shell, shell, argv, false };
}
