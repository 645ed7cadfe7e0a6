/* SPDX-License-Identifier: MIT */
/* core_rules.h - what the operations are, and what each needs, for the core's own sources. */
#ifndef AGENT_CORE_RULES_H
#define AGENT_CORE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct op;

enum outcome { LEAVES_AS_IS, MAKES_RUN, MAKES_STOP };

struct op_rule {
    int64_t op;
    const char *name;
    enum outcome outcome;
    bool looks;             /* it matters who is there */
    int if_running, if_not; /* codes to end with at once; 0: go on */
    size_t command;         /* where in struct proc_control, or none */
    int signal;             /* in place of an empty command; 0: it needs one */
};

const struct op_rule *op_rule(const struct op *op); /* NULL: there is no such operation */
/* What it is doing right now: a restart in two halves is a stop, then a start. */
const struct op_rule *op_part(const struct op *op);
const char *op_line(const struct op *op);  /* that part's command; "" if there is none */
bool op_starts(const struct op *op);       /* its command is to bring the process up */
int64_t op_instances(const struct op *op); /* how many are expected; 0: one */
bool op_is_ours(const struct op *op);      /* of our own making */
/* What is down comes before what is asked for; a periodic run takes its turn. */
bool op_goes_first(const struct op *op);
bool op_is_acting(const struct op *op); /* it has begun, its outcome is not known yet */
/* Who asks need not say again what we know: neither what the process is, nor, with no
 * word about that, how it is run.  What never worked is only good for a question, and to end
 * what was left of it. */
void op_use_known_spec(struct op *op);
/* The code and the text to refuse it with, before anything is done; CODE_OK: all is
 * there.  The API has refused what lacks something, so this is for others. */
int op_lacks(struct op *op, const char **ret_what);

#endif
