/* SPDX-License-Identifier: MIT */
/* check.c - see check.h. */
#include "model/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/msg.h"
#include "model/rules.h"

#define AT(type, member) .offset = offsetof(struct type, member)

enum { VIEW_TEXT_MAX_BYTES = 1024 };

/* ---- addresses */

/* Decimal digits alone, from 1 to 65535; false: not a port. */
static bool read_port(const char *text, size_t n, int64_t *ret)
{
    int64_t port = 0;

    if (n < 1 || n > 5)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        port = port * 10 + (text[i] - '0');
    }
    *ret = port;
    return port >= 1 && port <= 65535;
}

static const char *read_host(const char *text, size_t n, char to[IP_TEXT_SIZE])
{
    char copy[IP_TEXT_SIZE];
    bool is_v6 = n >= 2 && text[0] == '[' && text[n - 1] == ']';

    *to = '\0';
    if (n == strlen("localhost") && !strncmp(text, "localhost", n))
        return NULL;
    if (is_v6) {
        text++;
        n -= 2;
    }
    if (n >= sizeof(copy))
        return MSG("the host must be an IP address or localhost");
    memcpy(copy, text, n);
    copy[n] = '\0';
    if (is_v6 != (strchr(copy, ':') != NULL) || !ip_read(copy, to)) {
        *to = '\0';
        return MSG("the host must be an IP address or localhost");
    }
    return NULL;
}

/* "HOST:PORT" of n bytes; has_port false: also "HOST", whose port is not changed. */
static const char *read_place(const char *text, size_t n, bool has_port, struct check_place *ret)
{
    size_t host = n;

    while (host > 0 && text[host - 1] != ':' && text[host - 1] != ']')
        host--;
    if (host == 0 || text[host - 1] == ']') {
        if (has_port || (host > 0 && host != n))
            return MSG("must be a port, or a host and a port");
        return read_host(text, n, ret->host);
    }
    if (!read_port(text + host, n - host, &ret->port))
        return MSG("the port must be a number from 1 to 65535");
    return read_host(text, host - 1, ret->host);
}

const char *check_read_tcp(const char *text, struct check_place *ret)
{
    *ret = (struct check_place){ .path = "" };
    if (!strchr(text, ':'))
        return read_port(text, strlen(text), &ret->port)
                   ? NULL
                   : MSG("the port must be a number from 1 to 65535");
    return read_place(text, strlen(text), true, ret);
}

const char *check_read_url(const char *text, struct check_place *ret)
{
    static const char scheme[] = "http://";
    const char *host = text + strlen(scheme);

    *ret = (struct check_place){ .port = 80, .path = "" };
    if (strncmp(text, scheme, strlen(scheme)) != 0)
        return MSG("must be a URL http://HOST:PORT/PATH");
    for (const char *c = text; *c; c++) {
        if (*c <= ' ' || *c >= 0x7f || *c == '#')
            return MSG("must have no blanks, control characters, # or bytes other than ASCII");
    }
    ret->host_text = host;
    ret->host_len = strcspn(host, "/?");
    ret->path = host + ret->host_len;
    return read_place(host, ret->host_len, false, ret);
}

static const char *rule_tcp(const char *text)
{
    struct check_place place;

    return *text ? check_read_tcp(text, &place) : NULL;
}

static const char *rule_url(const char *text)
{
    struct check_place place;

    return *text ? check_read_url(text, &place) : NULL;
}

/* ---- shapes */

/* clang-format off */
static const struct field check_fields[] = {
    { "name", .type = FIELD_STR, AT(proc_check, name), .max = CHECK_NAME_MAX_BYTES, .check = rule_line,
      .flags = FIELD_OMIT_EMPTY, .doc = "as it is shown; without it, its kind and what it looks at" },
    { "http", .type = FIELD_STR, AT(proc_check, http), .max = CHECK_URL_MAX_BYTES, .check = rule_url,
      .flags = FIELD_OMIT_EMPTY, .doc = "`http://HOST:PORT/PATH`, HOST an IP address or localhost: a GET request, made by the agent" },
    { "tcp", .type = FIELD_STR, AT(proc_check, tcp), .max = CHECK_NAME_MAX_BYTES, .check = rule_tcp,
      .flags = FIELD_OMIT_EMPTY, .doc = "`PORT` or `HOST:PORT`, HOST an IP address or localhost (127.0.0.1 or ::1): it accepts a connection, "
             "and the listener belongs to the process's family" },
    { "command", .type = FIELD_STR, AT(proc_check, command), .max = COMMAND_MAX_BYTES,
      .flags = FIELD_OMIT_EMPTY, .doc = "a shell line, run like `health_cmd`, that exits with 0" },
    { "status", .type = FIELD_INT, AT(proc_check, status), .max = 599, .flags = FIELD_OMIT_EMPTY,
      .doc = "of the answer to `http`; 0: any from 200 to 399" },
    { "body", .type = FIELD_STR, AT(proc_check, body), .max = CHECK_TEXT_MAX_BYTES, .flags = FIELD_OMIT_EMPTY,
      .doc = "text that the answer to `http` contains, within its first 64 KiB" },
    { "interval", .type = FIELD_INT, AT(proc_check, interval_s), .min = 1, .max = DAY_S, .fallback = CHECK_INTERVAL_S,
      .flags = FIELD_SECONDS | FIELD_ZERO_UNSET, .doc = "seconds from one try to the next" },
    { "timeout", .type = FIELD_INT, AT(proc_check, timeout_s), .max = DAY_S, .flags = FIELD_SECONDS | FIELD_OMIT_EMPTY,
      .doc = "seconds that a try may take, at most `interval`; 0: 2, or `interval` if that is less; a try of `http` or `tcp` ends after 60 at the latest" },
    { "threshold", .type = FIELD_INT, AT(proc_check, threshold), .min = 1, .max = 1000, .fallback = CHECK_THRESHOLD,
      .flags = FIELD_ZERO_UNSET, .doc = "failures in a row after which it counts as failing" },
    { "any_owner", .type = FIELD_BOOL, AT(proc_check, any_owner), .flags = FIELD_OMIT_EMPTY,
      .doc = "of `tcp`: the listener may belong to any process, as with docker-proxy or socket activation" },
    { 0 },
};

static const struct enum_name state_names[] = {
    { CHECK_UNKNOWN, "unknown" }, { CHECK_PASSING, "passing" }, { CHECK_FAILING, "failing" }, { 0 },
};

static const struct field view_fields[] = {
    { "name", .type = FIELD_STR, AT(proc_check_view, name), .max = CHECK_URL_MAX_BYTES + 16, .doc = "of the check" },
    { "state", .type = FIELD_ENUM, AT(proc_check_view, state), .names = state_names, .flags = FIELD_BY_NAME,
      .doc = "`unknown`: it has neither passed yet nor failed `threshold` times" },
    { "latency_ms", .type = FIELD_FLOAT, AT(proc_check_view, latency_ms), .max = DAY_S * 1000, .flags = FIELD_OMIT_EMPTY,
      .doc = "how long a try takes; reported again when it has halved or doubled" },
    { "since_s", .type = FIELD_INT, AT(proc_check_view, since_s), .max = INT64_C(1000000000000), .flags = FIELD_OMIT_EMPTY,
      .doc = "in this state since" },
    { "text", .type = FIELD_STR, AT(proc_check_view, text), .max = VIEW_TEXT_MAX_BYTES,
      .flags = FIELD_OMIT_EMPTY | FIELD_ENGLISH, .doc = "why it fails" },
    { "text_msg", .type = FIELD_STR, AT(proc_check_view, text), .max = 2 * VIEW_TEXT_MAX_BYTES, .flags = FIELD_MSG,
      .doc = "`text` with its format and arguments apart, for other languages; absent if it has none" },
    { 0 },
};
/* clang-format on */
const struct shape proc_check_shape = { "check", sizeof(struct proc_check), check_fields,
                                        .doc = "A check of a process: exactly one of `http`, "
                                               "`tcp` and `command`." };
const struct shape proc_check_view_shape = { "check_view", sizeof(struct proc_check_view),
                                             view_fields, .doc = "A check as its agent sees it." };

/* ---- a check */

enum proc_check_kind proc_check_kind_of(const struct proc_check *c)
{
    return *c->http ? CHECK_HTTP : *c->tcp ? CHECK_TCP : *c->command ? CHECK_COMMAND : CHECK_NONE;
}

int64_t proc_check_timeout_ms(const struct proc_check *c)
{
    int64_t timeout_s = c->timeout_s ? c->timeout_s : CHECK_TIMEOUT_S;

    if (proc_check_kind_of(c) != CHECK_COMMAND && timeout_s > CHECK_NET_TIMEOUT_MAX_S)
        timeout_s = CHECK_NET_TIMEOUT_MAX_S;
    return (timeout_s < c->interval_s ? timeout_s : c->interval_s) * 1000;
}

const char *proc_check_name(const struct proc_check *c, struct arena *a)
{
    if (*c->name)
        return arena_strdup(a, c->name);
    switch (proc_check_kind_of(c)) {
    case CHECK_NONE:
    case CHECK_COMMAND: break;
    case CHECK_HTTP: return arena_strdup(a, c->http);
    case CHECK_TCP: return arena_printf(a, "tcp %s", c->tcp);
    }
    return "command";
}

bool proc_check_is_equal(const struct proc_check *a, const struct proc_check *b)
{
    return !strcmp(a->name, b->name) && !strcmp(a->http, b->http) && !strcmp(a->tcp, b->tcp) &&
           !strcmp(a->command, b->command) && !strcmp(a->body, b->body) && a->status == b->status &&
           a->interval_s == b->interval_s && a->timeout_s == b->timeout_s &&
           a->threshold == b->threshold && a->any_owner == b->any_owner;
}

bool proc_checks_have(const struct list *checks, const char *line)
{
    const struct proc_check *all = checks->items;

    for (size_t i = 0; i < checks->n; i++) {
        if (!strcmp(all[i].command, line))
            return true;
    }
    return false;
}

/* ---- combinations */

static int count_kinds(const struct proc_check *c)
{
    return (*c->http != '\0') + (*c->tcp != '\0') + (*c->command != '\0');
}

static bool is_name_taken(const struct proc_check *all, size_t i)
{
    for (size_t j = 0; j < i && *all[i].name; j++) {
        if (!strcmp(all[j].name, all[i].name))
            return true;
    }
    return false;
}

static const char *check_fault(const struct proc_check *c, size_t i, struct arena *a)
{
    int kinds = count_kinds(c);

    if (kinds == 0)
        return arena_msg(a, "spec.holdfast.checks[%zu]: one of http, tcp and command is required",
                         i);
    if (kinds > 1)
        return arena_msg(a,
                         "spec.holdfast.checks[%zu]: only one of http, tcp and command is "
                         "possible",
                         i);
    if (c->status && !*c->http)
        return arena_msg(a, "spec.holdfast.checks[%zu].status: only possible with http", i);
    if (c->status && c->status < 100)
        return arena_msg(a, "spec.holdfast.checks[%zu].status: must be from 100 to 599", i);
    if (*c->body && !*c->http)
        return arena_msg(a, "spec.holdfast.checks[%zu].body: only possible with http", i);
    if (c->any_owner && !*c->tcp)
        return arena_msg(a, "spec.holdfast.checks[%zu].any_owner: only possible with tcp", i);
    if (c->timeout_s > c->interval_s)
        return arena_msg(a,
                         "spec.holdfast.checks[%zu].timeout: must be at most the interval, "
                         "%lld s",
                         i, (long long)c->interval_s);
    return NULL;
}

const char *proc_checks_fault(const struct list *checks, struct arena *a)
{
    const struct proc_check *all = checks->items;
    const char *fault;

    for (size_t i = 0; i < checks->n; i++) {
        fault = check_fault(&all[i], i, a);
        if (fault)
            return fault;
        if (is_name_taken(all, i))
            return arena_msg(a, "spec.holdfast.checks[%zu].name: another check has it", i);
    }
    return NULL;
}
