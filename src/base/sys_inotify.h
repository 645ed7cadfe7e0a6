/* SPDX-License-Identifier: MIT */
/* sys_inotify.h - system calls to hear of changes under many paths, as sys.h has them. */
#ifndef BASE_SYS_INOTIFY_H
#define BASE_SYS_INOTIFY_H

int sys_inotify_new(void);                                    /* does not block */
int sys_inotify_add(int fd, const char *path, unsigned mask); /* the watch's number */
void sys_inotify_del(int fd, int watch);                      /* one that is gone is fine */

#endif
