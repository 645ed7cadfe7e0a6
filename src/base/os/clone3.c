/* SPDX-License-Identifier: MIT */
/* clone3.c - see clone3.h. */
#include "base/os/clone3.h"

#include <sys/syscall.h>

long clone3_onto_stack(struct clone_args *args, void (*child)(void *), void *child_arg)
{
#if defined(__x86_64__)
    register void (*run)(void *) __asm__("r8") = child;
    register void *arg __asm__("r9") = child_arg;
    long pid;

    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "mov %[arg], %%rdi\n\t"
                     "call *%[run]\n\t"
                     "hlt\n"
                     "1:"
                     : "=a"(pid)
                     : "0"((long)SYS_clone3), "D"(args),
                       "S"(sizeof(*args)), [run] "r"(run), [arg] "r"(arg)
                     : "rcx", "r11", "memory", "cc");
    return pid;
#elif defined(__aarch64__)
    register long call __asm__("x8") = SYS_clone3;
    register long x0 __asm__("x0") = (long)args;
    register long x1 __asm__("x1") = sizeof(*args);
    register void (*run)(void *) __asm__("x9") = child;
    register void *arg __asm__("x10") = child_arg;

    __asm__ volatile("svc #0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, xzr\n\t"
                     "mov x0, %[arg]\n\t"
                     "blr %[run]\n\t"
                     "brk #1\n"
                     "1:"
                     : "+r"(x0)
                     : "r"(call), "r"(x1), [run] "r"(run), [arg] "r"(arg)
                     : "memory", "cc");
    return x0;
#else
#error "clone3 on a stack of its own has to be written for this machine"
#endif
}
