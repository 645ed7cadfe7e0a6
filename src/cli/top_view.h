/* SPDX-License-Identifier: MIT */
/* top_view.h - what `top` shows: processes in, lines of a screen out.  Pure: it knows no terminal.
 *
 * A screen has a line of totals, a line of column heads, the processes, and at the bottom a line
 * for keys or a message.  Every line fits the width. */
#ifndef CLI_TOP_VIEW_H
#define CLI_TOP_VIEW_H

#include "cli/out.h"
#include "model/host.h"

enum top_column {
    TOP_NAME,
    TOP_STATE,
    TOP_PID,
    TOP_CPU,
    TOP_MEM,
    TOP_RESTARTS,
    TOP_HEALTH,
    TOP_UPTIME,
    TOP_COLUMNS
};

/* The key that sorts by a column; a second time reverses the order. */
extern const char top_keys[TOP_COLUMNS];

struct top_view {
    enum lang lang;
    bool colour;
    size_t width, height;
    const char *host, *time;
    const char *message; /* in place of the keys; NULL: none */
    enum top_column sorted_by;
    bool is_reversed;
    size_t selected, first; /* rows: the selected one, the first on the screen */
};

/* Sorts struct process_view; ties by name.  Numbers are largest first. */
void top_sort(struct list *processes, enum top_column by, bool is_reversed);

/* Moves `first` so that the selected row is on the screen. */
void top_scroll(struct top_view *v, size_t n_rows);
size_t top_room(const struct top_view *v); /* rows of processes on the screen */

/* `height` lines, in the arena. */
const char **top_lines(const struct top_view *v, const struct list *processes, int64_t now_s,
                       struct arena *a);

/* All rows as a plain table, for a pipe or a file. */
void top_put_plain(const struct list *processes, int64_t now_s, struct out *out);

/* A text as lines that fit the width, wrapped; the last `height` - 1 of them, or the first ones,
 * and a line at the bottom.  The text may have colours, but no other control characters. */
const char **top_page(const struct top_view *v, const char *text, bool is_end, struct arena *a);

#endif
