/* SPDX-License-Identifier: MIT */
/* event_feed.h - streams of events for clients, as server-sent events.
 *
 * A client that sends the id of an event first gets the events after it, from the store: at most
 * FEED_RESUME_MAX; `event: gap` names those that are missing.  After that each event is sent when
 * it is stored.  A client that reads too slowly is served from the store again.  A client that does
 * not read at all is disconnected, and can resume with its last id.  A stream also ends when its
 * app changes and after FEED_OPEN_MS (another server may have changed the app), so that the app's
 * rights are checked again.  At least every FEED_BEAT_MS something is sent, if only the id of the
 * last event that was examined. */
#ifndef API_PIPELINE_EVENT_FEED_H
#define API_PIPELINE_EVENT_FEED_H

#include "api/pipeline/api_parts.h"
#include "api/pipeline/event_scope.h"
#include "server/events/events.h"

enum {
    FEED_MAX = 100,    /* streams of all apps */
    FEED_APP_MAX = 50, /* of one app, so that others can connect */
    FEED_RESUME_MAX = 10000,
    FEED_BEAT_MS = 15 * 1000,
    FEED_OPEN_MS = APPS_KNOWN_MS, /* as long as an app is cached without asking the store */
};

struct event_feed;

struct event_feed *event_feed_new(const struct api_parts *parts);
void event_feed_stop(struct event_feed *f); /* ends all streams; later ones are refused */
void event_feed_free(struct event_feed *f); /* stopped, and the store closed; NULL is allowed */

void event_feed_drop(struct event_feed *f, const char *app_code); /* ends all streams of the app */

/* Takes over the call.  `after` -1: only new events. */
void event_feed_add(struct event_feed *f, struct call *c, const struct event_scope *s,
                    int64_t after);

#endif
