/* SPDX-License-Identifier: MIT */
/* interp.c - see interp.h. */
#include "agent/identify/interp.h"

#include <string.h>

#include "base/mem/mem.h"

/* One row per interpreter; a version may follow its name (python3.11). Short options: one in
 * `value` takes the rest of its word or the next word as its value, one in `rest` only the rest of
 * its word, and after one in `none` there is no script. Long options have their value after "=";
 * those listed here take the next word. */
static const struct interp {
    const char *name, *value, *rest, *none;
    const char *long_value[4];
} interps[] = {
    /* clang-format off */
    { "sh",     "oO",  "", "cs",  { 0 } },
    { "bash",   "oO",  "", "cs",  { "--rcfile", "--init-file" } },
    { "dash",   "o",   "", "cs",  { 0 } },
    { "ash",    "o",   "", "cs",  { 0 } },
    { "ksh",    "oRT", "", "cs",  { 0 } },
    { "mksh",   "oT",  "", "cs",  { 0 } },
    { "zsh",    "o",   "", "cs",  { 0 } },
    { "python", "WXQ", "", "cm",  { "--check-hash-based-pycs" } },
    { "pypy",   "WXQ", "", "cm",  { 0 } },
    { "perl",   "I",   "0CDFMVilmx", "eE", { 0 } },
    { "ruby",   "CEIr", "0FKTWix",   "e",  { 0 } },
    { "node",   "rC",  "", "ep",  { "--require", "--import", "--loader", "--env-file" } },
    { "nodejs", "rC",  "", "ep",  { "--require", "--import", "--loader", "--env-file" } },
    { "php",    "cdzt", "", "rBRFES", { 0 } },
    { "lua",    "l",   "", "e",   { 0 } },
    { "tclsh",  "",    "", "",    { 0 } },
    /* clang-format on */
};

static bool is_version(const char *s)
{
    return s[strspn(s, "0123456789.-")] == '\0';
}

static const struct interp *interp_find(const char *exe)
{
    for (size_t i = 0; i < ARRAY_LEN(interps); i++) {
        size_t n = strlen(interps[i].name);

        if (!strncmp(exe, interps[i].name, n) && is_version(exe + n))
            return &interps[i];
    }
    return NULL;
}

/* Suffixes of distribution builds: bash-static, python3.11-dbg, perl5.36-x86_64-linux-gnu.
 * "node-exporter" is none of them. */
static bool is_build(const char *s)
{
    size_t version = strspn(s, "0123456789.");

    return s[version] == '-' &&
           (version || !strcmp(s, "-static") || !strcmp(s, "-dbg") || !strcmp(s, "-debug"));
}

bool interp_is_one(const char *exe)
{
    for (size_t i = 0; i < ARRAY_LEN(interps); i++) {
        size_t n = strlen(interps[i].name);

        if (!strncmp(exe, interps[i].name, n) && (is_version(exe + n) || is_build(exe + n)))
            return true;
    }
    return false;
}

enum option { OPTION_ALONE, OPTION_TAKES_NEXT, OPTION_ENDS };

static enum option read_long(const struct interp *in, const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(in->long_value) && in->long_value[i]; i++) {
        if (!strcmp(word, in->long_value[i]))
            return OPTION_TAKES_NEXT;
    }
    return strcmp(word, "--eval") && strcmp(word, "--print") ? OPTION_ALONE : OPTION_ENDS;
}

/* A word of several option letters: the first that takes a value has the rest of the word. */
static enum option read_short(const struct interp *in, const char *letters)
{
    for (const char *p = letters; *p; p++) {
        if (strchr(in->none, *p))
            return OPTION_ENDS;
        if (strchr(in->rest, *p))
            return OPTION_ALONE;
        if (strchr(in->value, *p))
            return p[1] ? OPTION_ALONE : OPTION_TAKES_NEXT;
    }
    return OPTION_ALONE;
}

static const char *next_word(const char *word, const char *end)
{
    const char *nul = memchr(word, '\0', (size_t)(end - word));

    return nul && nul + 1 < end && memchr(nul + 1, '\0', (size_t)(end - nul - 1)) ? nul + 1 : NULL;
}

/* Shells accept "+x" as an option, too, and all of them have -o. */
static bool is_option(const struct interp *in, const char *word)
{
    return (word[0] == '-' || (word[0] == '+' && strchr(in->value, 'o'))) && word[1];
}

/* A multi-call binary: argv[0] selects the program. */
static const struct interp *find_for(const char *exe, const char *argv0)
{
    const char *slash = strrchr(argv0, '/');

    return interp_find(strcmp(exe, "busybox") ? exe : slash ? slash + 1 : argv0);
}

const char *interp_script(const char *exe, const char *cmdline, size_t n)
{
    const char *end = cmdline + n, *word = cmdline;
    const struct interp *in;

    if (!n || !memchr(cmdline, '\0', n) || !(in = find_for(exe, cmdline)))
        return NULL;
    while ((word = next_word(word, end)) != NULL && is_option(in, word)) {
        enum option option;

        if (!strcmp(word, "--"))
            return next_word(word, end);
        option = word[1] == '-' ? read_long(in, word) : read_short(in, word + 1);
        if (option == OPTION_ENDS)
            return NULL;
        if (option == OPTION_TAKES_NEXT && (word = next_word(word, end)) == NULL)
            return NULL;
    }
    return word && word[0] && strcmp(word, "-") ? word : NULL;
}
