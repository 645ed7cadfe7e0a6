/* SPDX-License-Identifier: MIT */
/* fuzz_cert.c - any text as a certificate, and as a request for one: it is read or
 * refused, and an agent's id that was read is one. */
#include <stdint.h>
#include <stdlib.h>

#include "base/mem/mem.h"
#include "wire/tls/cert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xmemdup((const char *)data, size);
    struct cert_key *key = NULL;
    struct err err = { 0 };
    struct cert_facts f;

    if (cert_read(text, &f, &err) == 0 && f.role == CERT_AGENT && cert_check_agent_id(f.agent_id))
        abort();
    if (cert_request_read(text, &key, &err) == 0)
        cert_key_free(key);
    free(text);
    return 0;
}
