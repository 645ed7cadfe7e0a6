/* SPDX-License-Identifier: MIT */
/* tls_reason.c - see tls_reason.h. */
#include "wire/tls/tls_reason.h"

#include <openssl/err.h>
#include <string.h>

#include "base/text/msg.h"

const char *tls_reason(unsigned long e)
{
    const char *words = NULL;

    if (e && ERR_SYSTEM_ERROR(e))
        return strerror(ERR_GET_REASON(e));
    if (e)
        words = ERR_reason_error_string(e);
    return words ? words : MSG("no reason given");
}

const char *tls_first_reason(void)
{
    return tls_reason(ERR_peek_error());
}

int tls_no_passphrase(char *to, int size, int writing, void *arg)
{
    (void)to;
    (void)size;
    (void)writing;
    (void)arg;
    return -1;
}
