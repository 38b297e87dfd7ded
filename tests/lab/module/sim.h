/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kaccel_sim: what its files share. devices.c has the table of devices,
 * engine.c the engine that every device has, clock.c the clock that leaves out
 * the software's work, skcipher.c and ahash.c what stands between the kernel's
 * crypto API and the engine.
 */
#ifndef KACCEL_SIM_H
#define KACCEL_SIM_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <crypto/internal/hash.h>
#include <crypto/internal/skcipher.h>

/* AES takes its time by key size; everything else has the first only. */
enum sim_key_class { SIM_KEY_128, SIM_KEY_192, SIM_KEY_256, SIM_KEY_CLASSES };

/* What a device's algorithms of one kind have in common. */
struct sim_group {
	unsigned int base_ns[SIM_KEY_CLASSES];	/* nanoseconds a request */
	unsigned int byte_ps[SIM_KEY_CLASSES];	/* picoseconds a byte */
	int priority;
	u32 flags;
};

/* One thing for the engine to do. It lies in the request's context. */
struct sim_job {
	struct list_head entry;
	const struct sim_group *group;
	enum sim_key_class key_class;
	unsigned int len;
	bool worked;
	int err;
	int (*work)(struct sim_job *job);	/* the result, by software */
	void (*complete)(struct sim_job *job);	/* gives the request back */
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
