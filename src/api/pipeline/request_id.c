/* SPDX-License-Identifier: MIT */
/* request_id.c - see request_id.h. */
#include "api/pipeline/request_id.h"

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/text/hex.h"

/* Random bytes are read for many ids at once: the system call is what costs. */
void request_id_make(struct request_ids *ids, char to[REQUEST_ID_SIZE])
{
    if (!ids->n) {
        sys_random(ids->bytes, sizeof(ids->bytes));
        ids->n = ARRAY_LEN(ids->bytes);
    }
    hex_write(ids->bytes[--ids->n], REQUEST_ID_BYTES, to);
}
