/* SPDX-License-Identifier: MIT */
/* event_feed.h - those who listen to events as they happen, by server-sent events.
 *
 * One who comes with the id of an event is told those after it first, from the store: at
 * most FEED_RESUME_MAX, and `event: gap` says which are missing.  From then on each event is
 * told when it is stored; to who reads too slowly for that from the store again.  Who does not
 * read at all is cut off, and comes back with the last id it has; a stream ends too when its
 * app is changed, and when it has been open for FEED_OPEN_MS (another server may have changed
 * it), so that the app's rights are looked at again.  Every FEED_BEAT_MS something is sent, if
 * only the id of the last event that was looked at. */
#ifndef API_EVENT_FEED_H
#define API_EVENT_FEED_H

#include "api/event_seen.h"
#include "server/events.h"

enum {
    FEED_MAX = 100,    /* listeners, */
    FEED_APP_MAX = 50, /* and of one app, so that it leaves room for others */
    FEED_RESUME_MAX = 10000,
    FEED_BEAT_MS = 15 * 1000,
    FEED_OPEN_MS = APPS_KNOWN_MS, /* as long as an app is believed without asking the store */
};

struct event_feed;

struct event_feed *event_feed_new(const struct api_parts *parts);
void event_feed_stop(struct event_feed *f); /* ends all; who comes is turned away */
void event_feed_free(struct event_feed *f); /* stopped, and the store closed; NULL is fine */

void event_feed_drop(struct event_feed *f, const char *app_code); /* all of its streams end */

/* Takes the call over.  `after` -1: what comes from now on. */
void event_feed_add(struct event_feed *f, struct call *c, const struct event_sight *s,
                    int64_t after);

#endif
