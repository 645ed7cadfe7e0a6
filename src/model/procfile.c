/* SPDX-License-Identifier: MIT */
/* procfile.c - see procfile.h; the agent reads and writes the file in procfile_disk.c. */
#include "model/procfile.h"

#include <stdio.h>
#include <string.h>

#include "base/mem/mem.h"
#include "model/rules.h"

#define AT(member) .offset = offsetof(struct proc_record, member)

#define TEXT(name, member, most)                                                                   \
    {                                                                                              \
        name, .type = FIELD_STR, AT(member), .max = most                                           \
    }
#define COMMAND(name, member) TEXT(name, member, COMMAND_MAX_BYTES)

/* clang-format off */
static const struct field record_fields[] = { /* in GSE's order */
    { "procName", .type = FIELD_STR, AT(proc_name), .max = NAME_MAX_BYTES, .check = rule_line },
    { "setupPath", .type = FIELD_STR, AT(setup_path), .max = PATH_MAX_BYTES, .check = rule_path },
    { "pidPath", .type = FIELD_STR, AT(pid_path), .max = PATH_MAX_BYTES, .check = rule_path },
    { "contact", .type = FIELD_STR, AT(contact), .max = NAME_MAX_BYTES, .check = rule_line },
    COMMAND("startCmd", start_cmd),
    COMMAND("stopCmd", stop_cmd),
    COMMAND("restartCmd", restart_cmd),
    COMMAND("reloadCmd", reload_cmd),
    COMMAND("killCmd", kill_cmd),
    COMMAND("versionCmd", version_cmd),
    COMMAND("healthCmd", health_cmd),
    { "type", .type = FIELD_ENUM, AT(kind), .names = proc_kind_names, .fallback = PROC_RESIDENT },
    { "cpulmt", .type = FIELD_FLOAT, AT(cpu_percent), .max = 100 },
    { "memlmt", .type = FIELD_FLOAT, AT(mem_percent), .max = 100 },
    { "user", .type = FIELD_STR, AT(user), .max = ID_MAX_BYTES, .check = rule_line },
    TEXT("password", password, NAME_MAX_BYTES),
    TEXT("userPwd", user_pwd, 2 * NAME_MAX_BYTES),
    { "valuekey", .type = FIELD_STR, AT(value_key), .flags = FIELD_REQUIRED, .min = 1,
      .max = 2 * NAME_MAX_BYTES + 1, .check = rule_line },
    { "startCheckBeginTime", .type = FIELD_INT, AT(start_check_s), .max = HOUR_S },
    { "startCheckEndTime", .type = FIELD_INT, AT(end_check_s), .max = HOUR_S },
    { "opTimeOut", .type = FIELD_INT, AT(op_timeout_s), .max = DAY_S },
    { "operateType", .type = FIELD_INT, AT(op) },
    { "timestamp", .type = FIELD_INT, AT(when_s) },
    { 0 },
};
static const struct shape record_shape = { "record", sizeof(struct proc_record), record_fields };

/* For writing. */
static const struct field file_fields[] = {
    { "proc", .type = FIELD_LIST, .max = PROCFILE_MAX_RECORDS, .sub = &record_shape },
    { 0 },
};
static const struct shape file_shape = { "proc file", sizeof(struct list), file_fields };

/* For reading: record by record, so that an invalid one does not affect the others. */
struct raw { const char *json; };
static const struct field raw_fields[] = {
    { "record", .type = FIELD_RAW, .offset = offsetof(struct raw, json) },
    { 0 },
};
static const struct shape raw_shape = { "record", sizeof(struct raw), raw_fields, .bare = true };
static const struct field raw_file_fields[] = {
    { "proc", .type = FIELD_LIST, .flags = FIELD_REQUIRED, .max = PROCFILE_MAX_RECORDS, .sub = &raw_shape },
    { 0 },
};
static const struct shape raw_file_shape = { "proc file", sizeof(struct list), raw_file_fields };
/* clang-format on */

static bool is_stop_check_given(const struct proc_spec *s)
{
    return s->policy.has_stop_check == PRESENCE_GIVEN ||
           s->alive_policy.has_stop_check == PRESENCE_GIVEN;
}

static bool is_of_job(const struct proc_spec *s)
{
    return s->extra.has_job == PRESENCE_GIVEN;
}

void procfile_record(const struct proc_meta *meta, const struct proc_spec *spec, int64_t op,
                     int64_t when_s, struct arena *a, struct proc_record *ret)
{
    const struct proc_policy policy = proc_policy_of(spec);
    const struct proc_identity *id = &spec->identity;
    const struct proc_control *control = &spec->control;

    *ret = (struct proc_record){
        .proc_name = id->proc_name,
        .setup_path = id->setup_path,
        .pid_path = id->pid_path,
        .contact = is_of_job(spec) ? spec->extra.job.owner : meta->space,
        .start_cmd = control->start_cmd,
        .stop_cmd = control->stop_cmd,
        .restart_cmd = control->restart_cmd,
        .reload_cmd = control->reload_cmd,
        .kill_cmd = control->kill_cmd,
        .version_cmd = control->version_cmd,
        .health_cmd = control->health_cmd,
        .kind = policy.kind,
        .cpu_percent = spec->resource.cpu_percent,
        .mem_percent = spec->resource.mem_percent,
        .user = id->user,
        .password = "",
        .user_pwd = arena_printf(a, ":::%s@@@", id->user),
        .value_key =
            *id->index_key ? id->index_key : arena_printf(a, "%s:%s", meta->space, meta->name),
        .start_check_s = policy.start_check_s,
        .end_check_s = is_of_job(spec)             ? spec->extra.job.check_end_s
                       : is_stop_check_given(spec) ? policy.stop_check_s
                                                   : 0,
        .op_timeout_s = policy.op_timeout_s,
        .op = op,
        .when_s = when_s,
    };
}

/* "namespace:name"; a key without a colon is a name in the contact's namespace. */
int procfile_meta(const struct proc_record *r, struct arena *a, struct proc_meta *ret,
                  struct err *err)
{
    const char *colon = strchr(r->value_key, ':');
    bool has_space = colon && colon > r->value_key && colon[1];
    const char *space =
        has_space ? arena_memdup(a, r->value_key, (size_t)(colon - r->value_key)) : r->contact;
    const char *name = has_space ? colon + 1 : r->value_key;
    const char *wrong = rule_space(space);

    if (!*space)
        wrong = MSG("must be `namespace:name`, or contact must be given");
    if (wrong || strlen(space) > NAME_MAX_BYTES || strlen(name) > NAME_MAX_BYTES)
        return err_set(err, ERR_INVALID, "valuekey: '%s' names no process: %s", r->value_key,
                       wrong ? wrong : MSG("too long"));
    *ret = (struct proc_meta){ .space = space, .name = name };
    return 0;
}

#define GIVE(policy, member, has_member, value)                                                    \
    ((policy)->member = (value), (policy)->has_member = PRESENCE_GIVEN)

/* A contact that is not the namespace is an owner, which only Job sends. */
static void put_job(const struct proc_record *r, const struct proc_meta *meta,
                    struct proc_spec *spec)
{
    if (!is_of_job(spec) && (!*r->contact || !strcmp(r->contact, meta->space)))
        return;
    spec->extra.has_job = PRESENCE_GIVEN;
    spec->extra.job.owner = r->contact;
    spec->extra.job.check_end_s = r->end_check_s;
}

static void put_stop_check(const struct proc_record *r, struct proc_policy *p)
{
    if (r->end_check_s)
        GIVE(p, stop_check_s, has_stop_check, r->end_check_s);
    else
        p->has_stop_check = PRESENCE_ABSENT;
}

static void put_policy(const struct proc_record *r, struct proc_spec *spec)
{
    struct proc_policy p = proc_policy_of(spec);

    GIVE(&p, kind, has_kind, r->kind);
    if (r->start_check_s)
        GIVE(&p, start_check_s, has_start_check, r->start_check_s);
    if (!is_of_job(spec))
        put_stop_check(r, &p);
    if (r->op_timeout_s)
        GIVE(&p, op_timeout_s, has_timeout, r->op_timeout_s);
    p.has_retries = p.has_interval = PRESENCE_GIVEN; /* from either block */
    p.has_cron = *p.cron_rule ? PRESENCE_GIVEN : PRESENCE_ABSENT;
    p.has_cycle = p.cycle_s ? PRESENCE_GIVEN : PRESENCE_ABSENT;
    spec->policy = p;
    spec->has_policy = PRESENCE_GIVEN;
    spec->alive_policy.has_kind = spec->alive_policy.has_start_check =
        spec->alive_policy.has_stop_check = spec->alive_policy.has_retries =
            spec->alive_policy.has_interval = spec->alive_policy.has_timeout =
                spec->alive_policy.has_cron = spec->alive_policy.has_cycle =
                    spec->has_alive_policy = PRESENCE_ABSENT;
}

void procfile_spec(const struct proc_record *r, const struct proc_meta *meta,
                   struct proc_spec *spec)
{
    size_t n = strlen(meta->space);
    bool is_usual = !strncmp(r->value_key, meta->space, n) && r->value_key[n] == ':' &&
                    !strcmp(r->value_key + n + 1, meta->name);

    spec->identity.index_key = is_usual ? "" : r->value_key;
    spec->identity.proc_name = r->proc_name;
    spec->identity.setup_path = r->setup_path;
    spec->identity.pid_path = r->pid_path;
    spec->identity.user = r->user;
    spec->control =
        (struct proc_control){ r->start_cmd, r->stop_cmd,    r->restart_cmd, r->reload_cmd,
                               r->kill_cmd,  r->version_cmd, r->health_cmd };
    spec->resource.cpu_percent = r->cpu_percent;
    spec->resource.mem_percent = r->mem_percent;
    spec->has_identity = spec->has_control = spec->has_resource = PRESENCE_GIVEN;
    put_job(r, meta, spec);
    put_policy(r, spec);
}

/* The contact may be an owner, which is no part of the process's identity. */
bool procfile_same(const struct proc_record *a, const struct proc_record *b)
{
    struct proc_record other = *b;
    struct buf first = { 0 }, second = { 0 };
    bool is_same;

    other.contact = a->contact;
    other.password = a->password;
    other.user_pwd = a->user_pwd;
    other.op = a->op;
    other.when_s = a->when_s;
    shape_write(&record_shape, a, &first);
    shape_write(&record_shape, &other, &second);
    is_same = first.len == second.len && !memcmp(buf_data(&first), buf_data(&second), first.len);
    buf_free(&first);
    buf_free(&second);
    return is_same;
}

void procfile_write(const struct proc_record *records, size_t n, struct buf *out)
{
    const struct list list = { (void *)records, n };

    shape_write(&file_shape, &list, out);
}

/* For users: index from 0, as in "proc[0].setupPath". */
static void note_bad(struct procfile *f, size_t at, const struct err *why)
{
    char record[32];

    if (f->bad_n++)
        return;
    snprintf(record, sizeof(record), "proc[%zu]", at);
    if (strstr(why->text, ": "))
        err_set(&f->bad, why->code, "%s.%s", record, err_msg(why));
    else
        err_set(&f->bad, why->code, "%s: %s", record, err_msg(why));
}

int procfile_read(const char *text, size_t n, struct arena *a, struct procfile *ret,
                  struct err *err)
{
    struct list raw;
    const struct raw *items;
    struct proc_record *records;
    struct procfile f = { 0 };

    if (shape_read(&raw_file_shape, text, n, 0, a, &raw, err))
        return -1;
    items = raw.items;
    records = arena_alloc(a, (raw.n + 1) * sizeof(*records));
    for (size_t i = 0; i < raw.n; i++) {
        struct err why = { 0 };

        if (shape_read(&record_shape, items[i].json, strlen(items[i].json), 0, a,
                       &records[f.records.n], &why))
            note_bad(&f, i, &why);
        else
            f.records.n++;
    }
    f.records.items = records;
    *ret = f;
    return 0;
}
