/* SPDX-License-Identifier: MIT */
/* far_in.h - what the two sides of far.h say to each other.  Not for others.
 *
 *   far.c       the owner's side: fars, and what is told to their owners
 *   far_crew.c  the threads, and the streams on them
 *
 * A far and its `there` are two ends of one thing, each touched by its own thread alone; what
 * either wants of the other goes as a message.  An end is freed last by what the other says:
 * `there` by ORDER_FREE, after which nothing is sent to it, the far by NOTE_GONE. */
#ifndef WIRE_FAR_IN_H
#define WIRE_FAR_IN_H

#include "base/queue.h"
#include "wire/far.h"

enum order_kind {
    ORDER_OPEN,
    ORDER_WRITE, /* bytes */
    ORDER_MORE,  /* n bytes that were told of have arrived */
    ORDER_END,
    ORDER_FREE, /* the last one */
};

struct order {
    struct queue_node node;
    enum order_kind kind;
    struct there *to;
    size_t n;
    char bytes[];
};

enum note_kind {
    NOTE_READY,  /* facts, or why there are none; is_resumed */
    NOTE_BYTES,  /* bytes */
    NOTE_SENT,   /* the socket has taken n more */
    NOTE_END,    /* why; NULL: in order */
    NOTE_CLOSED, /* what ORDER_END began is through */
    NOTE_GONE,   /* the last one, in answer to ORDER_FREE */
};

struct note {
    struct queue_node node;
    enum note_kind kind;
    struct far *to;
    struct err *why;
    struct cert_facts *facts;
    bool is_resumed;
    size_t n;
    char bytes[];
};

void note_free(struct note *n);

/* Of a peer's bytes so many may be between the two threads; that some have arrived is said
 * when they are half as many. */
enum { FAR_WAY = 128 * 1024 };

/* A thread's end of a far.  Made by the owner's thread, and the other's from ORDER_OPEN on. */
struct there {
    struct worker *worker;
    struct far *far; /* only to be named */
    struct tls *tls; /* until it is open */
    struct stream_limits limits;
    struct stream *stream; /* NULL: not open yet, or closed */
    struct timer progress; /* while bytes wait, the owner hears now and then how many */
    size_t away;           /* bytes on their way to the owner, as far as we know */
    size_t written, sent;  /* bytes that came from the owner; those it knows the socket took */
    int fd;
    bool paused;
};

struct worker;

int worker_new(struct queue *notes, struct worker **ret, struct err *err);
void worker_free(struct worker *w); /* does what it was told, and ends; NULL is fine */
void worker_tell(struct worker *w, struct order *o);

#endif
