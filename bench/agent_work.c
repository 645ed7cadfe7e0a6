/* SPDX-License-Identifier: MIT */
/* agent_work.c - the least a process can be, for bench/agent: it notes when it began
 * to run, and waits to be ended.
 *
 *     agent_work BOARD SLOT [PID_FILE [WORKERS]]
 *
 * BOARD is a file of struct agent_slot, of which SLOT is its own.  With a PID_FILE other
 * than "-" it forks twice; the first process ends when the last has written the file, and it
 * is the last whose beginning is noted.  It forks as many workers, which stay in its session
 * and process group, hold no descriptor, note nothing, and wait to be ended, too. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bench/agent_slot.h"

enum { LIFE_S = 1800, PAGE = 4096 };

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void note(const char *board, size_t slot, uint64_t began_ns)
{
    size_t at = slot * sizeof(struct agent_slot);
    int fd = open(board, O_RDWR | O_CLOEXEC);
    char *page =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(at / PAGE * PAGE));
    struct agent_slot *s;

    if (fd < 0 || page == MAP_FAILED)
        _exit(1);
    s = (struct agent_slot *)(void *)(page + at % PAGE);
    s->began_ns = began_ns;
    __atomic_store_n(&s->pid, (uint64_t)getpid(), __ATOMIC_RELEASE);
    munmap(page, PAGE);
    close(fd);
}

/* Returns in the last process only. */
static int fork_twice(void)
{
    int ready[2];
    char byte;

    if (pipe2(ready, O_CLOEXEC))
        _exit(1);
    if (fork()) {
        close(ready[1]);
        _exit(read(ready[0], &byte, 1) == 1 ? 0 : 1);
    }
    setsid();
    if (fork())
        _exit(0);
    close(ready[0]);
    return ready[1];
}

static void write_pid_file(const char *path)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "%d\n", (int)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    if (fd < 0 || write(fd, text, (size_t)n) != n)
        _exit(1);
    close(fd);
}

/* Whatever becomes of the benchmark, none of them stays behind. */
static void wait_to_be_ended(void) __attribute__((noreturn));
static void wait_to_be_ended(void)
{
    alarm(LIFE_S);
    for (;;)
        pause();
}

static void fork_workers(long n)
{
    for (; n > 0; n--) {
        if (fork())
            continue;
        close_range(0, ~0U, 0);
        wait_to_be_ended();
    }
}

int main(int argc, char **argv)
{
    uint64_t began_ns = now_ns();
    int ready = -1;

    if (argc < 3)
        return 2;
    if (argc > 3 && strcmp(argv[3], "-") != 0) {
        ready = fork_twice();
        began_ns = now_ns();
        write_pid_file(argv[3]);
        if (write(ready, "", 1) != 1)
            return 1;
        close(ready);
    }
    note(argv[1], strtoul(argv[2], NULL, 10), began_ns);
    if (argc > 4)
        fork_workers(strtol(argv[4], NULL, 10));
    wait_to_be_ended();
}
