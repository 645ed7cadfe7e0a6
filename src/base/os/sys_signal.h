/* SPDX-License-Identifier: MIT */
/* sys_signal.h - resets signals 1 to 31 in a child before exec.  In a set of signals the bit 1U
 * << number stands for a signal.  None of these calls can fail. */
#ifndef BASE_OS_SYS_SIGNAL_H
#define BASE_OS_SYS_SIGNAL_H

unsigned sys_ignored_signals(void); /* signals that this process ignores */

/* For a child that still shares our memory. */
void sys_default_signals(unsigned which);
void sys_unblock_signals(void); /* all signals, including realtime signals */

#endif
