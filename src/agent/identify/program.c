/* SPDX-License-Identifier: MIT */
/* program.c - see program.h. */
#include "agent/identify/program.h"

#include <string.h>

#include "agent/identify/procfs.h"

uint64_t program_of(int64_t pid)
{
    static const char gone[] = " (deleted)";
    char exe[PROCFS_PATH_SIZE];
    uint64_t hash = 0xCBF29CE484222325U; /* FNV-1a */
    struct err why;
    size_t n;

    if (procfs_exe((pid_t)pid, exe, &why))
        return 0;
    n = strlen(exe);
    if (n >= sizeof(gone) && !strcmp(exe + n - sizeof(gone) + 1, gone))
        n -= sizeof(gone) - 1;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)exe[i]) * 0x100000001B3U;
    return hash ? hash : 1;
}
