/* SPDX-License-Identifier: MIT */
/* operation.c - see operation.h; the rows are in operation_rows.h. */
#include "model/operation.h"

#include <signal.h>
#include <string.h>

#include "base/mem/mem.h"

#define CONTROL(member)                                                                            \
    {                                                                                              \
        offsetof(struct proc_control, member), #member                                             \
    }

/* clang-format off */
static const struct operation operations[PROC_OP_END] = {
#define OPERATION(id, its_kind, its_number, its_name, prose, help, help_zh, ...) \
    [PROC_OP_##id] = { .number = (its_number), .name = (its_name), .kind = (its_kind), __VA_ARGS__ },
#include "model/operation_rows.h"
};

const struct enum_name operation_names[] = {
#define OPERATION(id, kind, number, name, ...) { PROC_OP_##id, name },
#include "model/operation_rows.h"
    { 0 },
};

const char operation_list_doc[] =
#define OPERATION(id, kind, number, name, prose, ...) ", " #number " " prose
#define OPERATION_OWN(...)
#include "model/operation_rows.h"
    ;
/* clang-format on */

const struct operation *operation_find(int64_t number)
{
    return number >= 0 && number < PROC_OP_END && operations[number].name ? &operations[number]
                                                                          : NULL;
}

const struct operation *operation_find_name(const char *name)
{
    for (const struct enum_name *e = operation_names; e->name; e++) {
        if (!strcmp(e->name, name))
            return operation_find(e->value);
    }
    return NULL;
}

/* Every row of BlueKing's is OPERATION_ACTS, _HOSTS or _LOOKS. */
const struct operation *operation_find_gse(int64_t number)
{
    static const int64_t own[] = {
#define OPERATION_ACTS(...)
#define OPERATION_HOSTS(...)
#define OPERATION_LOOKS(...)
#define OPERATION_OWN(id, ...) PROC_OP_##id,
#include "model/operation_rows.h"
    };

    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        if (own[i] == number)
            return NULL;
    }
    return operation_find(number);
}

const struct operation *operation_find_managed(int64_t number)
{
    for (const struct enum_name *e = operation_names; e->name && number; e++) {
        if (operations[e->value].manage_number == number)
            return &operations[e->value];
    }
    return NULL;
}

const char *operation_name(int64_t number)
{
    const struct operation *o = operation_find(number);

    return o ? o->name : NULL;
}

const char *operation_line(const struct control_command *c, const struct proc_control *control)
{
    const char *at = (const char *)control + c->offset;

    return c->name ? *(const char *const *)(const void *)at : "";
}

bool operation_has_kind(int64_t number, enum operation_kind kind)
{
    const struct operation *o = operation_find(number);

    return o && o->kind == kind;
}

bool operation_is_bluekings(int64_t number)
{
    return operation_find_gse(number) != NULL;
}

bool operation_has_outcome(int64_t number, enum operation_outcome outcome)
{
    const struct operation *o = operation_find(number);

    return o && o->outcome == outcome;
}

bool operation_registers(int64_t number)
{
    const struct operation *o = operation_find(number);

    return o && o->hosting == HOSTING_BEGINS;
}

/* A reload of a process that does not run has failed. */
bool operation_was_done(int64_t number, int64_t code)
{
    const struct operation *o = operation_find(number);

    if (!o || o->outcome == LEAVES_AS_IS || !code)
        return false;
    return code == (o->outcome == MAKES_RUN ? o->if_running : o->if_stopped);
}

bool operation_is_output(const char *what)
{
    const struct operation *o = operation_find_name(what);

    return (o && o->command.name) || !strcmp(what, "version") || !strcmp(what, "health");
}

bool operation_is_own_output(const char *what)
{
    const struct operation *o = operation_find_name(what);

    return (o && o->outcome == MAKES_RUN) || !strcmp(what, OPERATION_PRE_START);
}
