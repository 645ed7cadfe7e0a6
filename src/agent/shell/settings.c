/* SPDX-License-Identifier: MIT */
/* settings.c - the rows of settings.h. */
#include "agent/shell/settings.h"

#include "agent/confine/cgroup.h"
#include "base/io/log.h"
#include "model/extra.h"
#include "model/rules.h"
#include "model/spec_folder.h"

#define AT(member) .offset = offsetof(struct agent_settings, member)
#define IN(part, member)                                                                           \
    .offset = offsetof(struct agent_settings, part.member) - offsetof(struct agent_settings, part)

enum { SERVERS_MAX = 16, ADDRESS_MAX = 256, TOKEN_MAX = 128, SCOPE_NAMES_MAX = 256 };

/* clang-format off */
static const struct field server_fields[] = {
    { "address", .type = FIELD_STR, .offset = offsetof(struct agent_server, address), .min = 1, .max = ADDRESS_MAX,
      .check = rule_line },
    { 0 },
};
static const struct shape server_shape = { "server", sizeof(struct agent_server), server_fields, .bare = true };

static const struct enum_name levels[] = {
    { LOG_ERROR, "error" }, { LOG_WARN, "warn" }, { LOG_INFO, "info" }, { LOG_DEBUG, "debug" }, { 0 },
};
static const struct field log_fields[] = {
    { "file", .type = FIELD_STR, IN(log, file), .max = PATH_MAX_BYTES,
      .doc = "where the log goes, opened again on SIGHUP; empty: standard error" },
    { "level", .type = FIELD_ENUM, IN(log, level), .names = levels, .fallback = LOG_INFO,
      .flags = FIELD_BY_NAME, .doc = "least urgent lines to write" },
    { 0 },
};
static const struct shape log_shape = { "log", sizeof(((struct agent_settings *)0)->log), log_fields };

static const struct field output_fields[] = {
    { "max_bytes", .type = FIELD_INT, IN(output, max_bytes), .min = 16384, .max = 256 << 20,
      .fallback = 10 << 20, .doc = "most that is kept of what a process says; as much again of what was before" },
    { 0 },
};
static const struct shape output_shape = { "output", sizeof(((struct agent_settings *)0)->output), output_fields };

static const struct field operations_fields[] = {
    { "at_once", .type = FIELD_INT, IN(operations, at_once), .min = 1, .max = 10000, .fallback = 100,
      .doc = "operations of different processes at once" },
    { 0 },
};
static const struct shape operations_shape = { "operations", sizeof(((struct agent_settings *)0)->operations),
                                               operations_fields };

static const struct field limits_fields[] = {
    { "interval_seconds", .type = FIELD_INT, IN(limits, interval_s), .min = 1, .max = 3600, .fallback = 5,
      .doc = "how often what a process uses is looked at that has a limit; three times in a row over it, and it is "
             "stopped; one without a limit is looked at every twelfth time" },
    { "grace_seconds", .type = FIELD_INT, IN(limits, grace_s), .max = 86400, .fallback = 60,
      .doc = "so long after its start it is not stopped for what it uses" },
    { 0 },
};
static const struct shape limits_shape = { "limits", sizeof(((struct agent_settings *)0)->limits), limits_fields };

static const struct field local_fields[] = {
    { "socket", .type = FIELD_STR, IN(local, socket), .max = PATH_MAX_BYTES, .check = rule_path,
      .doc = "where `holdfast --local` finds the agent; empty: `control.sock` in data_dir, and with a group "
             "`/run/holdfast-agent.sock`" },
    { "group", .type = FIELD_STR, IN(local, group), .max = ID_MAX_BYTES, .check = rule_line,
      .doc = "whose members may do all that root may there; empty: root and the agent's own user alone" },
    { 0 },
};
static const struct shape local_shape = { "local", sizeof(((struct agent_settings *)0)->local), local_fields };

static const struct enum_name cgroup_uses[] = {
    { CGROUPS_ALL, "all" }, { CGROUPS_WHEN_NEEDED, "when_needed" }, { CGROUPS_OFF, "off" }, { 0 },
};

static const struct field scope_name_fields[] = {
    { "proc_name", .type = FIELD_STR, .offset = offsetof(struct proc_word, text), .min = 1, .max = NAME_MAX_BYTES,
      .check = rule_line },
    { 0 },
};
static const struct shape scope_name_shape = { "proc_name", sizeof(struct proc_word), scope_name_fields, .bare = true };

static const struct field fields[] = {
    { "data_dir", .type = FIELD_STR, AT(data_dir), .min = 1, .max = PATH_MAX_BYTES, .check = rule_path,
      .fallback_text = "/var/lib/holdfast-agent", .doc = "journal, identity, output of processes; made if need be" },
    { "servers", .type = FIELD_LIST, AT(servers), .max = SERVERS_MAX, .sub = &server_shape,
      .doc = "where the server is, `host:port`; several are tried in turn; none: controlled from this host alone" },
    { "join_token", .type = FIELD_STR, AT(join_token), .max = TOKEN_MAX, .flags = FIELD_SECRET, .check = rule_line,
      .doc = "to join with, once" },
    { "join_token_file", .type = FIELD_STR, AT(join_token_file), .max = PATH_MAX_BYTES, .check = rule_line,
      .doc = "a file that contains it; other users must not be able to read it" },
    { "ip", .type = FIELD_STR, AT(ip), .max = ID_MAX_BYTES, .check = rule_line,
      .doc = "of this host, as clients of the API call it; empty: that of the connection to the server" },
    { "agent_id", .type = FIELD_STR, AT(agent_id), .max = ID_MAX_BYTES, .check = rule_line,
      .doc = "to ask for when joining; empty: the server makes one" },
    { "log", .type = FIELD_OBJ, AT(log), .sub = &log_shape, .doc = "what is written down" },
    { "output", .type = FIELD_OBJ, AT(output), .sub = &output_shape, .doc = "what processes say" },
    { "operations", .type = FIELD_OBJ, AT(operations), .sub = &operations_shape, .doc = "what is asked for" },
    { "policy", .type = FIELD_OBJ, AT(policy), .sub = &policy_settings_shape,
      .doc = "what may be done on this host, whatever the server says" },
    { "limits", .type = FIELD_OBJ, AT(limits), .sub = &limits_shape, .doc = "what processes may use" },
    { "proc_file", .type = FIELD_STR, AT(proc_file), .max = PATH_MAX_BYTES, .check = rule_path,
      .doc = "the list of hosted processes for other tools; empty: `.proc` in data_dir; "
             "`/usr/local/gse/agent/etc/.proc` is where those of GSE look" },
    { "specs", .type = FIELD_STR, AT(specs), .max = PATH_MAX_BYTES, .check = rule_path, .fallback_text = SPEC_FOLDER,
      .doc = "a folder of specs: at its start the agent hosts what is new there, and takes over what has changed for the next "
             "start of the process; it stops, restarts and forgets nothing, `holdfast --local apply` does; empty: none; the default is read by root's agent alone" },
    { "pid_dir", .type = FIELD_STR, AT(pid_dir), .max = PATH_MAX_BYTES, .check = rule_path,
      .doc = "folder of pid files that the agent keeps, also for commands that daemonize: those of specs whose `pid_path` lies "
             "directly in it; made if need be; empty: `/run/holdfast` for root, else `pids` in data_dir" },
    { "cgroups", .type = FIELD_ENUM, AT(cgroups), .names = cgroup_uses, .fallback = CGROUPS_ALL,
      .flags = FIELD_BY_NAME,
      .doc = "which processes are started in a cgroup of their own, where cgroup version 2 can be written to: `all`; "
             "`when_needed`, those with `spec.holdfast.caps` or `scope: start`; or none with `off`, which refuses these; "
             "a cgroup tells which processes belong together, also those that have left their session and their parent" },
    { "scope_by_name", .type = FIELD_LIST, AT(scope_by_name), .max = SCOPE_NAMES_MAX, .sub = &scope_name_shape,
      .doc = "values of `proc_name` whose processes are ended alone, as with `spec.holdfast.scope: process`, unless "
             "their spec says otherwise; always so: sshd, cron, crond, atd, containerd, dockerd, libvirtd" },
    { "without", .type = FIELD_STR, AT(without), .max = NAME_MAX_BYTES, .check = facilities_check,
      .doc = "facilities of the kernel that are not used though they are there, with blanks between: pidfd, "
             "pidfd_info, cgroup, cgroup_kill, cgroup_caps, children_file, inotify, passrights; for tests, and "
             "for a kernel where one misbehaves" },
    { "local", .type = FIELD_OBJ, AT(local), .sub = &local_shape, .doc = "control from this host itself" },
    { 0 },
};
static const struct shape shape = { "agent settings", sizeof(struct agent_settings), fields };
/* clang-format on */

static const struct config_signal signals[] = {
    { "SIGHUP",
      "reads the settings again and opens `log.file` again; with a mistake in the settings the "
      "old ones stay, and the log says why" },
    { "SIGUSR2", "becomes the program that is at its path by now; processes run on" },
    { "SIGTERM", "and SIGINT: ends; processes run on" },
    { 0 },
};

const struct config_spec agent_config = {
    .program = "holdfast-agent",
    .about = "The Holdfast agent: starts, watches and keeps the processes of this host.",
    .env_prefix = "HOLDFAST_AGENT",
    .default_file = "/etc/holdfast/agent.yaml",
    .shape = &shape,
    .signals = signals,
};
