/* SPDX-License-Identifier: MIT */
/* agent_hello.h - the hello message: description of the agent and its host. */
#ifndef AGENT_SHELL_AGENT_HELLO_H
#define AGENT_SHELL_AGENT_HELLO_H

#include "base/mem/arena.h"
#include "link/message.h"
#include "wire/tls/digest.h"

struct agent_base;

/* When the agent started, and the texts of the last message. Begins as {0} with `started_s` set. */
struct agent_hello {
    int64_t started_s; /* seconds since 1970 */
    struct arena texts;
    char digest[DIGEST_TEXT_SIZE];
};

/* Texts are valid until the next call or agent_hello_done(). */
void agent_hello_fill(struct agent_hello *h, struct agent_base *a, struct message_hello *ret);
void agent_hello_done(struct agent_hello *h);

#endif
