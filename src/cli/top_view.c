/* SPDX-License-Identifier: MIT */
/* top_view.c - see top_view.h. */
#include "cli/top_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "cli/table.h"
#include "cli/views.h"
#include "cli/width.h"
#include "model/duration.h"
#include "model/why_judge.h"

/* NAME_MIN: below it, columns are left out.  AROUND: lines that are no rows. */
enum { GAP = 2, NAME_MIN = 16, AROUND = 3 };

const char top_keys[TOP_COLUMNS] = { 'n', 'e', 'p', 'c', 'm', 'x', 'h', 'u' };

static const struct column columns[TOP_COLUMNS] = {
    [TOP_NAME] = { TEXT_PROCESS, false },
    [TOP_STATE] = { TEXT_STATE, false },
    [TOP_PID] = { TEXT_PID, true, .goes = 3 },
    [TOP_CPU] = { TEXT_CPU, true },
    [TOP_MEM] = { TEXT_MEM, true },
    [TOP_RESTARTS] = { TEXT_RESTARTS, true, .goes = 2 },
    [TOP_HEALTH] = { TEXT_HEALTH, false, .goes = 1 },
    [TOP_UPTIME] = { TEXT_UPTIME, true, .goes = 4 },
};

/* ---- order ---- */

static int64_t since_of(const struct proc_view *v)
{
    if (v->status != PROC_RUNNING)
        return INT64_MAX;
    return v->cause.since_s > 0 ? v->cause.since_s : v->last_start_s;
}

static int64_t health_of(const struct proc_view *v)
{
    if (v->cause.unhealthy_s > 0)
        return 2;
    return v->checks.n ? proc_view_is_healthy(v) : *v->health != 0;
}

/* Greater comes first; the longest uptime is the earliest start. */
static int64_t rank_of(const struct proc_view *v, enum top_column by)
{
    switch (by) {
    case TOP_NAME:
    case TOP_COLUMNS: return 0;
    case TOP_STATE: return why_is_trouble(v) ? 2 : v->status != PROC_RUNNING;
    case TOP_PID: return v->pid;
    case TOP_CPU: return (int64_t)(v->cpu_percent * 1000);
    case TOP_MEM: return v->mem_bytes;
    case TOP_RESTARTS: return v->restarts;
    case TOP_HEALTH: return health_of(v);
    case TOP_UPTIME: return -since_of(v);
    }
    return 0;
}

struct ranked {
    int64_t rank;
    const struct process_view *p;
};

static int compare(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    int spaces;

    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    spaces = strcmp(x->p->view.space, y->p->view.space);
    return spaces ? spaces : strcmp(x->p->view.name, y->p->view.name);
}

void top_sort(struct list *processes, enum top_column by, bool is_reversed)
{
    struct process_view *p = processes->items;
    size_t n = processes->n;
    struct ranked *order = xalloc((n + 1) * sizeof(*order));
    struct process_view *sorted = xalloc((n + 1) * sizeof(*sorted));

    for (size_t i = 0; i < n; i++)
        order[i] = (struct ranked){ rank_of(&p[i].view, by), &p[i] };
    qsort(order, n, sizeof(*order), compare);
    for (size_t i = 0; i < n; i++)
        sorted[is_reversed ? n - 1 - i : i] = *order[i].p;
    if (n)
        memcpy(p, sorted, n * sizeof(*p));
    free(sorted);
    free(order);
}

size_t top_room(const struct top_view *v)
{
    return v->height > AROUND ? v->height - AROUND : 0;
}

void top_scroll(struct top_view *v, size_t n_rows)
{
    size_t room = top_room(v), last = n_rows > room ? n_rows - room : 0;

    if (v->selected >= n_rows)
        v->selected = n_rows ? n_rows - 1 : 0;
    if (v->selected < v->first)
        v->first = v->selected;
    if (room && v->selected >= v->first + room)
        v->first = v->selected - room + 1;
    if (v->first > last)
        v->first = last;
}

/* ---- cells ---- */

static const char *uptime_cell(enum lang lang, const struct process_view *p, int64_t now_s,
                               struct arena *a)
{
    int64_t since_s = since_of(&p->view);
    struct buf b = { 0 };
    const char *text;

    if (since_s <= 0 || since_s > now_s)
        return "-";
    duration_put(&b, lang, (now_s - since_s) * 1000);
    text = arena_strdup(a, buf_text(&b));
    buf_free(&b);
    return text;
}

static const char *health_cell(enum lang lang, const struct proc_view *v)
{
    switch (health_of(v)) {
    case 2: return text_get(lang, TEXT_TOP_UNHEALTHY);
    case 1: return text_get(lang, TEXT_TOP_HEALTHY);
    }
    return "-";
}

static const char *cell(enum lang lang, const struct process_view *p, enum top_column c,
                        int64_t now_s, struct arena *a)
{
    const struct proc_view *v = &p->view;

    switch (c) {
    case TOP_NAME: return width_clean(a, arena_printf(a, "%s/%s", v->space, v->name));
    case TOP_STATE: return text_get(lang, views_state(p));
    case TOP_PID: return v->pid > 0 ? arena_printf(a, "%lld", (long long)v->pid) : "-";
    case TOP_CPU: return views_has_use(p) ? arena_printf(a, "%.1f%%", v->cpu_percent) : "-";
    case TOP_MEM: return views_has_use(p) ? views_bytes(a, v->mem_bytes) : "-";
    case TOP_RESTARTS: return arena_printf(a, "%lld", (long long)v->restarts);
    case TOP_HEALTH: return health_cell(lang, v);
    case TOP_UPTIME: return uptime_cell(lang, p, now_s, a);
    case TOP_COLUMNS: break;
    }
    return "";
}

static enum style style_of(const struct process_view *p)
{
    if (why_is_trouble(&p->view))
        return STYLE_BAD;
    return p->view.status == PROC_RUNNING ? STYLE_GOOD : STYLE_PLAIN;
}

/* ---- layout ---- */

struct layout {
    size_t widths[TOP_COLUMNS]; /* 0: left out */
};

static size_t total_of(const struct layout *l)
{
    size_t n = 0;

    for (size_t c = 0; c < TOP_COLUMNS; c++)
        n += l->widths[c] ? l->widths[c] + GAP : 0;
    return n - GAP;
}

static size_t next_to_go(const struct layout *l)
{
    size_t next = TOP_COLUMNS;

    for (size_t c = 0; c < TOP_COLUMNS; c++) {
        unsigned goes = l->widths[c] ? columns[c].goes : 0;

        if (goes && (next == TOP_COLUMNS || goes < columns[next].goes))
            next = c;
    }
    return next;
}

static struct layout measure(const struct top_view *v, const char *const *cells, size_t n)
{
    struct layout l;
    size_t next;

    for (size_t c = 0; c < TOP_COLUMNS; c++) {
        l.widths[c] =
            width_text(text_get(v->lang, columns[c].head)) + 1; /* the mark of the order */
        for (size_t i = 0; i < n; i++) {
            size_t width = width_text(cells[i * TOP_COLUMNS + c]);

            l.widths[c] = width > l.widths[c] ? width : l.widths[c];
        }
    }
    if (!v->width)
        return l;
    while (total_of(&l) > v->width && total_of(&l) - l.widths[TOP_NAME] + NAME_MIN > v->width &&
           (next = next_to_go(&l)) < TOP_COLUMNS)
        l.widths[next] = 0;
    if (total_of(&l) > v->width) {
        size_t over = total_of(&l) - v->width;

        l.widths[TOP_NAME] = l.widths[TOP_NAME] > over + 1 ? l.widths[TOP_NAME] - over : 1;
    }
    return l;
}

static void put_blanks(struct buf *b, size_t n)
{
    while (n--)
        buf_addc(b, ' ');
}

/* At most as wide as that, cut with an ellipsis. */
static void put_cut(struct buf *b, const char *text, size_t width)
{
    if (width_text(text) <= width)
        buf_puts(b, text);
    else if (width) {
        buf_add(b, text, width_cut(text, width - 1));
        buf_puts(b, "…");
    }
}

static void put_cell(struct buf *b, const struct layout *l, size_t c, const char *text)
{
    size_t width = l->widths[c], own = width_text(text);
    size_t blanks = own < width ? width - own : 0;

    if (!width)
        return;
    put_blanks(b, c == TOP_NAME ? 0 : GAP);
    put_blanks(b, columns[c].right ? blanks : 0);
    put_cut(b, text, width);
    if (c + 1 < TOP_COLUMNS)
        put_blanks(b, columns[c].right ? 0 : blanks);
}

/* ---- lines ---- */

static const char *take(struct buf *b, struct arena *a)
{
    const char *text = arena_strdup(a, buf_text(b));

    buf_free(b);
    return text;
}

/* A line of that style, over the whole width if it is marked. */
static const char *styled(const struct top_view *v, enum style style, const char *text,
                          struct arena *a)
{
    struct out out = { .colour = v->colour, .lang = v->lang };
    size_t own = width_text(text);
    struct buf b = { 0 };

    put_cut(&b, text, v->width);
    if (style == STYLE_MARKED)
        put_blanks(&b, own < v->width ? v->width - own : 0);
    out_styled(&out, style, buf_text(&b));
    buf_free(&b);
    return take(&out.b, a);
}

static const char *head_line(const struct top_view *v, const struct layout *l, struct arena *a)
{
    struct buf b = { 0 };

    for (size_t c = 0; c < TOP_COLUMNS; c++) {
        const char *mark = c != v->sorted_by ? "" : v->is_reversed ? "^" : "*";

        put_cell(&b, l, c, arena_printf(a, "%s%s", text_get(v->lang, columns[c].head), mark));
    }
    return styled(v, STYLE_HEAD, take(&b, a), a);
}

static const char *totals_line(const struct top_view *v, const struct list *processes,
                               struct arena *a)
{
    const struct process_view *p = processes->items;
    size_t running = 0, wrong = 0;
    double cpu = 0;
    int64_t bytes = 0;
    struct buf b = { 0 };

    for (size_t i = 0; i < processes->n; i++) {
        running += p[i].view.status == PROC_RUNNING;
        wrong += why_is_trouble(&p[i].view);
        cpu += views_has_use(&p[i]) ? p[i].view.cpu_percent : 0;
        bytes += views_has_use(&p[i]) ? p[i].view.mem_bytes : 0;
    }
    text_put(&b, v->lang, TEXT_TOP_TOTALS,
             TEXT_ARGS(v->host, arena_printf(a, "%zu", processes->n),
                       arena_printf(a, "%zu", running), arena_printf(a, "%zu", wrong),
                       arena_printf(a, "%.1f", cpu), views_bytes(a, bytes), v->time));
    return styled(v, STYLE_PLAIN, take(&b, a), a);
}

static const char *bottom_line(const struct top_view *v, const char *keys, struct arena *a)
{
    return styled(v, STYLE_DIM, v->message ? width_clean(a, v->message) : keys, a);
}

static const char **all_cells(enum lang lang, const struct list *processes, int64_t now_s,
                              struct arena *a)
{
    const struct process_view *p = processes->items;
    const char **cells = arena_alloc(a, (processes->n + 1) * TOP_COLUMNS * sizeof(*cells));

    for (size_t i = 0; i < processes->n; i++) {
        for (size_t c = 0; c < TOP_COLUMNS; c++)
            cells[i * TOP_COLUMNS + c] = cell(lang, &p[i], (enum top_column)c, now_s, a);
    }
    return cells;
}

/* The state alone is coloured; the selected row is marked as a whole. */
static const char *row_line(const struct top_view *v, const struct layout *l,
                            const char *const *cells, const struct process_view *p,
                            bool is_selected, struct arena *a)
{
    struct out out = { .colour = v->colour, .lang = v->lang };
    struct buf b = { 0 };

    for (size_t c = 0; c < TOP_COLUMNS; c++) {
        if (c == TOP_STATE && !is_selected && l->widths[c]) {
            buf_puts(&out.b, buf_text(&b));
            buf_truncate(&b, 0);
            put_cell(&b, l, c, cells[c]);
            out_styled(&out, style_of(p), buf_text(&b));
            buf_truncate(&b, 0);
        } else {
            put_cell(&b, l, c, cells[c]);
        }
    }
    buf_puts(&out.b, buf_text(&b));
    buf_free(&b);
    if (is_selected)
        return styled(v, STYLE_MARKED, take(&out.b, a), a);
    return take(&out.b, a);
}

/* Only rows on the screen are made into cells; widths are theirs. */
const char **top_lines(const struct top_view *v, const struct list *processes, int64_t now_s,
                       struct arena *a)
{
    const char **lines = arena_alloc(a, (v->height + 1) * sizeof(*lines));
    struct process_view *p = processes->items;
    size_t room = top_room(v), left = processes->n > v->first ? processes->n - v->first : 0;
    struct list shown = { left ? p + v->first : NULL, left < room ? left : room };
    const char **cells = all_cells(v->lang, &shown, now_s, a);
    struct layout l = measure(v, cells, shown.n);

    for (size_t i = 0; i < v->height; i++)
        lines[i] = "";
    if (v->height > 0)
        lines[0] = totals_line(v, processes, a);
    if (v->height > 1)
        lines[1] = head_line(v, &l, a);
    for (size_t i = 0; i < shown.n; i++)
        lines[2 + i] = row_line(v, &l, cells + i * TOP_COLUMNS, &p[v->first + i],
                                v->first + i == v->selected, a);
    if (v->height > 2)
        lines[v->height - 1] = bottom_line(v, text_get(v->lang, TEXT_TOP_KEYS), a);
    return lines;
}

void top_put_plain(const struct list *processes, int64_t now_s, struct out *out)
{
    const struct top_view v = { .lang = out->lang, .sorted_by = TOP_COLUMNS };
    struct arena a = { 0 };
    const char **cells = all_cells(out->lang, processes, now_s, &a);
    struct layout l = measure(&v, cells, processes->n);
    struct buf b = { 0 };

    for (size_t c = 0; c < TOP_COLUMNS; c++)
        put_cell(&b, &l, c, text_get(out->lang, columns[c].head));
    buf_addc(&b, '\n');
    for (size_t i = 0; i < processes->n; i++) {
        for (size_t c = 0; c < TOP_COLUMNS; c++)
            put_cell(&b, &l, c, cells[i * TOP_COLUMNS + c]);
        buf_addc(&b, '\n');
    }
    out_puts(out, buf_text(&b));
    buf_free(&b);
    arena_free(&a);
}

/* ---- pages ---- */

static void wrap_line(const struct top_view *v, const char *text, struct buf *lines,
                      struct arena *a)
{
    do {
        size_t n = width_line(text, v->width);
        const char *line = arena_memdup(a, text, n);

        buf_add(lines, &line, sizeof(line));
        text += n + strspn(text + n, " ");
    } while (*text);
}

const char **top_page(const struct top_view *v, const char *text, bool is_end, struct arena *a)
{
    size_t room = v->height > 1 ? v->height - 1 : 0, n, first;
    const char **lines = arena_alloc(a, (v->height + 1) * sizeof(*lines));
    struct buf all = { 0 };

    while (*text) {
        size_t end = strcspn(text, "\n");

        wrap_line(v, width_clean(a, arena_memdup(a, text, end)), &all, a);
        text += end + (text[end] == '\n');
    }
    n = all.len / sizeof(*lines);
    first = is_end && n > room ? n - room : 0;
    for (size_t i = 0; i < v->height; i++)
        lines[i] = "";
    for (size_t i = 0; i < room && first + i < n; i++)
        memcpy(&lines[i], buf_data(&all) + (first + i) * sizeof(*lines), sizeof(*lines));
    if (v->height)
        lines[v->height - 1] = bottom_line(v, text_get(v->lang, TEXT_TOP_PAGE_KEYS), a);
    buf_free(&all);
    return lines;
}
