/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kaccel_sim: what its files share. devices.c has the table of devices,
 * engine.c the engine that every device has, clock.c the clock that leaves out
 * the software's work, faults.c what a device can be told to do wrong, reload.c
 * the key a CPU keeps, skcipher.c and ahash.c what stands between the kernel's
 * crypto API and the engine.
 */
#ifndef KACCEL_SIM_H
#define KACCEL_SIM_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <crypto/internal/hash.h>
#include <crypto/internal/skcipher.h>

/* AES takes its time by key size; everything else has the first only. */
enum sim_key_class { SIM_KEY_128, SIM_KEY_192, SIM_KEY_256, SIM_KEY_CLASSES };

/* What loading another key costs, where it is not part of every request. */
struct sim_reload {
	int base_ns[SIM_KEY_CLASSES];		/* may be below 0 */
	unsigned int byte_ps[SIM_KEY_CLASSES];
	atomic_t count;				/* reloads so far */
};

/* What a device's algorithms of one kind have in common. */
struct sim_group {
	unsigned int base_ns[SIM_KEY_CLASSES];	/* nanoseconds a request */
	unsigned int byte_ps[SIM_KEY_CLASSES];	/* picoseconds a byte */
	int priority;
	u32 flags;
	struct sim_reload *reload;		/* NULL: costs nothing */
};

/* What a fault does to a request. */
enum sim_effect {
	SIM_FAILS,		/* with fault_error */
	SIM_HANGS,		/* never completes */
	SIM_LATE,
	SIM_BACKLOGGED,		/* EBUSY and EINPROGRESS come first */
	SIM_DECRYPTS,		/* instead of encrypting */
	SIM_WRONG_BYTE,		/* the one in the middle */
	SIM_WRONG_TAIL,		/* what is beyond whole AES blocks */
	SIM_WRONG_ALL,
	SIM_ZEROS,
};

/* One thing for the engine to do. It lies in the request's context. */
struct sim_job {
	struct list_head entry;
	const struct sim_group *group;
	enum sim_key_class key_class;
	unsigned int len;	/* bytes the engine is asked for */
	u64 extra_ns;		/* beside what len takes */
	bool worked;
	int err;
	int (*work)(struct sim_job *job);	/* the result, by software */
	void (*complete)(struct sim_job *job);	/* gives the request back */

	/* For the faults. */
	const char *driver;
	bool ends;		/* the result is there afterwards */
	u64 size;		/* bytes of the whole message, if it ends */
	bool encrypt;
	bool has_decrypted;	/* the transform, since its key was set */
	unsigned long effects;	/* bits of enum sim_effect */
	unsigned int result_len;
	/* Copies bytes of the result to or from a buffer. */
	void (*result)(struct sim_job *job, u8 *bytes, unsigned int offset,
		       unsigned int len, bool store);
};

/* One engine: at most one job in it, the others wait in the queue. */
struct sim_engine {
	spinlock_t lock;	/* guards queue and active */
	struct list_head queue;
	struct sim_job *active;
	struct hrtimer timer;
};

void sim_engine_init(struct sim_engine *engine);
void sim_engine_stop(struct sim_engine *engine);
int sim_engine_submit(struct sim_engine *engine, struct sim_job *job);
int sim_run_sync(struct sim_job *job);

void sim_clock_start(void);
void sim_clock_stop(void);
bool sim_clock_in_use(void);
int sim_work_unseen(struct sim_job *job);

extern bool sim_faulty;
void sim_fault_judge_all(struct sim_job *job);

/* Which faults a request will meet; once, before the engine has it. */
static inline void sim_fault_judge(struct sim_job *job)
{
	job->effects = 0;
	if (READ_ONCE(sim_faulty))
		sim_fault_judge_all(job);
}

static inline bool sim_fault_hangs(const struct sim_job *job)
{
	return job->effects & BIT(SIM_HANGS);
}

bool sim_fault_stops_engine(void);
int sim_work(struct sim_job *job);

extern const struct kernel_param_ops sim_reloads_ops;
u64 sim_new_key(void);
u64 sim_reload_ns(struct sim_reload *reload, enum sim_key_class key_class,
		  u64 key, bool encrypt, unsigned int len);

struct sim_skcipher {
	struct skcipher_alg alg;
	const char *fast;	/* software driver with CPU instructions */
	const char *safe;	/* software driver usable in any context */
	const struct sim_group *group;
	bool aes;		/* times differ by key size */
	bool distinct_keys;	/* refuses 3DES keys with two equal parts */
	struct sim_device *dev;
};

struct sim_ahash {
	struct ahash_alg alg;
	const struct sim_group *group;
	bool key_is_data;	/* the padded key is the first block of data */
	bool joins_finup;	/* finup() asks the engine once, not twice */
	struct sim_device *dev;
};

struct sim_device {
	const char *name;
	bool sync;		/* done within the call, CPU busy meanwhile */
	struct sim_skcipher *skciphers;
	unsigned int nskciphers;
	struct sim_ahash *ahashes;
	unsigned int nahashes;
	struct sim_engine engine;
	bool used;
};

int sim_register_skcipher(struct sim_device *dev, struct sim_skcipher *cipher);
void sim_unregister_skcipher(struct sim_skcipher *cipher);
int sim_register_ahash(struct sim_device *dev, struct sim_ahash *hash);
void sim_unregister_ahash(struct sim_ahash *hash);

#endif
