/* SPDX-License-Identifier: MIT */
/* client.h - an agent's side of the link: it joins once, then connects, and
 * connects again, for ever.
 *
 * Who the agent is stands in its folder (link/identity.h): agent.key, made at the first
 * start, and agent.pem (its certificate, then the CA's), which joining brings.  Without a
 * certificate it joins by the token; with one the token is not looked at, unless it has
 * expired.  A third of its life before its end a certificate is renewed over the open
 * session, and used from the next one on.
 *
 * After a connection is lost it waits: a random part of 0.1 s, twice as long after
 * each failure, up to 8 s; or as long as the server said, and up to a quarter more, so
 * that not all come at once.  A session that lived to its first ping makes failures
 * forgotten.  Several servers are tried in turn, beginning anywhere, and of one with
 * several addresses another each time.  Names are looked up off the loop's thread.  A
 * server that is silent for 3 pings is gone.
 *
 * Callbacks come from the loop only, and may call everything here, client_free()
 * included; fill_hello() alone may not. */
#ifndef LINK_CLIENT_H
#define LINK_CLIENT_H

#include "link/conn.h"

struct client;

struct client_settings {
    const char *dir;            /* of agent.key and agent.pem */
    const char *const *servers; /* "host:port" or "unix:/path", ends with NULL; at least one */
    const char *token;          /* "" if there is none (any more) */
    const char *ip;             /* of this host, as clients of the API call it; "": the one that
                                   our end of the connection to the server has */
    const char *agent_id;       /* to ask for when joining; "": the server makes one */
};

enum { CLIENT_UNWANTED_MS = 3600 * 1000 };

struct client_owner {
    /* Fills in what only the agent knows: hostname, boot_id, digest ... Texts must
     * live until the next call.  Asked for a join too, which takes hostname and
     * agent_version of it. */
    void (*fill_hello)(void *arg, struct message_hello *hello);
    void (*on_up)(void *arg, const struct message_welcome *welcome);
    /* Pings included, and errors that are about another message of ours than hello. */
    void (*on_message)(void *arg, unsigned type, const void *message);
    /* A session, or an attempt at one, has ended; the next is in again_ms: from
     * CLIENT_UNWANTED_MS on the server has said that it will not do (by a token that is not
     * good, say), and somebody should look. */
    void (*on_down)(void *arg, const struct err *why, int64_t again_ms);
    void (*on_joined)(void *arg, const char *agent_id); /* may be NULL */
};

/* Reads the identity; connects from the loop's next turn on.  Settings and owner are
 * copied.  ERR_INVALID if there is neither a certificate nor a token. */
int client_new(struct loop *loop, const struct client_settings *s, const struct client_owner *owner,
               void *arg, struct client **ret, struct err *err);
void client_free(struct client *c); /* says goodbye if it can; NULL is fine */

/* Other servers, as in the settings.  A session with one that is still among them stays;
 * else it ends (on_down() is called from here) and another is connected at once.  On failure
 * all stays as it was. */
int client_set_servers(struct client *c, const char *const *servers, struct err *err);

const char *client_agent_id(const struct client *c); /* "" until it has joined */
bool client_is_up(const struct client *c);
void client_send(struct client *c, unsigned type, const struct shape *s,
                 const void *message); /* dropped while it is down */

/* For simulated agents.  The session, if there is one, ends as if it were lost: on_down() is
 * called from here.  And one that hangs: nothing more is read in this session. */
void client_drop(struct client *c);
void client_pause(struct client *c);

#endif
