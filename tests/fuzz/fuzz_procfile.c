/* SPDX-License-Identifier: MIT */
/* fuzz_procfile.c - any bytes as a .proc: what can be read of it makes a spec, and what
 * that spec is written as says the same as what was read. */
#include <stdint.h>
#include <stdlib.h>

#include "model/procfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct proc_record *r, struct arena *a)
{
    struct proc_record first, second;
    struct proc_meta meta;
    struct proc_spec spec, copy;
    struct err err;

    if (procfile_meta(r, a, &meta, &err))
        return;
    shape_defaults(&proc_spec_shape, &spec);
    procfile_spec(r, &meta, &spec);
    procfile_record(&meta, &spec, r->op, r->when_s, a, &first);
    proc_spec_copy(&spec, a, &copy); /* as it goes through the journal */
    procfile_record(&meta, &copy, r->op, r->when_s, a, &second);
    if (!procfile_same(&first, &second))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = { 0 };
    struct procfile f;
    struct err err;

    if (!procfile_read((const char *)data, size, &a, &f, &err)) {
        const struct proc_record *records = f.records.items;

        for (size_t i = 0; i < f.records.n; i++)
            check(&records[i], &a);
    }
    arena_free(&a);
    return 0;
}
