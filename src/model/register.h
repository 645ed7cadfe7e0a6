/* SPDX-License-Identifier: MIT */
/* register.h - what is asked of the registry of processes.  Its shapes stand in proc.c, with
 * that of a spec: they differ in what must be there. */
#ifndef MODEL_REGISTER_H
#define MODEL_REGISTER_H

#include "model/proc.h"

/* GSE's register_proc_info, update_proc_info and, without a spec, unregister_proc_info. */
struct proc_register {
    struct proc_meta meta;
    struct list hosts;  /* struct host_ref */
    struct list agents; /* struct agent_ref; of an update: given, they win over hosts */
    struct proc_spec spec;
};

extern const struct shape proc_register_shape, proc_update_shape, proc_unregister_shape;

#endif
