/* SPDX-License-Identifier: MIT */
/* sim.c - holdfast-sim: settings, the plan of the fleet, then the worker processes with their share
 * of the agents; this process is the front (fleetsim/fleet_front.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io/file.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/sys_fork.h"
#include "fleetsim/fleet_front.h"
#include "fleetsim/fleet_worker.h"
#include "link/lookup.h"

enum { TOKEN_FILE_MAX = 1024, OTHER_FDS = 64 };

struct program {
    struct fleet_settings settings;
    struct arena arena;
    struct fleet_plan plan;
    const char *token;
    struct fleet_child *children;
};

static int sim_read_token(struct program *p, struct err *err)
{
    const struct fleet_settings *s = &p->settings;
    struct buf text = { 0 };

    p->token = s->token;
    if (*s->token || !*s->token_file)
        return 0;
    if (file_read_secret(s->token_file, TOKEN_FILE_MAX, &text, err))
        return err_wrap(err, "%s", "token_file");
    p->token = arena_memdup(&p->arena, buf_text(&text), strcspn(buf_text(&text), " \t\r\n"));
    file_wipe(&text);
    return 0;
}

/* Each connection needs a descriptor. */
static int check_fds(const struct fleet_settings *s, struct err *err)
{
    int64_t needed = (s->agents + s->processes - 1) / s->processes + OTHER_FDS;
    struct rlimit limit;

    if (sys_prlimit(RLIMIT_NOFILE, NULL, &limit))
        return err_sys(err, "the number of open files");
    limit.rlim_cur = limit.rlim_max;
    if (sys_prlimit(RLIMIT_NOFILE, &limit, NULL))
        return err_sys(err, "the number of open files");
    if (limit.rlim_max != RLIM_INFINITY && needed > (int64_t)limit.rlim_max)
        return err_set(err, ERR_LIMIT,
                       "agents: %lld in %lld processes need %lld open files each, and %lld are "
                       "allowed; use more --processes, or raise ulimit -n",
                       (long long)s->agents, (long long)s->processes, (long long)needed,
                       (long long)limit.rlim_max);
    return 0;
}

static int sim_prepare(struct program *p, struct err *err)
{
    const struct fleet_settings *s = &p->settings;
    const char *wrong = lookup_check(s->server);
    char ip[FLEET_IP_SIZE];

    if (wrong)
        return err_set(err, ERR_INVALID, "%s: '%s' %s", "server", s->server, wrong);
    if (fleet_plan_init(&p->plan, s, err) || fleet_ip(s, s->agents - 1, ip, err) ||
        sim_read_token(p, err) || check_fds(s, err))
        return -1;
    if (sys_mkdir(s->dir, 0700) && errno != EEXIST)
        return err_sys(err, "%s: %s", "dir", s->dir);
    return 0;
}

/* The child exits by itself, so that no code of the parent runs twice. */
static int make_child(struct program *p, int64_t worker, struct err *err)
{
    int fds[2];
    pid_t pid;

    if (sys_socketpair(fds))
        return err_sys(err, "%s", "socketpair");
    pid = sys_fork();
    if (pid < 0) {
        sys_close(fds[0]);
        sys_close(fds[1]);
        return err_sys(err, "%s", "fork");
    }
    if (pid == 0) {
        int status;

        sys_close(fds[0]);
        for (int64_t i = 0; i < worker; i++)
            sys_close(p->children[i].fd);
        status = fleet_worker_run(&p->settings, &p->plan, p->token, worker, fds[1]);
        fleet_plan_done(&p->plan);
        arena_free(&p->arena);
        free(p->children);
        exit(status);
    }
    sys_close(fds[1]);
    p->children[worker] = (struct fleet_child){ pid, fds[0] };
    return 0;
}

static int sim_run(struct program *p, int *ret_status, struct err *err)
{
    p->children = xalloc((size_t)p->settings.processes * sizeof(*p->children));
    for (int64_t i = 0; i < p->settings.processes; i++) {
        if (make_child(p, i, err))
            return -1;
    }
    *ret_status = fleet_front_run(&p->settings, &p->plan, p->children);
    return 0;
}

int main(int argc, char **argv)
{
    struct program p = { 0 };
    struct config_loaded loaded = { 0 };
    struct err err = { 0 };
    int status = EXIT_SUCCESS;

    if (config_load(&fleet_config, argc, argv, environ, &p.arena, &p.settings, &loaded, &err) ||
        (!loaded.show && sim_prepare(&p, &err))) {
        fprintf(stderr, "holdfast-sim: %s\n", err.text);
        status = 2;
    } else if (loaded.show) {
        fputs(loaded.show, stdout);
    } else if (sim_run(&p, &status, &err)) {
        fprintf(stderr, "holdfast-sim: %s\n", err.text);
        status = EXIT_FAILURE;
    }
    fleet_plan_done(&p.plan);
    free(p.children);
    arena_free(&p.arena);
    return status;
}
