/* SPDX-License-Identifier: MIT */
/* sys_inotify.h - inotify for many paths, calls as in sys.h. */
#ifndef BASE_OS_SYS_INOTIFY_H
#define BASE_OS_SYS_INOTIFY_H

int sys_inotify_new(void);                                    /* non-blocking */
int sys_inotify_add(int fd, const char *path, unsigned mask); /* returns the watch number */
/* A watch that is gone already is allowed. */
void sys_inotify_del(int fd, int watch);

#endif
