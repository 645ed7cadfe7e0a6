/* SPDX-License-Identifier: MIT */
/* lease.h - removes the lease (fcntl F_SETLEASE) of a process on an output file. While a lease
 * exists, an open of the file fails or waits up to 45 s, and then the process can take the next
 * lease. A lease belongs to an open file description, so root duplicates the descriptor of the
 * process (pidfd_getfd) and removes the lease through the duplicate.
 *
 * A process can make access to its descriptors block: it may replace the leased file by a file on
 * FUSE just before the duplication, and then even close() waits for the FUSE daemon. So each search
 * has its own thread. The caller waits LEASE_WAIT_MS at most and abandons a thread that hangs. At
 * most LEASE_PER_USER threads per file owner and LEASE_MAX in total can hang; until one of them
 * returns no more searches start. */
#ifndef AGENT_EXEC_LEASE_H
#define AGENT_EXEC_LEASE_H

#include <stdbool.h>
#include <sys/stat.h>

enum { LEASE_WAIT_MS = 500, LEASE_PER_USER = 2, LEASE_MAX = 16 };

struct lease_finder;

/* For the files of one folder. The functions below can be called from any thread. */
struct lease_finder *lease_finder_new(int folder);
void lease_finder_free(struct lease_finder *f); /* NULL is allowed; does not wait for threads */

/* Removes the lease on this file and returns the duplicate, which the caller closes. -1: there is
 * no lease, no descriptor could be duplicated, or the search took too long. The process may take a
 * lease again at once. The duplicate stays usable even then: at least for truncating the file, if
 * not for reading. */
int lease_remove(struct lease_finder *f, const struct stat *file);

/* Whether a thread has not returned. It may hang in the kernel where not even SIGKILL ends it. */
bool lease_finder_is_busy(struct lease_finder *f);

#endif
