// SPDX-License-Identifier: GPL-2.0
/*
 * What a device does wrong when it is told to: the documented faults of real
 * devices, and faults of no device in particular. All are off until written to
 * under /sys/module/kaccel_sim/parameters; README.md has a table of them.
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/glob.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <crypto/aes.h>

#include "sim.h"

#define XTS_UNIT	512

/* Whether any fault is on; requests without faults must not cost time. */
bool sim_faulty;

static const struct kernel_param_ops sim_fault_ops;

#define SIM_FAULT(_name, _text)						\
	static unsigned int _name;					\
	module_param_cb(_name, &sim_fault_ops, &_name, 0644);		\
	MODULE_PARM_DESC(_name, _text)

SIM_FAULT(qce_fault_xts, "1: XTS beyond 512 bytes, not a multiple: no end");
SIM_FAULT(qce_fault_single_block, "1: AES of one block: wrong");
SIM_FAULT(qce_fault_empty_hmac, "1: HMAC of an empty message: zeros");
SIM_FAULT(qce_fault_ctr_partial, "1: CTR: wrong last partial block");
SIM_FAULT(eip93_fault_direction, "1: encryptions after a decryption decrypt");

SIM_FAULT(fault_error_after, "from this request on, since it was written: fault_error");
SIM_FAULT(fault_backlog, "1: every request is told to be in the backlog first");
SIM_FAULT(fault_wrong_at, "this many bytes: one is wrong");
SIM_FAULT(fault_wrong_from, "this many bytes or more: one is wrong");
SIM_FAULT(fault_hang_at, "this many bytes: no end");
SIM_FAULT(fault_hang_from, "this many bytes or more: no end");
SIM_FAULT(fault_delay_ms, "ms that every completion comes late");
SIM_FAULT(fault_hang_engine, "1: a request without an end stops the engine");

static char fault_driver[CRYPTO_MAX_ALG_NAME + 2];
module_param_string(fault_driver, fault_driver, sizeof(fault_driver), 0644);
MODULE_PARM_DESC(fault_driver, "driver that fault_* are for; empty: all");

static unsigned int fault_error = EIO;
module_param(fault_error, uint, 0644);
MODULE_PARM_DESC(fault_error, "errno that fault_error_after completes with");

static atomic_t requests;	/* since fault_error_after was written */

static bool off_unit(const struct sim_job *job, unsigned int value)
{
	return job->size > XTS_UNIT && job->size % XTS_UNIT;
}

static bool one_block(const struct sim_job *job, unsigned int value)
{
	return job->size == AES_BLOCK_SIZE;
}

static bool partial_block(const struct sim_job *job, unsigned int value)
{
	return job->size % AES_BLOCK_SIZE;
}

static bool empty(const struct sim_job *job, unsigned int value)
{
	return job->ends && !job->size;
}

static bool after_decryption(const struct sim_job *job, unsigned int value)
{
	return job->has_decrypted && job->encrypt;
}

static bool size_is(const struct sim_job *job, unsigned int value)
{
	return job->ends && job->size == value;
}

static bool size_from(const struct sim_job *job, unsigned int value)
{
	return job->ends && job->size >= value;
}

static bool number_from(const struct sim_job *job, unsigned int value)
{
	return atomic_inc_return(&requests) >= value;
}

static bool always(const struct sim_job *job, unsigned int value)
{
	return true;
}

/* A fault is on when its parameter is not 0. */
static const struct {
	const unsigned int *parameter;
	const char *drivers;	/* a pattern; NULL: as fault_driver says */
	bool (*meets)(const struct sim_job *job, unsigned int value);
	enum sim_effect effect;
} faults[] = {
	{ &qce_fault_xts, "xts-aes-qce", off_unit, SIM_HANGS },
	{ &qce_fault_single_block, "*-aes-qce", one_block, SIM_WRONG_ALL },
	{ &qce_fault_empty_hmac, "hmac-*-qce", empty, SIM_ZEROS },
	{ &qce_fault_ctr_partial, "ctr-aes-qce", partial_block, SIM_WRONG_TAIL },
	{ &eip93_fault_direction, "*-eip93)", after_decryption, SIM_DECRYPTS },
	{ &fault_error_after, NULL, number_from, SIM_FAILS },
	{ &fault_wrong_at, NULL, size_is, SIM_WRONG_BYTE },
	{ &fault_wrong_from, NULL, size_from, SIM_WRONG_BYTE },
	{ &fault_hang_at, NULL, size_is, SIM_HANGS },
	{ &fault_hang_from, NULL, size_from, SIM_HANGS },
	{ &fault_delay_ms, NULL, always, SIM_LATE },
	{ &fault_backlog, NULL, always, SIM_BACKLOGGED },
};

static int sim_fault_set(const char *value, const struct kernel_param *kp)
{
	int err = param_set_uint(value, kp);
	bool on = false;
	unsigned int i;

	if (kp->arg == &fault_error_after)
		atomic_set(&requests, 0);
	for (i = 0; i < ARRAY_SIZE(faults); i++)
		on |= *faults[i].parameter;
	WRITE_ONCE(sim_faulty, on);
	return err;
}

static const struct kernel_param_ops sim_fault_ops = {
	.set = sim_fault_set,
	.get = param_get_uint,
};

static bool sim_fault_is_for(const char *drivers, const char *driver)
{
	if (drivers)
		return glob_match(drivers, driver);
	/* What was written ends with a newline, or is nothing but one. */
	return sysfs_streq(fault_driver, "") ||
	       sysfs_streq(fault_driver, driver);
}

void sim_fault_judge_all(struct sim_job *job)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		unsigned int value = READ_ONCE(*faults[i].parameter);

		if (value && sim_fault_is_for(faults[i].drivers, job->driver) &&
		    faults[i].meets(job, value))
			job->effects |= BIT(faults[i].effect);
	}
	if (job->effects & BIT(SIM_DECRYPTS))
		job->encrypt = false;
	if (job->effects & BIT(SIM_LATE))
		job->extra_ns += (u64)READ_ONCE(fault_delay_ms) * NSEC_PER_MSEC;
}

/* Whether nobody is served any more once the engine has such a request. */
bool sim_fault_stops_engine(void)
{
	return READ_ONCE(fault_hang_engine);
}

/* Inverts bytes of the result, or puts zeros in their place. */
static void sim_spoil(struct sim_job *job, unsigned int offset,
		      unsigned int len, bool zeros)
{
	u8 bytes[64];
	unsigned int i;

	if (WARN_ON_ONCE(len > sizeof(bytes)))
		return;
	job->result(job, bytes, offset, len, false);
	for (i = 0; i < len; i++)
		bytes[i] = zeros ? 0 : ~bytes[i];
	job->result(job, bytes, offset, len, true);
}

/* The job's work, with what the device does wrong. */
int sim_work(struct sim_job *job)
{
	unsigned int tail;
	int err;

	if (job->effects & BIT(SIM_FAILS))
		return -(int)READ_ONCE(fault_error);
	err = job->work(job);
	if (err || !job->effects)
		return err;

	tail = job->size % AES_BLOCK_SIZE;

	if (job->effects & BIT(SIM_WRONG_BYTE))
		sim_spoil(job, job->result_len / 2, 1, false);
	if (job->effects & BIT(SIM_WRONG_TAIL))
		sim_spoil(job, job->result_len - tail, tail, false);
	if (job->effects & BIT(SIM_WRONG_ALL))
		sim_spoil(job, 0, job->result_len, false);
	if (job->effects & BIT(SIM_ZEROS))
		sim_spoil(job, 0, job->result_len, true);
	return 0;
}
