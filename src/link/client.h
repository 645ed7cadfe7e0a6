/* SPDX-License-Identifier: MIT */
/* client.h - the agent's side of the link: joins once, then connects and reconnects forever.
 *
 * The agent's identity is in its folder (link/identity.h): agent.key, made at the first start, and
 * agent.pem (its certificate, then the CA's), which comes from joining.  Without a certificate the
 * agent joins with the token; with one the token is ignored unless the certificate has expired. A
 * certificate is renewed over the open session when a third of its lifetime is left, and the new
 * one is used from the next session on.
 *
 * After a lost connection the client waits: a random time of up to 0.1 s, doubled after each
 * failure, capped at 8 s; or as long as the server said, plus up to a quarter, so that agents do
 * not all reconnect at once.  A session that lived to its first ping resets the failure count.
 * Several servers are tried in turn, starting with a random one; a server with several addresses is
 * tried at another address each time; if a server refuses the agent, the others are tried at once.
 * Names are looked up off the loop's thread.  A server that is silent for 3 ping intervals is
 * considered lost.
 *
 * Callbacks come from the loop only.  They may call every function here, client_free() included;
 * fill_hello() may call none. */
#ifndef LINK_CLIENT_H
#define LINK_CLIENT_H

#include "link/conn.h"

struct client;

struct client_settings {
    const char *dir;            /* folder of agent.key and agent.pem */
    const char *const *servers; /* "host:port" or "unix:/path", ends with NULL; at least one */
    const char *token;          /* join token; "": none */
    const char *ip; /* address of this host as clients of the API know it; "": the local address of
                       the connection to the server */
    const char *agent_id; /* agent id to ask for when joining; "": the server makes one */
};

/* Waits after all servers have refused the agent permanently: an agent that has joined, and one
 * that may not join (its token is used up, say).  A join is tried again within a minute because an
 * operator is waiting for it. */
enum { CLIENT_UNWANTED_MS = 3600 * 1000, CLIENT_UNJOINED_MS = 45 * 1000 };

struct client_owner {
    /* Fills in hostname, boot_id, digest and the rest that only the agent knows.  The texts must
     * live until the next call.  Also called for a join, which uses hostname and agent_version. */
    void (*fill_hello)(void *arg, struct message_hello *hello);
    void (*on_up)(void *arg, const struct message_welcome *welcome);
    /* Every message of a session except those the client handles itself; pings are included, and so
     * are errors about a message other than hello. */
    void (*on_message)(void *arg, unsigned type, const void *message);
    /* A session or an attempt has ended; the next attempt is in again_ms.  client_is_unwanted()
     * tells whether the server refused the agent permanently (because of a bad token, say), so that
     * an operator has to act. */
    void (*on_down)(void *arg, const struct err *why, int64_t again_ms);
    void (*on_joined)(void *arg, const char *agent_id); /* may be NULL */
    void (*before_join)(void *arg); /* an attempt to join starts; client_set_token() may be called
                                       here; may be NULL */
};

/* Reads the identity; connects from the loop's next turn on.  Settings and owner are copied.
 * ERR_INVALID if there is neither a certificate nor a token. */
int client_new(struct loop *loop, const struct client_settings *s, const struct client_owner *owner,
               void *arg, struct client **ret, struct err *err);
void client_free(struct client *c); /* sends a goodbye if possible; NULL is fine */

/* Replaces the servers of the settings.  A session with a server that is still in the list stays;
 * any other session ends (on_down() is called from here) and a connection to another server is
 * started at once.  On failure nothing changes. */
int client_set_servers(struct client *c, const char *const *servers, struct err *err);

const char *client_agent_id(const struct client *c); /* "" until it has joined */
bool client_is_up(const struct client *c);
bool client_is_unwanted(const struct client *c); /* the last refusal was permanent */
void client_send(struct client *c, unsigned type, const struct shape *s,
                 const void *message); /* dropped unless client_is_up() */

/* Replaces the join token.  ERR_INVALID if the text is no token; the previous one stays. */
int client_set_token(struct client *c, const char *token, struct err *err);

/* For simulated agents.  client_drop() ends the session, if there is one, as if the connection were
 * lost; on_down() is called from here.  client_pause() simulates an agent that hangs: nothing more
 * is read in this session. */
void client_drop(struct client *c);
void client_pause(struct client *c);

#endif
