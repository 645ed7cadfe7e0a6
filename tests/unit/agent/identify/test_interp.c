/* SPDX-License-Identifier: MIT */
#include "agent/identify/interp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem/mem.h"

/* A '|' stands for the NUL behind each argument. */
static const struct {
    const char *exe, *line, *script;
} cases[] = {
    { "bash", "bash|/x/run.sh|", "/x/run.sh" },
    { "bash", "bash|-x|run|", "run" },
    { "bash", "bash|+x|-e|run|", "run" },
    { "bash", "bash|-euo|pipefail|run|", "run" },
    { "bash", "bash|-o|pipefail|run|", "run" },
    { "bash", "bash|--rcfile|zookeeper|run|", "run" },
    { "bash", "bash|--norc|run|", "run" },
    { "bash", "bash|--|-run|", "-run" },
    { "bash", "bash|-c|zookeeper|", NULL },
    { "bash", "bash|-ec|zookeeper|", NULL },
    { "bash", "bash|-s|zookeeper|", NULL },
    { "bash", "-bash|", NULL },
    { "bash", "bash|-|", NULL },
    { "bash", "bash||", NULL },
    { "bash", "bash|-o|", NULL },
    { "bash", "bash|--|", NULL },
    { "dash", "/bin/sh|/x/run.sh|a|", "/x/run.sh" },
    { "python3.11", "python3|/x/app.py|", "/x/app.py" },
    { "python3", "python3|-u|-W|ignore|-Xdev|app.py|", "app.py" },
    { "python3", "python3|-m|http.server|", NULL },
    { "python3", "python3|-um|http.server|", NULL },
    { "python3", "python3|-c|code|", NULL },
    { "python3", "python3|+x|", "+x" },
    { "pythonx", "pythonx|/x/app.py|", NULL },
    { "perl", "perl|-w|-Mfeature=say|-I|lib|app.pl|", "app.pl" },
    { "perl", "perl|-we|code|", NULL },
    { "ruby3.1", "ruby|-rjson|-r|set|app.rb|", "app.rb" },
    { "node", "node|--max-old-space-size=512|app.js|", "app.js" },
    { "node", "node|--require|dotenv|app.js|", "app.js" },
    { "node", "node|--eval|zookeeper|", NULL },
    { "php8.2", "php|-f|app.php|", "app.php" },
    { "busybox", "sh|run.sh|", "run.sh" },
    { "busybox", "/bin/ash|-e|run.sh|", "run.sh" },
    { "busybox", "tail|-f|/data/zookeeper|", NULL },
    { "java", "java|-jar|zookeeper.jar|", NULL },
    { "vim", "vim|/data/zookeeper|", NULL },
    { "", "|", NULL },
    { "bash", "bash|run", NULL }, /* cut off: the name may go on */
    { "bash", "bash", NULL },
    { "bash", "", NULL },
};

static void the_script_is_the_first_word_that_is_no_option(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t n = strlen(cases[i].line);
        char *line = xmemdup(cases[i].line, n), *exact;
        const char *got;

        for (size_t k = 0; k < n; k++)
            line[k] = line[k] == '|' ? '\0' : line[k];
        exact = malloc(n ? n : 1); /* nothing behind it: ASan would see */
        memcpy(exact, line, n);
        got = interp_script(cases[i].exe, exact, n);
        if (!got != !cases[i].script || (got && strcmp(got, cases[i].script) != 0))
            fail_msg("%s: %s, not %s", cases[i].line, got, cases[i].script);
        free(exact);
        free(line);
    }
}

static void an_interpreter_is_known_by_its_name(void **state)
{
    static const char *const are[] = { "sh",
                                       "bash",
                                       "python3.11",
                                       "bash-static",
                                       "python3-dbg",
                                       "python3.11-dbg",
                                       "perl5.36-x86_64-linux-gnu" };
    static const char *const are_not[] = { "",      "shell",   "node-exporter", "node_exporter",
                                           "bashd", "python3x" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(are); i++) {
        if (!interp_is_one(are[i]))
            fail_msg("%s is none", are[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(are_not); i++) {
        if (interp_is_one(are_not[i]))
            fail_msg("%s is one", are_not[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_script_is_the_first_word_that_is_no_option),
        cmocka_unit_test(an_interpreter_is_known_by_its_name),
    };

    return cmocka_run_group_tests_name("interp", tests, NULL, NULL);
}
