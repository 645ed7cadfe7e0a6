/* SPDX-License-Identifier: MIT */
/* run_facts.c - the facts command: capabilities of the agent of this host. */
#include <string.h>

#include "base/mem/mem.h"
#include "cli/local.h"
#include "cli/run.h"
#include "cli/table.h"

static const struct column columns[] = {
    { TEXT_FACILITY, false },
    { TEXT_USED, false },
    { TEXT_INSTEAD, false, .wraps = true },
};

/* What the agent says in English, by name. */
static const struct {
    const char *name;
    enum text text;
} instead[] = {
    { "pidfd", TEXT_NO_PIDFD },
    { "pidfd_info", TEXT_NO_PIDFD_INFO },
    { "cgroup", TEXT_NO_CGROUP },
    { "cgroup_kill", TEXT_NO_CGROUP_KILL },
    { "cgroup_caps", TEXT_NO_CGROUP_CAPS },
    { "children_file", TEXT_NO_CHILDREN_FILE },
    { "inotify", TEXT_NO_INOTIFY },
    { "passrights", TEXT_NO_PASSRIGHTS },
};

void local_put_facts(struct cli *cli, const struct local_facts *f)
{
    const char *link = text_get(cli->lang, f->is_linked ? TEXT_FACTS_LINKED : TEXT_FACTS_AWAY);

    out_line(&cli->out, *f->agent_id ? TEXT_FACTS_AGENT : TEXT_FACTS_AGENT_ALONE,
             TEXT_ARGS(f->agent_version, cli_count(cli, f->pid), f->agent_id));
    out_line(&cli->out, TEXT_FACTS_DATA, TEXT_ARGS(f->data_dir));
    if (*f->pid_dir) /* an older agent keeps none */
        out_line(&cli->out, TEXT_FACTS_PID_DIR, TEXT_ARGS(f->pid_dir));
    out_line(&cli->out, *f->servers ? TEXT_FACTS_SERVER : TEXT_FACTS_ALONE,
             TEXT_ARGS(f->servers, link));
    if (*f->trouble)
        out_line(&cli->out, TEXT_FACTS_TROUBLE,
                 TEXT_ARGS(f->trouble, cli_duration(cli, f->again_s * 1000)));
    out_line(&cli->out, TEXT_FACTS_PROCESSES,
             TEXT_ARGS(cli_count(cli, f->processes), cli_count(cli, f->running),
                       cli_count(cli, f->hosted), cli_count(cli, f->operations)));
    if (*f->servers)
        out_line(&cli->out, TEXT_FACTS_EVENTS, TEXT_ARGS(cli_count(cli, f->events)));
}

/* An agent of another version may have facts that are unknown here. */
static const char *instead_of(struct cli *cli, const struct local_fact *fact)
{
    for (size_t i = 0; i < ARRAY_LEN(instead); i++) {
        if (!strcmp(instead[i].name, fact->name))
            return text_get(cli->lang, instead[i].text);
    }
    return fact->instead;
}

static void put_table(struct cli *cli, const struct local_facts *f)
{
    const struct local_fact *facts = f->facts.items;
    struct table t;

    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < f->facts.n; i++) {
        table_add(&t, STYLE_PLAIN, facts[i].name);
        table_add_text(&t, facts[i].used ? STYLE_GOOD : STYLE_BAD, cli->lang,
                       facts[i].used ? TEXT_YES : TEXT_NO);
        table_add(&t, STYLE_PLAIN,
                  facts[i].used ? ""
                                : arena_printf(&t.arena, "%s (%s)", instead_of(cli, &facts[i]),
                                               facts[i].why));
    }
    if (t.n_cells) {
        out_puts(&cli->out, "\n");
        table_put(&t, &cli->out);
    }
    table_done(&t);
}

int run_facts(struct cli *cli, struct err *err)
{
    struct local_facts facts;

    if (local_get_facts(cli, &facts, err))
        return -1;
    if (cli->settings.json) {
        cli_json(cli, &local_facts_shape, &facts);
        return CLI_OK;
    }
    local_put_facts(cli, &facts);
    put_table(cli, &facts);
    return CLI_OK;
}
