/* SPDX-License-Identifier: MIT */
/* What a policy lets happen, and every way around it that we could think of. */
#include "agent/confine/policy.h"

#include "model/code.h"
#include "tests/lib/agent_world.h"
#include "tests/lib/readable.h"

/* A folder that is allowed (`in`), one beside it that is not, and one whose name begins
 * alike:
 *
 *     in/bin/prog  in/bin/script  in/bin/plain  in/bin/python3  in/bin/env  in/app.py
 *     in/link -> ../out           in/sh -> /bin/sh              in/dangling -> /nowhere
 *     out/prog     into/prog      door -> in */
static char root[64];

static const char *at(const char *name)
{
    static char path[4][PATH_MAX];
    static int n;

    n = (n + 1) % 4;
    snprintf(path[n], sizeof(path[n]), "%s/%s", root, name);
    return path[n];
}

static void put(const char *name, mode_t mode, const char *text)
{
    int fd = open(at(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static int set_up(void **state)
{
    static const char *const folders[] = { "in", "in/bin", "out", "into" };

    (void)state;
    snprintf(root, sizeof(root), "/tmp/policy-XXXXXX");
    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < ARRAY_LEN(folders); i++)
        assert_int_equal(mkdir(at(folders[i]), 0755), 0);
    world_copy_victim(at("in/bin/prog"));
    world_copy_victim(at("in/bin/python3"));
    world_copy_victim(at("in/bin/bash"));
    world_copy_victim(at("in/bin/env"));
    world_copy_victim(at("out/prog"));
    world_copy_victim(at("into/prog"));
    put("in/bin/script", 0755, "#!/bin/sh\nexit 0\n");
    put("in/bin/plain", 0755, "exit 0\n");
    put("in/bin/data", 0644, "#!/bin/sh\n");
    put("in/app.py", 0644, "pass\n");
    put("out/app.py", 0644, "pass\n");
    assert_int_equal(symlink("../out", at("in/link")), 0);
    assert_int_equal(symlink("/bin/sh", at("in/sh")), 0);
    assert_int_equal(symlink("bin/prog", at("in/short")), 0);
    assert_int_equal(symlink("/nowhere", at("in/dangling")), 0);
    assert_int_equal(symlink("in", at("door")), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    world_remove(root);
    return 0;
}

/* ---- specs */

static struct proc_spec spec_in(const char *folder)
{
    struct proc_spec spec;

    shape_defaults(&proc_spec_shape, &spec);
    spec.identity.setup_path = at(folder);
    spec.identity.user = "app";
    return spec;
}

static struct policy one_path(struct proc_word *word, const char *path, int64_t commands)
{
    word->text = path;
    return (struct policy){ .paths = { word, 1 }, .commands = commands };
}

static struct err last_err;

/* NULL: it is allowed. */
static const char *refusal(const struct policy *p, const struct proc_spec *spec, const char *line)
{
    last_err = (struct err){ 0 };
    if (!policy_allow(p, spec, line, &last_err))
        return NULL;
    assert_int_equal(last_err.code, CODE_DENIED);
    assert_true(!strncmp(last_err.text, "policy.", 7));
    return last_err.text;
}

static void expect(const char *what, const char *refused, const char *why)
{
    if (!why && refused)
        fail_msg("%s is refused: %s", what, refused);
    if (why && !refused)
        fail_msg("%s is allowed", what);
    if (why && !strstr(refused, why))
        fail_msg("%s: %s; expected: %s", what, refused, why);
}

/* ---- the process */

static void without_a_word_all_is_allowed(void **state)
{
    const struct policy none = { 0 };
    struct proc_spec spec = spec_in("out");

    (void)state;
    spec.identity.pid_path = "/anywhere/x";
    expect("process", refusal(&none, &spec, ""), NULL);
    expect("line", refusal(&none, &spec, "cd /; rm -rf $HOME"), NULL);
}

static void users_are_those_that_are_named(void **state)
{
    struct proc_word users[] = { { "app" }, { "web" } };
    const struct policy p = { .users = { users, 2 } };
    struct proc_spec spec = spec_in("out");

    (void)state;
    expect("app", refusal(&p, &spec, ""), NULL);
    spec.identity.user = "root";
    expect("root", refusal(&p, &spec, ""), "policy.users: root is not an allowed user (user)");
    spec.identity.user = "ap";
    expect("ap", refusal(&p, &spec, ""), "policy.users");
    spec.identity.user = "";
    expect("nobody", refusal(&p, &spec, ""), "policy.users");
}

static void paths_are_below_those_that_are_named(void **state)
{
    static const struct {
        const char *path, *why;
    } cases[] = {
        { "in", NULL },
        { "in/", NULL },
        { "in/bin", NULL },
        { "in/not/there/yet", NULL },
        { "door/bin", NULL },
        { "out", "is under none of" },
        { "into", "is under none of" },
        { "", "is under none of" },
        { "in/../out", "is under none of" },
        { "in/bin/../../out", "is under none of" },
        { "in/link", "is under none of" },
        { "in/link/new", "is under none of" },
        { "in/link/../out", "is under none of" },
        { "in/not/../../out", "`..`" },
        { "in/dangling", "leads nowhere" },
        { "in/dangling/x", "leads nowhere" },
    };
    struct proc_word word;
    char allowed[PATH_MAX];

    (void)state;
    snprintf(allowed, sizeof(allowed), "%s", at("in"));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct policy p = one_path(&word, allowed, COMMANDS_ANY);
        struct proc_spec spec = spec_in("in");

        spec.identity.setup_path = at(cases[i].path);
        expect(cases[i].path, refusal(&p, &spec, ""), cases[i].why);
        spec = spec_in("in");
        spec.identity.pid_path = at(cases[i].path);
        expect(cases[i].path, refusal(&p, &spec, ""), cases[i].why);
        spec = spec_in("in");
        spec.extra.env_file = at(cases[i].path);
        expect(cases[i].path, refusal(&p, &spec, ""), cases[i].why);
    }
}

static void without_a_setup_path_commands_would_run_in_the_root(void **state)
{
    struct proc_word word;
    char allowed[PATH_MAX];
    struct policy p;
    struct proc_spec spec = spec_in("in");

    (void)state;
    snprintf(allowed, sizeof(allowed), "%s", at("in"));
    p = one_path(&word, allowed, COMMANDS_ANY);
    spec.identity.setup_path = "";
    expect("no setup_path", refusal(&p, &spec, ""), "/ is under none of");
    p = one_path(&word, "/", COMMANDS_ANY);
    expect("no setup_path, all allowed", refusal(&p, &spec, ""), NULL);
}

static void a_refusal_says_what_and_where(void **state)
{
    struct proc_word paths[] = { { "/data" }, { "/usr/local" } };
    const struct policy p = { .paths = { paths, 2 } };
    struct proc_spec spec = spec_in("out");
    char text[2 * PATH_MAX];

    (void)state;
    spec.identity.setup_path = "/opt/evil/x";
    assert_string_equal(refusal(&p, &spec, ""), "policy.paths: /opt/evil/x is under none of "
                                                "/data, /usr/local (setup_path)");
    readable(text, sizeof(text), err_msg(&last_err), LANG_ZH);
    assert_string_equal(
        text, "主机策略 policy.paths：/opt/evil/x 不在以下目录中：/data, /usr/local（setup_path）");
    spec.identity.setup_path = at("in/link");
    snprintf(text, sizeof(text),
             "policy.paths: %s/in/link, which is %s/out, is under none of /data, /usr/local "
             "(setup_path)",
             root, root);
    assert_string_equal(refusal(&p, &spec, ""), text);
}

static void a_folder_that_is_a_link_means_where_it_leads(void **state)
{
    struct proc_word word;
    char door[PATH_MAX];
    struct proc_spec spec = spec_in("in/bin");
    struct policy p;

    (void)state;
    snprintf(door, sizeof(door), "%s", at("door"));
    p = one_path(&word, door, COMMANDS_ANY);
    expect("in/bin", refusal(&p, &spec, ""), NULL);
    spec = spec_in("out");
    expect("out", refusal(&p, &spec, ""), "is under none of");
}

/* ---- commands */

#define NOT_PLAIN "plain words alone"
#define NO_PATH   "takes a program by its path"
#define NO_SHELL  "no program that runs without a shell"

static void only_programs_below_are_run(void **state)
{
    static const struct {
        const char *line, *why; /* @ stands for the folder */
    } cases[] = {
        { "@/in/bin/prog", NULL },
        { "@/in/bin/prog --port 80 -c /etc/x.conf a=b", NULL },
        { "  @/in/bin/prog\tx  ", NULL },
        { "./bin/prog", NULL },
        { "bin/prog", NULL },
        { "bin/../bin/prog", NULL },
        { "bin/script", NULL },
        { "./short", NULL },
        { "@/door/bin/prog", NULL },
        /* elsewhere */
        { "@/out/prog", "is under none of" },
        { "@/into/prog", "is under none of" },
        { "@/in/../out/prog", "is under none of" },
        { "../out/prog", "is under none of" },
        { "bin/../../out/prog", "is under none of" },
        { "@/in/link/prog", "is under none of" },
        { "link/prog", "is under none of" },
        { "/bin/sh", "is under none of" },
        { "/bin/sh -c x", "is under none of" },
        { "./sh", "is under none of" },
        { "./sh -c x", "is under none of" },
        { "/usr/bin/env ./bin/prog", "is under none of" },
        /* by PATH, or not at all */
        { "prog", NO_PATH },
        { "sh -c x", NO_PATH },
        { "sh", NO_PATH },
        { "exec ./bin/prog", NO_PATH },
        { "env X=1 ./bin/prog", NO_PATH },
        { "cd /", NO_PATH },
        { ".", NO_PATH },
        { "@/in/bin/none", NO_SHELL },
        { "@/in/bin", NO_SHELL },
        { "@/in/bin/", NO_SHELL },
        { "@/in/bin/prog/", NO_SHELL },
        { "@/in/bin/plain", NO_SHELL },
        { "@/in/bin/data", NO_SHELL },
        { "@/in/dangling", NO_SHELL },
        { "/", NO_SHELL },
        { "./", NO_SHELL },
        /* what a shell would make of it */
        { "bin/prog; /bin/sh", NOT_PLAIN },
        { "bin/prog ;sh", NOT_PLAIN },
        { "bin/prog & sh", NOT_PLAIN },
        { "bin/prog && sh", NOT_PLAIN },
        { "bin/prog || sh", NOT_PLAIN },
        { "bin/prog | sh", NOT_PLAIN },
        { "bin/prog $(sh)", NOT_PLAIN },
        { "bin/prog `sh`", NOT_PLAIN },
        { "bin/prog $HOME", NOT_PLAIN },
        { "bin/prog ${x}", NOT_PLAIN },
        { "bin/prog\nsh", NOT_PLAIN },
        { "bin/prog\rsh", NOT_PLAIN },
        { "bin/prog\vsh", NOT_PLAIN },
        { "'bin/prog'", NOT_PLAIN },
        { "\"bin/prog\" x", NOT_PLAIN },
        { "bin/prog 'x", NOT_PLAIN },
        { "bin\\/prog", NOT_PLAIN },
        { "bin/prog > /etc/passwd", NOT_PLAIN },
        { "bin/prog < x", NOT_PLAIN },
        { "bin/prog *", NOT_PLAIN },
        { "bin/prog ?", NOT_PLAIN },
        { "bin/prog [a]", NOT_PLAIN },
        { "bin/prog ~root", NOT_PLAIN },
        { "bin/prog #x", NOT_PLAIN },
        { "bin/prog !", NOT_PLAIN },
        { "(bin/prog)", NOT_PLAIN },
        { "{ bin/prog", NOT_PLAIN },
        { "X=1 bin/prog", NOT_PLAIN },
        { "LD_PRELOAD=./x.so bin/prog", NOT_PLAIN },
        { "bin/prog \xc3\xa9", NOT_PLAIN },
        { " ", NOT_PLAIN },
        { "\t", NOT_PLAIN },
        /* programs that run others */
        { "bin/env ./bin/prog", "runs other programs" },
        { "bin/env X=1 ./bin/prog", "runs other programs" },
        { "bin/bash -c x", "takes a script as its first word" },
        { "bin/bash", "takes a script as its first word" },
        { "bin/bash -- app.py", "takes a script as its first word" },
        { "bin/bash +e app.py", "takes a script as its first word" },
        { "bin/python3 -m http.server", "takes a script as its first word" },
        { "bin/python3 app.py --port 80", NULL },
        { "bin/python3 @/in/app.py", NULL },
        { "bin/python3 @/out/app.py", "is under none of" },
        { "bin/python3 ../out/app.py", "is under none of" },
        { "bin/python3 link/app.py", "is under none of" },
        { "bin/python3 none.py", "there is no such file" },
        { "bin/python3 bin", "there is no such file" },
        { "bin/python3 /dev/stdin", "there is no such file" },
    };
    struct proc_word word;
    char allowed[PATH_MAX];

    (void)state;
    snprintf(allowed, sizeof(allowed), "%s", at("in"));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct policy p = one_path(&word, allowed, COMMANDS_UNDER_PREFIX);
        struct proc_spec spec = spec_in("in");
        const char *sign = strchr(cases[i].line, '@');
        char line[PATH_MAX];

        snprintf(line, sizeof(line), "%.*s%s%s",
                 sign ? (int)(sign - cases[i].line) : (int)strlen(cases[i].line), cases[i].line,
                 sign ? root : "", sign ? sign + 1 : "");
        spec.control.stop_cmd = line;
        expect(line, refusal(&p, &spec, line), cases[i].why);
        if (cases[i].why)
            expect(line, refusal(&p, &spec, line), "(stop_cmd)");
    }
}

static void a_link_that_is_changed_after_a_look_is_seen_by_the_next(void **state)
{
    struct proc_word word;
    char allowed[PATH_MAX];
    struct proc_spec spec = spec_in("in");
    struct policy p;

    (void)state;
    snprintf(allowed, sizeof(allowed), "%s", at("in"));
    p = one_path(&word, allowed, COMMANDS_UNDER_PREFIX);
    expect("short", refusal(&p, &spec, "./short"), NULL);
    assert_int_equal(unlink(at("in/short")), 0);
    assert_int_equal(symlink("/bin/sh", at("in/short")), 0);
    expect("short", refusal(&p, &spec, "./short"), "is under none of");
}

static void no_folder_means_no_program(void **state)
{
    const struct policy p = { .commands = COMMANDS_UNDER_PREFIX };
    struct proc_spec spec = spec_in("in");
    struct err err = { 0 };

    (void)state;
    expect("prog", refusal(&p, &spec, "bin/prog"), "none is named");
    assert_int_equal(policy_check(&p, &err), -1);
    assert_int_equal(err.code, ERR_INVALID);
    assert_non_null(strstr(err.text, "policy.paths: at least one is needed"));
}

static void variables_do_not_bring_in_programs(void **state)
{
    static const struct {
        const char *name;
        bool is_refused;
    } cases[] = {
        { "LD_PRELOAD", true },
        { "LD_LIBRARY_PATH", true },
        { "LD_AUDIT", true },
        { "BASH_ENV", true },
        { "ENV", true },
        { "PATH", true },
        { "PYTHONPATH", true },
        { "PYTHONSTARTUP", true },
        { "PERL5OPT", true },
        { "NODE_OPTIONS", true },
        { "RUBYOPT", true },
        { "JAVA_TOOL_OPTIONS", true },
        { "JAVA_HOME", true },
        { "SHELL", true },
        { "PAGER", true },
        { "BASH_FUNC_ls%%", true },
        { "GCONV_PATH", true },
        { "HOME", true },
        { "IFS", true },
        { "PORT", false },
        { "PYTHONUNBUFFERED", false },
        { "LANG", false },
        { "OLD_LD_PRELOAD", false },
        { "ENVIRONMENT", false },
        { "ld_preload", false },
    };
    struct proc_word word;
    struct proc_env env = { "", "x" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct policy p = one_path(&word, "/", COMMANDS_UNDER_PREFIX);
        struct proc_spec spec = spec_in("in");

        env.key = cases[i].name;
        spec.extra.env = (struct list){ &env, 1 };
        expect(cases[i].name, refusal(&p, &spec, ""), cases[i].is_refused ? cases[i].name : NULL);
        p.commands = COMMANDS_ANY;
        expect(cases[i].name, refusal(&p, &spec, ""), NULL);
    }
}

static void a_copy_stands_for_itself(void **state)
{
    char user[] = "app", path[] = "/data";
    struct proc_word users[] = { { user } }, paths[] = { { path } };
    const struct policy p = { { users, 1 }, { paths, 1 }, COMMANDS_UNDER_PREFIX };
    struct arena a = { 0 };
    struct policy copy;

    (void)state;
    policy_copy(&p, &a, &copy);
    user[0] = path[1] = 'x';
    assert_string_equal(((const struct proc_word *)copy.users.items)->text, "app");
    assert_string_equal(((const struct proc_word *)copy.paths.items)->text, "/data");
    assert_int_equal(copy.commands, COMMANDS_UNDER_PREFIX);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_word_all_is_allowed),
        cmocka_unit_test(users_are_those_that_are_named),
        cmocka_unit_test(paths_are_below_those_that_are_named),
        cmocka_unit_test(without_a_setup_path_commands_would_run_in_the_root),
        cmocka_unit_test(a_refusal_says_what_and_where),
        cmocka_unit_test(a_folder_that_is_a_link_means_where_it_leads),
        cmocka_unit_test(only_programs_below_are_run),
        cmocka_unit_test(a_link_that_is_changed_after_a_look_is_seen_by_the_next),
        cmocka_unit_test(no_folder_means_no_program),
        cmocka_unit_test(variables_do_not_bring_in_programs),
        cmocka_unit_test(a_copy_stands_for_itself),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
