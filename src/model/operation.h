/* SPDX-License-Identifier: MIT */
/* operation.h - the operations on a process, one row each (operation_rows.h): number, names, what
 * an operation needs, and what it does.  Agent, server, API, command line and simulated agents all
 * read these rows, so a new operation is a new row.
 *
 * Numbers come from outside: any number may be asked for, and one without a row is no operation. */
#ifndef MODEL_OPERATION_H
#define MODEL_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/code.h"
#include "wire/json/shape.h"

/* By BlueKing's number; an operation that BlueKing does not have has one of ours. */
enum proc_op {
#define OPERATION(id, kind, number, ...) PROC_OP_##id = (number),
#include "model/operation_rows.h"
    PROC_OP_END /* one more than the last: the rows are sorted */
};

enum operation_kind {
    ONLY_LOOKS,      /* changes nothing */
    CHANGES_HOSTING, /* only whether the process is hosted; does not look for the process */
    ACTS_ON_PROCESS, /* runs a command or sends a signal; takes a slot of the agent */
};

/* What it does to the process when it succeeds. */
enum operation_outcome { LEAVES_AS_IS, MAKES_RUN, MAKES_STOP };

/* What it does to the hosting when it succeeds. */
enum operation_hosting { HOSTING_STAYS, HOSTING_BEGINS, HOSTING_ENDS };

/* What it needs of spec.identity; Job's processes need no paths. */
enum operation_needs {
    NEEDS_NOTHING,
    NEEDS_IDENTITY, /* proc_name, setup_path and user; the agent checks */
    NEEDS_PID_PATH, /* pid_path, too; the API checks before anything is done */
};

/* Wanted and actual state share their numbers, which are BlueKing's. */
enum proc_status { PROC_UNREGISTERED = 0, PROC_RUNNING = 1, PROC_STOPPED = 2 };

/* The commands of a spec; "": none. */
struct proc_control {
    const char *start_cmd, *stop_cmd, *restart_cmd, *reload_cmd, *kill_cmd, *version_cmd,
        *health_cmd;
};

/* One of the commands in spec.control; without a name: none. */
struct control_command {
    size_t offset;    /* in struct proc_control */
    const char *name; /* "start_cmd" */
};

/* BlueKing's operations have the numbers up to this one. */
enum { OPERATION_BLUEKING_MAX = 9 };

struct operation {
    int64_t number;   /* enum proc_op */
    const char *name; /* "start"; NULL: no operation has this number */
    const char *verb[LANGS];
    const char *doing[LANGS]; /* "being started"; only of ACTS_ON_PROCESS */
    enum operation_kind kind;
    enum operation_outcome outcome;
    enum operation_hosting hosting; /* HOSTING_BEGINS also stores the spec of the request */
    int64_t wanted; /* enum proc_status after success; PROC_UNREGISTERED: as it was before */
    bool replaces;  /* ends a running process; without its command: a stop, then a start */
    int if_running; /* code where the process runs already; 0: go on */
    int if_stopped; /* code where it does not run; 0: go on */
    int signal;     /* in place of an empty command; SIGTERM stands for stop_signal of the spec */
    struct control_command command;               /* what it runs */
    struct control_command required, or_required; /* one of them may not be empty */
    enum operation_needs needs;
    bool brings_spec;      /* an app that may do it may send commands, user and paths */
    const char *alias;     /* another name of the CLI command; NULL: none */
    int64_t manage_number; /* op_type of Job's manage_proc; 0: it has none */
    bool takes_signal;     /* sends the signal that the request names, once */
};

const struct operation *operation_find(int64_t number); /* NULL: no operation */
const struct operation *operation_find_name(const char *name);
const struct operation *operation_find_managed(int64_t number); /* by manage_number */
const struct operation *operation_find_gse(int64_t number); /* NULL: BlueKing does not have it */
const char *operation_name(int64_t number);                 /* NULL: no operation */

/* The line that it has in a spec; "" for no command. */
const char *operation_line(const struct control_command *c, const struct proc_control *control);

/* Of any number; false where there is no such operation. */
bool operation_has_kind(int64_t number, enum operation_kind kind);
bool operation_is_bluekings(int64_t number); /* known to BlueKing's calls */
bool operation_has_outcome(int64_t number, enum operation_outcome outcome);
bool operation_registers(int64_t number); /* begins hosting: its spec is stored */

/* The command before a start command, whose output is that of the process, too. */
#define OPERATION_PRE_START "pre_start"

/* Whether the agent keeps the output of the command `what` ("stop", "version").  The output of an
 * operation that makes the process run is the output of the process itself. */
bool operation_is_output(const char *what);
bool operation_is_own_output(const char *what);

/* `code` says that the process was in the wanted state already, so nothing was done. */
bool operation_was_done(int64_t number, int64_t code);

extern const struct enum_name operation_names[]; /* by number */

/* "0 start, 1 stop, ...", for the reference: those of BlueKing. */
extern const char operation_list_doc[]; /* every row begins with a comma */
#define OPERATIONS_DOC (&operation_list_doc[2])

#endif
