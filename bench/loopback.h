/* SPDX-License-Identifier: MIT */
/* loopback.h - what the programs that bench/http drives have in common: their
 * answers, how they are stopped, and how many descriptors they may have. */
#ifndef BENCH_LOOPBACK_H
#define BENCH_LOOPBACK_H

#include <stddef.h>

/* The body of every answer, about 100 bytes. */
#define LOOPBACK_ANSWER                                                                            \
    "{\"result\":true,\"code\":0,\"message\":\"success\",\"data\":{\"task_id\":"                   \
    "\"GSETASK:20261115054753:1000\"}}"

enum { LOOPBACK_LIFE_S = 900, LOOPBACK_ANSWER_MAX = 4096 };

/* Takes all the descriptors the system allows, and ends the process by SIGALRM
 * after LOOPBACK_LIFE_S: whatever goes wrong, it does not stay behind. */
void loopback_begin(void);

/* "NAME: what: why" to stderr, and the end. */
void loopback_die(const char *what, const char *why) __attribute__((noreturn));

/* For the echoes: an answer of n bytes that a client takes for HTTP; a header
 * fills it up. */
void loopback_make_answer(char to[LOOPBACK_ANSWER_MAX], size_t n);

/* Tells the driver where we listen. */
void loopback_ready(unsigned port);

#endif
