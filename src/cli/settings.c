/* SPDX-License-Identifier: MIT */
/* settings.c - see settings.h. */
#include "cli/settings.h"

#include <ctype.h>
#include <string.h>

#include "base/io/file.h"
#include "base/mem/mem.h"
#include "model/app.h"
#include "model/rules.h"

#define AT(member) .offset = offsetof(struct cli_settings, member)

/* clang-format off */
static const struct enum_name langs[] = {
    { LANG_WISH_AUTO, "auto" }, { LANG_WISH_EN, "en" }, { LANG_WISH_ZH, "zh" }, { 0 },
};
static const struct enum_name colours[] = {
    { COLOUR_AUTO, "auto" }, { COLOUR_ALWAYS, "always" }, { COLOUR_NEVER, "never" }, { 0 },
};
static const struct field fields[] = {
    { "server", .type = FIELD_STR, AT(server), .min = 1, .max = 1024, .check = rule_line,
      .fallback_text = "http://127.0.0.1:7020", .doc = "where the server is" },
    { "socket", .type = FIELD_STR, AT(socket), .max = 107, .check = rule_line, .doc = "its admin socket, used instead" },
    { "local_socket", .type = FIELD_STR, AT(local_socket), .max = 107, .check = rule_line,
      .doc = "of the agent, for --local" },
    { "app", .type = FIELD_STR, AT(app), .max = APP_CODE_MAX_BYTES, .check = rule_app_code, .doc = "the app to call as" },
    { "secret_file", .type = FIELD_STR, AT(secret_file), .max = PATH_MAX_BYTES, .check = rule_line,
      .doc = "where its secret is" },
    { "ca", .type = FIELD_STR, AT(ca), .max = PATH_MAX_BYTES, .check = rule_line, .doc = "CA of the server, PEM" },
    { "lang", .type = FIELD_ENUM, AT(lang), .names = langs, .flags = FIELD_BY_NAME, .doc = "language" },
    { "json", .type = FIELD_BOOL, AT(json), .doc = "JSON instead of tables" },
    { "quiet", .type = FIELD_BOOL, AT(quiet), .doc = "only what is needed" },
    { "color", .type = FIELD_ENUM, AT(color), .names = colours, .flags = FIELD_BY_NAME, .doc = "colours" },
    { 0 },
};
const struct shape cli_settings_shape = { "cli settings", sizeof(struct cli_settings), fields };
/* clang-format on */

static const char prefix[] = "HOLDFAST_";

const char *settings_env(char *const *env, const char *name)
{
    size_t n = strlen(name);

    for (; *env; env++) {
        if (!strncmp(*env, name, n) && (*env)[n] == '=')
            return *env + n + 1;
    }
    return NULL;
}

/* ---- language ---- */

static enum lang lang_of_locale(char *const *env)
{
    static const char *const names[] = { "LC_ALL", "LC_MESSAGES", "LANG" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *text = settings_env(env, names[i]);

        if (text && *text)
            return strncmp(text, "zh", 2) ? LANG_EN : LANG_ZH;
    }
    return LANG_EN;
}

enum lang settings_lang(int argc, char *const *argv, char *const *env)
{
    const char *text = settings_env(env, "HOLDFAST_LANG");

    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (!strncmp(argv[i], "--lang=", 7))
            text = argv[i] + 7;
        else if (!strcmp(argv[i], "--lang") && i + 1 < argc)
            text = argv[i + 1];
    }
    if (text && (!strcmp(text, "zh") || !strcmp(text, "en")))
        return *text == 'z' ? LANG_ZH : LANG_EN;
    return lang_of_locale(env);
}

/* ---- the rest ---- */

static bool is_setting(const char *entry)
{
    size_t n = strlen(prefix), length = strcspn(entry, "=");

    if (strncmp(entry, prefix, n) != 0)
        return false;
    for (const struct field *f = fields; f->name; f++) {
        if (n + strlen(f->name) == length && !strncasecmp(f->name, entry + n, length - n))
            return true;
    }
    return !strncmp(entry, "HOLDFAST_CONFIG=", 16);
}

/* config_load() refuses unknown variables with our prefix, which is right for a daemon.  Here
 * the environment is a user's and may contain HOLDFAST_SERVER_LISTEN and other settings of the
 * server; so config_load() only gets ours. */
static char *const *our_env(char *const *env, struct arena *a)
{
    size_t n = 0;
    char **ours;

    while (env[n])
        n++;
    ours = arena_alloc(a, (n + 1) * sizeof(*ours));
    for (n = 0; *env; env++) {
        if (is_setting(*env))
            ours[n++] = *env;
    }
    return ours;
}

static const char *default_file(char *const *env, struct arena *a)
{
    const char *config = settings_env(env, "XDG_CONFIG_HOME"), *home = settings_env(env, "HOME");

    if (config && *config == '/')
        return arena_printf(a, "%s/holdfast/cli.yaml", config);
    if (home && *home == '/')
        return arena_printf(a, "%s/.config/holdfast/cli.yaml", home);
    return "/etc/holdfast/cli.yaml";
}

static bool is_secret(const char *text)
{
    for (const char *p = text; *p; p++) {
        if (!isgraph((unsigned char)*p))
            return false;
    }
    return *text && strlen(text) <= APP_SECRET_MAX_BYTES;
}

static int read_secret(const char *path, enum lang lang, struct arena *a, const char **ret,
                       struct err *err)
{
    enum { FILE_MAX = 4096 };
    struct buf b = { 0 };
    char *text;

    if (file_read_secret(path, FILE_MAX, &b, err))
        return err_wrap(err, "%s", "--secret-file");
    text = arena_memdup(a, buf_data(&b), b.len);
    file_wipe(&b);
    text[strcspn(text, "\r\n")] = '\0';
    *ret = text;
    return is_secret(text) ? 0 : text_err(err, ERR_INVALID, lang, TEXT_BAD_SECRET, TEXT_ARGS(path));
}

/* The admin socket needs no credentials. */
static int find_secret(struct cli_settings *s, char *const *env, enum lang lang, struct arena *a,
                       struct err *err)
{
    const char *text = settings_env(env, "HOLDFAST_SECRET");

    s->secret = "";
    if (*s->socket)
        return 0;
    if (*s->secret_file) {
        if (read_secret(s->secret_file, lang, a, &s->secret, err))
            return -1;
    } else if (text && *text) {
        if (!is_secret(text))
            return text_err(err, ERR_INVALID, lang, TEXT_BAD_SECRET, TEXT_ARGS("HOLDFAST_SECRET"));
        s->secret = text;
    }
    if (*s->app && !*s->secret)
        return text_err(err, ERR_INVALID, lang, TEXT_APP_WITHOUT_SECRET, TEXT_ARGS(s->app));
    if (!*s->app && *s->secret)
        return text_err(err, ERR_INVALID, lang, TEXT_SECRET_WITHOUT_APP, NULL);
    return 0;
}

int settings_load(const struct args *args, char *const *env, enum lang lang, struct arena *a,
                  struct cli_settings *ret, struct err *err)
{
    const struct config_spec spec = { "holdfast", "", "HOLDFAST", default_file(env, a),
                                      &cli_settings_shape };
    struct config_loaded loaded;

    if (config_load(&spec, args->n_settings, args->settings, our_env(env, a), a, ret, &loaded, err))
        return -1;
    if (args_has(args, OPTION_SERVER) && !args_has(args, OPTION_SOCKET))
        ret->socket = ""; /* the option overrides a socket from the file or the environment */
    ret->secret = "";
    return args_has(args, OPTION_LOCAL) ? 0 : find_secret(ret, env, lang, a, err);
}
