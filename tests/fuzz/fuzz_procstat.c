/* SPDX-License-Identifier: MIT */
/* fuzz_procstat.c - any bytes as a stat, a status, a command line and a pid file: what a
 * process can write into those never harms us, and what is taken from them is within
 * its limits. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/identify/interp.h"
#include "agent/identify/pidfile.h"
#include "agent/identify/procfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_stat(const char *text, size_t n)
{
    struct procfs_stat st;
    struct err err;

    if (procfs_parse_stat(text, n, &st, &err))
        return;
    if (st.pid <= 0 || st.pid > INT32_MAX || st.ppid < 0 || st.start_ticks < 0 ||
        !memchr(st.comm, '\0', sizeof(st.comm)))
        abort();
}

/* exe is what stands before the first NUL, the command line what is behind it. */
static void check_names(const char *text, size_t n)
{
    struct procfs_names names = { 0 };
    size_t exe = strnlen(text, n);
    const char *script;

    if (exe == n || exe >= sizeof(names.exe))
        return;
    memcpy(names.exe, text, exe);
    procfs_parse_names(text + exe + 1, n - exe - 1, &names);
    if (strchr(names.argv0, '/') || strchr(names.script, '/'))
        abort();
    script = interp_script(names.exe, text + exe + 1, n - exe - 1);
    if (script && (script <= text + exe || script + strlen(script) >= text + n))
        abort();
}

static void check_pid(const char *text, size_t n)
{
    struct err err;
    int64_t pid;

    if (!pidfile_parse(text, n, &pid, &err) && (pid <= 1 || pid > 4194304))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct err err;
    uid_t uid;

    check_stat(text, size);
    check_names(text, size);
    check_pid(text, size);
    (void)procfs_parse_uid(text, size, &uid, &err); /* ASan watches where it looks */
    return 0;
}
