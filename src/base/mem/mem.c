/* SPDX-License-Identifier: MIT */
/* mem.c - see mem.h. */
#include "base/mem/mem.h"

#include <link.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LARGE_BYTES = 64 * 1024 };

static void *must(void *p)
{
    if (!p)
        abort();
    return p;
}

void *xalloc(size_t size)
{
    return must(calloc(1, size ? size : 1));
}

void *xresize(void *p, size_t size)
{
    return must(realloc(p, size ? size : 1));
}

char *xstrdup(const char *s)
{
    return must(strdup(s));
}

char *xmemdup(const char *s, size_t n)
{
    char *copy = must(n < SIZE_MAX ? malloc(n + 1) : NULL);

    if (n > 0)
        memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

char *xprintf(const char *fmt, ...)
{
    char *s = NULL;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vasprintf(&s, fmt, ap);
    va_end(ap);
    return must(n < 0 ? NULL : s);
}

void mem_share_heap(void)
{
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
}

/* Drops the pages of code and constants, which are never written to and are read again from the
 * file when needed.  Start-up and TLS handshakes touch far more of them than normal operation. */
static int drop_constants(struct dl_phdr_info *info, size_t size, void *page_size)
{
    uintptr_t page = *(const uintptr_t *)page_size;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t from = (info->dlpi_addr + p->p_vaddr + page - 1) / page * page;
        uintptr_t to = (info->dlpi_addr + p->p_vaddr + p->p_filesz) / page * page;

        if (p->p_type == PT_LOAD && !(p->p_flags & PF_W) && from < to)
            (void)madvise((void *)from, to - from, MADV_DONTNEED); /* only an optimization */
    }
    return 0;
}

void mem_give_back(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    malloc_trim(0);
    dl_iterate_phdr(drop_constants, &page);
}
