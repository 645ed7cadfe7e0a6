/* SPDX-License-Identifier: MIT */
/* core_net.h - checks that the agent makes over the network: effect check() and its result. */
#ifndef AGENT_SUPERVISE_CORE_NET_H
#define AGENT_SUPERVISE_CORE_NET_H

#include "agent/supervise/core_effects.h"
#include "model/check.h"

/* A check to be made over the network, once; `id` is that of an operation, or of a try. */
struct core_check {
    uint64_t id;
    const struct proc_check *check; /* http or tcp */
    int64_t timeout_ms;
    bool is_urgent; /* a start waits for this port: other checks do not delay it */
    /* A start waits for it, so whose listener it is has to be known: CHECK_NOT_DONE if that is not
     * found in time. Otherwise the connection alone counts then. */
    bool needs_owner;
    struct core_family family; /* the listener has to belong to it, unless `any_owner` is set */
};

enum core_check_outcome {
    CHECK_OK,
    CHECK_FAILED,
    CHECK_FOREIGN,  /* the listener belongs to another process */
    CHECK_NOT_DONE, /* it could not be tried: this says nothing about the process */
};

struct core_checked {
    enum core_check_outcome outcome;
    double latency_ms;
    const char *text; /* unless CHECK_OK: the reason, a message */
};

#endif
