/* SPDX-License-Identifier: MIT */
/* heartd.c - a small daemon to try Holdfast with: it prints a line each second.
 *
 *     heartd                 in the foreground, until SIGTERM
 *     heartd -d -p PIDFILE   as a classic daemon: forks twice, writes its pid
 *
 * SIGHUP makes it print that it has read its configuration again; it has none. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int fail(const char *what)
{
    fprintf(stderr, "heartd: %s: %s\n", what, strerror(errno));
    return 1;
}

static void become_daemon(void)
{
    for (int i = 0; i < 2; i++) {
        pid_t pid = fork();

        if (pid < 0)
            exit(fail("fork"));
        if (pid > 0)
            _exit(0);
        setsid();
    }
}

static int write_pid(const char *path)
{
    FILE *f = fopen(path, "w");

    if (!f)
        return fail(path);
    fprintf(f, "%d\n", (int)getpid());
    return fclose(f) ? fail(path) : 0;
}

static void beat(void)
{
    char text[32];
    time_t now = time(NULL);

    strftime(text, sizeof(text), "%H:%M:%S", localtime(&now));
    printf("%s still here\n", text);
    fflush(stdout);
}

static void run(void)
{
    const struct timespec second = { .tv_sec = 1 };
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (;;) {
        int number = sigtimedwait(&set, NULL, &second);

        if (number == SIGTERM)
            break;
        if (number == SIGHUP)
            puts("configuration read again");
        beat();
    }
    puts("goodbye");
}

int main(int argc, char **argv)
{
    const char *pid_path = NULL;
    bool is_daemon = false;
    int c;

    while ((c = getopt(argc, argv, "dp:")) != -1) {
        if (c == 'd')
            is_daemon = true;
        else if (c == 'p')
            pid_path = optarg;
        else
            return 2;
    }
    if (is_daemon)
        become_daemon();
    if (pid_path && write_pid(pid_path))
        return 1;
    run();
    if (pid_path)
        unlink(pid_path);
    return 0;
}
