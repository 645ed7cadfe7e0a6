/* SPDX-License-Identifier: MIT */
/* core_hands.h - what the agent's core (core.h) asks to be done, and what it is told
 * of it. */
#ifndef AGENT_CORE_HANDS_H
#define AGENT_CORE_HANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "link/message.h"
#include "model/proc.h"

/* A process on this boot of this host; pid 0 is none. */
struct core_ident {
    int64_t pid, start_ticks;
};
static inline bool core_is_same(struct core_ident a, struct core_ident b)
{
    return a.pid == b.pid && a.start_ticks == b.start_ticks;
}

/* A command to run: its line in its folder as its user, output kept. */
struct core_run {
    uint64_t id;
    const char *task; /* whose command it is; "": a restart of our own making */
    int64_t item;
    const char *space, *name; /* of the process it belongs to */
    const char *what, *line;  /* "start", "stop", ...; what to run */
    const struct proc_spec *spec;
    bool wants_output; /* also when it succeeds */
};

/* It runs. */
struct core_began {
    struct core_ident ident;
    int64_t out_from; /* where in its file what it says begins */
    bool fits;        /* it is no shell, and has the name of the process: it may well be it */
};

/* A command that an agent before us began, and that may still run or have ended. */
struct core_adopt {
    uint64_t id; /* of the run, as if it had been begun by hand run() */
    const char *space, *name, *what;
    struct core_ident ident;
    int64_t out_from;
};

/* How a process or a command ended: 0 to 255 is its exit code, CORE_SIGNALED + n
 * means signal n, CORE_DUMPED + n that it left a core besides. */
enum { CORE_STATUS_UNKNOWN = -1, CORE_SIGNALED = 256, CORE_DUMPED = 512 };

struct message_figures;

enum core_found { FOUND_NOTHING, FOUND_IT, FOUND_ANOTHER };

/* What stands where the process should be. */
struct core_probe {
    uint64_t question; /* the look's; 0: the last that was asked */
    enum core_found found;
    struct core_ident ident;      /* FOUND_IT */
    const char *why;              /* else: what was found instead, one sentence */
    const struct core_ident *all; /* those that fit, where several are expected: it, too */
    size_t n_all;
    struct proc_view view; /* FOUND_IT: what the kernel says of it */
};

/* A question: who is it? */
struct core_look {
    uint64_t id, question; /* the operation's, and which of its questions */
    const char *space, *name;
    const struct proc_identity *identity;
    struct core_ident known; /* found before: while it lives it is the one; pid 0: none */
    struct core_ident start; /* our last command to start it: what descends from it is ours */
    struct core_ident self;  /* pid not 0: is this command of ours, or its only child, it? */
    bool is_renewed;         /* it was restarted: what is found now counts before `known` */
    bool is_doubtful;        /* an agent before us may have begun one that nobody knows of */
    int64_t instances;       /* more than 1: so many are expected, and all that fit are wanted */
    bool by_pid_file;        /* it is the one that its pid file names, or nobody */
    bool is_peek;            /* only to tell who watches: nothing is done about what is found */
    int64_t since_ms;        /* what ran by then is found; what has come later, perhaps */
    bool wants_view;         /* and what does the kernel say of it? */
};

/* What a process and all its descendants use. */
struct core_sample {
    int64_t cpu_us; /* since it began: of those that have ended, too, as far as is known */
    int64_t rss_bytes;
    int64_t processes;
    bool is_partial; /* there are more than were looked at: it is at least this */
};

struct core_hands {
    /* Appends a record.  A durable one is reported by core_on_durable(), with all
     * before it; the mark counts records. */
    uint64_t (*journal)(void *arg, unsigned type, const struct shape *s, const void *record,
                        bool durable);
    void (*send)(void *arg, unsigned type, const struct shape *s, const void *message);

    void (*run)(void *arg, const struct core_run *run);   /* -> core_on_run(), core_on_run_end() */
    void (*adopt)(void *arg, const struct core_adopt *a); /* -> core_on_run_end() */
    void (*end_run)(void *arg, uint64_t id);              /* SIGKILL to it and its children */
    void (*probe)(void *arg, const struct core_look *look); /* -> core_on_probe() */
    void (*watch)(void *arg, struct core_ident ident);      /* -> core_on_exit(), gone or not */
    void (*signal)(void *arg, struct core_ident ident, int number, bool with_children);

    /* Whether the policy of the host allows it: the process, and with `line` not "" that
     * command of it.  Else CODE_DENIED and why.  The only one that answers at once, and the
     * only one that may be NULL: all is allowed. */
    int (*allow)(void *arg, const struct proc_spec *spec, const char *line, struct err *err);
    void (*sample)(void *arg, struct core_ident ident); /* -> core_on_sample() */
    /* From now on its files are watched; an empty list ends it. -> core_on_file() */
    void (*files)(void *arg, const char *space, const char *name, const struct list *files);
    void (*try_port)(void *arg, uint64_t id, int64_t port); /* -> core_on_port() */
    /* What the agent itself uses, for the server, which is told; may be NULL. */
    void (*figures)(void *arg, struct message_figures *to);
};

#endif
