// SPDX-License-Identifier: GPL-2.0
/*
 * A device that is part of the CPU keeps the last key it was given, one for
 * each CPU and direction of ciphering. A request with another has to load its
 * key first.
 */
#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/sysfs.h>

#include "sim.h"

static DEFINE_PER_CPU(u64, loaded);

/* No two keys that were ever set are the same, not even if their bytes are. */
u64 sim_new_key(void)
{
	static atomic64_t last = ATOMIC64_INIT(0);

	/* The lowest bit is for the direction. */
	return (u64)atomic64_add_return(2, &last);
}

/* Nanoseconds that a request of len bytes takes longer for its key. */
u64 sim_reload_ns(struct sim_reload *reload, enum sim_key_class key_class,
		  u64 key, bool encrypt, unsigned int len)
{
	u64 byte_ps = READ_ONCE(reload->byte_ps[key_class]);
	s64 extra;

	key |= encrypt;
	if (this_cpu_xchg(loaded, key) == key)
		return 0;
	atomic_inc(&reload->count);
	extra = READ_ONCE(reload->base_ns[key_class]) +
		(s64)div_u64(byte_ps * len, 1000);
	return max_t(s64, extra, 0);
}

static int sim_reloads_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%u\n", (unsigned int)atomic_read(kp->arg));
}

static int sim_reloads_set(const char *value, const struct kernel_param *kp)
{
	unsigned int count;
	int err = kstrtouint(value, 0, &count);

	if (!err)
		atomic_set(kp->arg, count);
	return err;
}

const struct kernel_param_ops sim_reloads_ops = {
	.set = sim_reloads_set,
	.get = sim_reloads_get,
};
