/* SPDX-License-Identifier: MIT */
/* core_effects.h - the effects that the agent's core (core.h) requests, and the data of their
 * results. */
#ifndef AGENT_SUPERVISE_CORE_EFFECTS_H
#define AGENT_SUPERVISE_CORE_EFFECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "link/message.h"
#include "model/proc.h"

/* A process on the current boot of this host; pid 0: none. */
struct core_ident {
    int64_t pid, start_ticks;
};
static inline bool core_is_same(struct core_ident a, struct core_ident b)
{
    return a.pid == b.pid && a.start_ticks == b.start_ticks;
}

/* A command to run: a command line in a directory as a user, with captured output. */
struct core_run {
    uint64_t id;
    const char *task; /* the task it belongs to; "": an internal operation */
    int64_t item;
    const char *space, *name; /* of the process it belongs to */
    const char *what, *line;  /* "start", "stop", ...; the command line */
    const struct proc_spec *spec;
    bool wants_output; /* also if the command succeeds */
    int64_t mark;      /* find_run() searches for it; 0: not needed */
};

/* BEGUN_UNKNOWN: it cannot be determined yet; ask again. */
enum core_begun { BEGUN_NOT, BEGUN_RUNS, BEGUN_UNKNOWN };

/* A command has started. */
struct core_began {
    struct core_ident ident;
    int64_t out_from; /* offset in the output file where its output begins */
    bool fits;        /* it is not a shell and has the name of the process: probably the process */
};

/* A command that a previous agent started, and that may still run or have ended. */
struct core_adopt {
    uint64_t id; /* id of the run, as if effect run() had started it */
    const char *space, *name, *what;
    struct core_ident ident;
    int64_t out_from;
};

/* Exit status of a process or command: 0 to 255 is the exit code, CORE_SIGNALED + n means signal
 * n, CORE_DUMPED + n means signal n with a core dump. */
enum { CORE_STATUS_UNKNOWN = -1, CORE_SIGNALED = 256, CORE_DUMPED = 512 };

struct core_check; /* core_net.h */
struct core_checked;
struct message_agent_stats;
struct proc_check_view;

/* FOUND_UNSURE: the process may run, but cannot be distinguished from others, or its pid file is
 * not trusted.  FOUND_DENIED: no search was made; the host's policy forbids the operation. */
enum core_found { FOUND_NOTHING, FOUND_IT, FOUND_ANOTHER, FOUND_UNSURE, FOUND_DENIED };

/* The result of a probe. */
struct core_probe {
    uint64_t question; /* number of the question (core_look); 0: the last one */
    enum core_found found;
    struct core_ident ident;      /* FOUND_IT */
    const char *why;              /* otherwise: what was found instead, one sentence */
    const char *program, *script; /* FOUND_ANOTHER: find_result of find.h; may be NULL */
    const struct core_ident *all; /* if several instances are expected: all matches */
    size_t n_all;
    struct proc_view view; /* FOUND_IT: data from the kernel */
};

/* A probe request: which process is it? */
struct core_look {
    uint64_t id, question; /* id of the operation; number of the question within it */
    const char *space, *name;
    const struct proc_identity *identity;
    struct core_ident known; /* found earlier: the answer while it lives; pid 0: none */
    struct core_ident start; /* the last start command: its descendants are candidates */
    /* Pid not 0: check whether this command, or exactly one topmost descendant, is the process. */
    struct core_ident self;
    bool is_renewed;      /* after a restart: a new match takes precedence over `known` */
    bool may_be_replaced; /* `known` lives, but the pid file may name its successor: another process
                             that fits and descends from `known` or `start` is the answer then */
    bool is_doubtful;     /* a previous agent may have started a process that is not recorded */
    bool is_of_start;     /* the process has ended: only a descendant of `start` matches */
    bool is_leader;       /* a search finds only processes that lead their session */
    int64_t instances;    /* more than 1: this many are expected, and all matches are wanted */
    bool by_pid_file;     /* only the process that the pid file names matches */
    bool is_untrusted;    /* requested by an app without the right to start or host: see find.h */
    bool is_peek;         /* only for display: the result causes no action */
    int64_t since_ms; /* processes started before this time are found; later ones may be missed */
    bool wants_view;  /* also return data from the kernel */

    /* Not NULL: allow() could not decide.  The policy is checked first, for this process and
     * these commands of it (NULL-terminated). */
    const struct proc_spec *unchecked;
    const char *const *unchecked_lines;
};

/* Resource usage of a process and all its descendants. */
struct core_sample {
    int64_t cpu_us; /* since its start; includes ended descendants as far as known */
    int64_t rss_bytes;
    int64_t processes;
    bool is_partial; /* not all descendants were examined: the values are lower bounds */
};

/* The family of a process: its main process, the command that started it, and what descends from
 * them; agent/identify/family.h has the rules. */
struct core_family {
    uint64_t id, question; /* as in core_look */
    const char *space, *name;
    const struct proc_spec *spec;
    struct core_ident main;  /* it may have ended; pid 0: none was found */
    int64_t ended_ms;        /* when it ended; INT64_MAX: it lives; 0: unknown */
    struct core_ident start; /* the start command of this run; pid 0: not started by an agent */
    const char *siblings;    /* not family: as core_on_siblings() got them; "": none recorded */
    int number;              /* the signal that each member gets; 0: none */
    bool has_crashed;        /* the main process ended by itself: a member that leads a session of
                                its own and runs another program is named, and gets no signal */
    bool wants_orphans;      /* the last start has failed: orphans that run the program of the main
                                process are named (orphans.h) */
};

/* The members that live, but for the main process. */
struct core_members {
    uint64_t question;
    size_t n;           /* those that are to be ended */
    bool may_be_main;   /* one of these has the name of the process */
    const char *names;  /* of these, for people: "nginx (12), nginx (13)" */
    const char *others; /* of those that are not ended, and may belong to it; "": none */
};

struct core_effects {
    /* Appends a record and returns its mark, a record count.  core_on_durable() reports a
     * durable record together with all records before it. */
    uint64_t (*journal)(void *arg, unsigned type, const struct shape *s, const void *record,
                        bool durable);
    void (*send)(void *arg, unsigned type, const struct shape *s, const void *message);

    void (*run)(void *arg, const struct core_run *run);   /* -> core_on_run(), core_on_run_end() */
    void (*adopt)(void *arg, const struct core_adopt *a); /* -> core_on_run_end() */
    void (*end_run)(void *arg, uint64_t id); /* SIGKILL to the command and its children */
    void (*probe)(void *arg, const struct core_look *look); /* -> core_on_probe() */
    /* -> core_on_exit(), also if it has already exited */
    void (*watch)(void *arg, struct core_ident ident);
    void (*signal)(void *arg, struct core_ident ident, int number, bool with_children);
    /* A signal that is never sent twice: not unless all records before it are written.
     * ERR_NOT_FOUND: the process has ended. */
    int (*deliver)(void *arg, struct core_ident ident, int number, struct err *err);

    /* Whether the host's policy allows the process and, if `line` is not "", this command of
     * it.  Fails with CODE_DENIED and a reason, or with ERR_UNAVAILABLE: it cannot be decided at
     * once, and the next probe checks it (core_look.unchecked).  May be NULL: everything is
     * allowed. */
    int (*allow)(void *arg, const struct proc_spec *spec, const char *line, struct err *err);
    void (*sample)(void *arg, struct core_ident ident); /* -> core_on_sample() */

    /* These may be NULL: no process has a family. */
    /* At once and cheap.  False: no member but the main process lives. */
    bool (*has_family)(void *arg, const struct core_family *f);
    /* Finds the members, and sends them the signal. -> core_on_family() */
    void (*family)(void *arg, const struct core_family *f);
    /* The answer comes too late: from now on its members get no signal.  May be NULL. */
    void (*drop_family)(void *arg, uint64_t id);
    /* A start has succeeded, and the main process is not the command: what else did the command
     * start? -> core_on_siblings() */
    void (*siblings)(void *arg, const struct core_family *f);
    bool (*is_alive)(void *arg, struct core_ident ident); /* at once */
    /* Whether only the main process of this spec is ever ended (scope `process`); at once. */
    bool (*is_alone)(void *arg, const struct proc_spec *spec);
    /* Starts watching these files; an empty list stops it. -> core_on_file() */
    void (*files)(void *arg, const char *space, const char *name, const char *user,
                  const struct list *files);
    void (*check)(void *arg, const struct core_check *check); /* -> core_on_check() */
    /* A check has begun to fail, or passes again.  May be NULL. */
    void (*check_changed)(void *arg, const char *space, const char *name,
                          const struct proc_check_view *check);
    /* Its main process `pid` has ended, and it stays down.  May be NULL. */
    void (*at_rest)(void *arg, const char *pid_path, int64_t pid);
    /* Reads the files of this process again, also if they seem unchanged. -> core_on_file() */
    void (*files_again)(void *arg, const char *space, const char *name);
    /* Resource usage of the agent itself, reported to the server.  May be NULL. */
    void (*agent_stats)(void *arg, struct message_agent_stats *to);
    /* The tables of the core do not have this pair: a fault of the core.  May be NULL. */
    void (*unexpected)(void *arg, const char *state, const char *event);
    /* Whether a command of this process with this mark runs, which a previous agent was about to
     * start.  Of the other members of `run` only the spec is used.  May be NULL. */
    enum core_begun (*find_run)(void *arg, const struct core_run *run, struct core_ident *ret);
    /* The result of effect check() is no longer wanted, and none comes.  May be NULL. */
    void (*drop_check)(void *arg, uint64_t id);
};

#endif
