// SPDX-License-Identifier: GPL-2.0
/*
 * kaccel_sim: simulated crypto accelerators for the kaccel lab.
 *
 * Registers the algorithms of a real device under the real driver's names
 * and flags. The ciphering is done by a software driver of the kernel; what
 * is simulated is the device around it: an engine that serves one request at
 * a time, in order, and needs base + per_byte * length for each. See README.md
 * for where the times come from.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/version.h>
#include <asm/simd.h>
#include <crypto/aes.h>
#include <crypto/internal/simd.h>
#include <crypto/internal/skcipher.h>

/* Latencies are kept for each of the three AES key sizes. */
enum sim_key_class { SIM_KEY_128, SIM_KEY_192, SIM_KEY_256, SIM_KEY_CLASSES };

struct sim_request {
	struct list_head entry;
	struct skcipher_request *req;
	bool encrypt;
	int err;
	/* The software driver's request, with its context behind it: last. */
	struct skcipher_request child;
};

/* One engine: at most one request in it, the others wait in the queue. */
struct sim_engine {
	spinlock_t lock;	/* guards queue and active */
	struct list_head queue;
	struct sim_request *active;
	struct hrtimer timer;
};

struct sim_alg {
	struct skcipher_alg skcipher;
	const char *fast;	/* software driver with CPU instructions */
	const char *safe;	/* software driver usable in any context */
	struct sim_device *dev;
};

struct sim_device {
	const char *name;
	unsigned int priority;
	u32 flags;
	bool sync;		/* done within the call, CPU busy meanwhile */
	unsigned int *base_ns;
	unsigned int *byte_ps;
	struct sim_alg *algs;
	unsigned int nalgs;
	struct sim_engine engine;
	bool used;
};

struct sim_tfm {
	struct sim_alg *alg;
	struct crypto_skcipher *fast;
	struct crypto_skcipher *safe;
	enum sim_key_class key_class;
};

/*
 * Times of each device for 128, 192 and 256-bit keys: nanoseconds a request,
 * picoseconds a byte. They can be changed under /sys/module/kaccel_sim while
 * the module runs; the next request sees them.
 *
 * Least squares of the relative error over published times of whole requests
 * as tcrypt sees them, less the 7900 ns of CPU time that the lab's kernel
 * itself spends on an asynchronous request. README.md has the fit's errors.
 * No time is published for 192-bit keys: the middle of the other two.
 */
static unsigned int qce_base_ns[SIM_KEY_CLASSES] = { 29240, 30250, 31260 };
static unsigned int qce_byte_ps[SIM_KEY_CLASSES] = { 10140, 11310, 12480 };
static unsigned int eip93_base_ns[SIM_KEY_CLASSES] = { 3210, 3210, 3210 };
static unsigned int eip93_byte_ps[SIM_KEY_CLASSES] = { 6460, 6460, 6460 };
static unsigned int padlock_base_ns[SIM_KEY_CLASSES] = { 660, 660, 660 };
static unsigned int padlock_byte_ps[SIM_KEY_CLASSES] = { 8700, 8900, 9120 };

#define SIM_TIMES(dev)							\
	module_param_array(dev##_base_ns, uint, NULL, 0644);		\
	MODULE_PARM_DESC(dev##_base_ns,					\
			 "ns a request, for 128,192,256-bit keys");	\
	module_param_array(dev##_byte_ps, uint, NULL, 0644);		\
	MODULE_PARM_DESC(dev##_byte_ps,					\
			 "ps a byte, for 128,192,256-bit keys")

SIM_TIMES(qce);
SIM_TIMES(eip93);
SIM_TIMES(padlock);

static char *device[4] = { "qce" };
static unsigned int ndevice = 1;
module_param_array(device, charp, &ndevice, 0444);
MODULE_PARM_DESC(device, "devices to simulate: qce,eip93,padlock");

static u64 sim_latency_ns(const struct sim_tfm *tfm, unsigned int len)
{
	const struct sim_device *dev = tfm->alg->dev;
	u64 bytes_ns = (u64)READ_ONCE(dev->byte_ps[tfm->key_class]) * len / 1000;

	return READ_ONCE(dev->base_ns[tfm->key_class]) + bytes_ns;
}

/* The ciphering itself, through a software driver. Any context but hardirq. */
static int sim_cipher(struct sim_request *sreq)
{
	struct skcipher_request *req = sreq->req;
	struct sim_tfm *tfm = crypto_skcipher_ctx(crypto_skcipher_reqtfm(req));
	struct crypto_skcipher *soft = tfm->safe;

	if (tfm->fast && crypto_simd_usable())
		soft = tfm->fast;

	skcipher_request_set_tfm(&sreq->child, soft);
	skcipher_request_set_callback(&sreq->child, 0, NULL, NULL);
	skcipher_request_set_crypt(&sreq->child, req->src, req->dst,
				   req->cryptlen, req->iv);
	return sreq->encrypt ? crypto_skcipher_encrypt(&sreq->child) :
			       crypto_skcipher_decrypt(&sreq->child);
}

/*
 * The engine begins with a request, at the given time. The ciphering is done
 * at once, so that the CPU time it takes passes within the device's time and
 * is not added to it. Caller has made the request the active one.
 */
static void sim_engine_begin(struct sim_engine *engine, ktime_t start)
{
	struct sim_request *sreq = engine->active;
	struct sim_tfm *tfm =
		crypto_skcipher_ctx(crypto_skcipher_reqtfm(sreq->req));
	u64 latency = sim_latency_ns(tfm, sreq->req->cryptlen);

	sreq->err = sim_cipher(sreq);
	hrtimer_start(&engine->timer, ktime_add_ns(start, latency),
		      HRTIMER_MODE_ABS_SOFT);
}

/* The device's "done" interrupt; a softirq, as drivers' completions are. */
static enum hrtimer_restart sim_engine_done(struct hrtimer *timer)
{
	struct sim_engine *engine = container_of(timer, struct sim_engine,
						 timer);
	struct sim_request *done = engine->active;
	ktime_t now = ktime_get();
	struct sim_request *next;

	spin_lock_bh(&engine->lock);
	next = list_first_entry_or_null(&engine->queue, struct sim_request,
					entry);
	if (next)
		list_del(&next->entry);
	engine->active = next;
	spin_unlock_bh(&engine->lock);

	/* This gives the request back, and may submit another. */
	local_bh_disable();
	skcipher_request_complete(done->req, done->err);
	local_bh_enable();

	if (next)
		sim_engine_begin(engine, now);
	return HRTIMER_NORESTART;
}

static int sim_engine_submit(struct sim_engine *engine,
			     struct sim_request *sreq)
{
	bool idle;

	spin_lock_bh(&engine->lock);
	idle = !engine->active;
	if (idle)
		engine->active = sreq;
	else
		list_add_tail(&sreq->entry, &engine->queue);
	spin_unlock_bh(&engine->lock);

	if (idle)
		sim_engine_begin(engine, ktime_get());
	return -EINPROGRESS;
}

/* A synchronous device keeps the CPU waiting for it. */
static int sim_run_sync(struct sim_tfm *tfm, struct sim_request *sreq)
{
	u64 ns = sim_latency_ns(tfm, sreq->req->cryptlen);
	int err = sim_cipher(sreq);

	udelay(ns / 1000);
	ndelay(ns % 1000);
	return err;
}

static int sim_crypt(struct skcipher_request *req, bool encrypt)
{
	struct crypto_skcipher *skcipher = crypto_skcipher_reqtfm(req);
	struct sim_tfm *tfm = crypto_skcipher_ctx(skcipher);
	struct sim_request *sreq = skcipher_request_ctx(req);

	if (!req->cryptlen)
		return 0;
	if (req->cryptlen % crypto_skcipher_blocksize(skcipher) &&
	    !strstarts(tfm->alg->skcipher.base.cra_name, "xts("))
		return -EINVAL;

	sreq->req = req;
	sreq->encrypt = encrypt;
	if (tfm->alg->dev->sync)
		return sim_run_sync(tfm, sreq);
	return sim_engine_submit(&tfm->alg->dev->engine, sreq);
}

static int sim_encrypt(struct skcipher_request *req)
{
	return sim_crypt(req, true);
}

static int sim_decrypt(struct skcipher_request *req)
{
	return sim_crypt(req, false);
}

static int sim_setkey_child(struct crypto_skcipher *child,
			    struct crypto_skcipher *parent, const u8 *key,
			    unsigned int len)
{
	if (!child)
		return 0;
	crypto_skcipher_clear_flags(child, CRYPTO_TFM_REQ_MASK);
	crypto_skcipher_set_flags(child, crypto_skcipher_get_flags(parent) &
					 CRYPTO_TFM_REQ_MASK);
	return crypto_skcipher_setkey(child, key, len);
}

static int sim_setkey(struct crypto_skcipher *skcipher, const u8 *key,
		      unsigned int len)
{
	struct sim_tfm *tfm = crypto_skcipher_ctx(skcipher);
	unsigned int one_key = len;
	int err;

	err = sim_setkey_child(tfm->safe, skcipher, key, len);
	if (!err)
		err = sim_setkey_child(tfm->fast, skcipher, key, len);
	if (err)
		return err;

	if (strstarts(tfm->alg->skcipher.base.cra_name, "xts("))
		one_key /= 2;
	tfm->key_class = one_key <= AES_KEYSIZE_128 ? SIM_KEY_128 :
			 one_key <= AES_KEYSIZE_192 ? SIM_KEY_192 :
						      SIM_KEY_256;
	return 0;
}

/*
 * The fast driver: kernels before 6.16 have it as an internal one behind a
 * wrapper ("__cbc-aes-aesni"), later ones under its plain name.
 */
static struct crypto_skcipher *sim_alloc_fast(const char *name)
{
	struct crypto_skcipher *tfm;
	char internal[CRYPTO_MAX_ALG_NAME];

	if (!name)
		return NULL;
	snprintf(internal, sizeof(internal), "__%s", name);
	tfm = crypto_alloc_skcipher(internal, CRYPTO_ALG_INTERNAL,
				    CRYPTO_ALG_INTERNAL | CRYPTO_ALG_ASYNC);
	if (IS_ERR(tfm))
		tfm = crypto_alloc_skcipher(name, 0, CRYPTO_ALG_ASYNC);
	return IS_ERR(tfm) ? NULL : tfm;
}

/* Where the named driver is not built: any that is software for sure. */
static struct crypto_skcipher *sim_alloc_safe(const struct sim_alg *alg)
{
	struct crypto_skcipher *tfm;

	tfm = crypto_alloc_skcipher(alg->safe, 0, CRYPTO_ALG_ASYNC);
	if (IS_ERR(tfm) && alg->skcipher.base.cra_flags &
			   CRYPTO_ALG_KERN_DRIVER_ONLY)
		tfm = crypto_alloc_skcipher(alg->skcipher.base.cra_name, 0,
					    CRYPTO_ALG_ASYNC |
					    CRYPTO_ALG_KERN_DRIVER_ONLY);
	return tfm;
}

static int sim_init_tfm(struct crypto_skcipher *skcipher)
{
	struct sim_tfm *tfm = crypto_skcipher_ctx(skcipher);
	struct sim_alg *alg = container_of(crypto_skcipher_alg(skcipher),
					   struct sim_alg, skcipher);
	unsigned int child_size;

	tfm->alg = alg;
	tfm->safe = sim_alloc_safe(alg);
	if (IS_ERR(tfm->safe))
		return PTR_ERR(tfm->safe);
	tfm->fast = sim_alloc_fast(alg->fast);

	child_size = crypto_skcipher_reqsize(tfm->safe);
	if (tfm->fast)
		child_size = max(child_size, crypto_skcipher_reqsize(tfm->fast));
	crypto_skcipher_set_reqsize(skcipher,
				    sizeof(struct sim_request) + child_size);
	return 0;
}

static void sim_exit_tfm(struct crypto_skcipher *skcipher)
{
	struct sim_tfm *tfm = crypto_skcipher_ctx(skcipher);

	if (tfm->fast)
		crypto_free_skcipher(tfm->fast);
	crypto_free_skcipher(tfm->safe);
}

/* One row of a device: what it is called, and which software does the work. */
#define SIM_ROW(_name, _driver, _fast, _safe, _block, _chunk, _iv, _min, _max) {\
	.skcipher = {							\
		.base.cra_name		= _name,			\
		.base.cra_driver_name	= _driver,			\
		.base.cra_blocksize	= _block,			\
		.chunksize		= _chunk,			\
		.ivsize			= _iv,				\
		.min_keysize		= _min,				\
		.max_keysize		= _max,				\
	},								\
	.fast = _fast,							\
	.safe = _safe,							\
}
#define SIM_ECB_AES(_driver) \
	SIM_ROW("ecb(aes)", _driver, "ecb-aes-aesni", "ecb(aes-generic)", \
		AES_BLOCK_SIZE, 0, 0, AES_MIN_KEY_SIZE, AES_MAX_KEY_SIZE)
#define SIM_CBC_AES(_driver) \
	SIM_ROW("cbc(aes)", _driver, "cbc-aes-aesni", "cbc(aes-generic)", \
		AES_BLOCK_SIZE, 0, AES_BLOCK_SIZE, AES_MIN_KEY_SIZE, \
		AES_MAX_KEY_SIZE)
#define SIM_CTR_AES(_driver) \
	SIM_ROW("ctr(aes)", _driver, "ctr-aes-aesni", "ctr(aes-generic)", \
		1, AES_BLOCK_SIZE, AES_BLOCK_SIZE, AES_MIN_KEY_SIZE, \
		AES_MAX_KEY_SIZE)
#define SIM_XTS_AES(_driver) \
	SIM_ROW("xts(aes)", _driver, "xts-aes-aesni", "xts(ecb(aes-generic))", \
		AES_BLOCK_SIZE, 0, AES_BLOCK_SIZE, 2 * AES_MIN_KEY_SIZE, \
		2 * AES_MAX_KEY_SIZE)

static struct sim_alg qce_algs[] = {
	SIM_ECB_AES("ecb-aes-qce"),
	SIM_CBC_AES("cbc-aes-qce"),
	SIM_CTR_AES("ctr-aes-qce"),
	SIM_XTS_AES("xts-aes-qce"),
};

static struct sim_alg eip93_algs[] = {
	SIM_ECB_AES("ecb(aes-eip93)"),
	SIM_CBC_AES("cbc(aes-eip93)"),
	SIM_CTR_AES("ctr(aes-eip93)"),
};

static struct sim_alg padlock_algs[] = {
	SIM_ECB_AES("ecb-aes-padlock"),
	SIM_CBC_AES("cbc-aes-padlock"),
};

/* Flags and priorities are the real drivers'. */
static struct sim_device sim_devices[] = {
	{
		.name		= "qce",
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
		.priority	= 275,
#else
		.priority	= 300,
#endif
		.flags		= CRYPTO_ALG_ASYNC | CRYPTO_ALG_NEED_FALLBACK |
				  CRYPTO_ALG_KERN_DRIVER_ONLY |
				  CRYPTO_ALG_ALLOCATES_MEMORY,
		.base_ns	= qce_base_ns,
		.byte_ps	= qce_byte_ps,
		.algs		= qce_algs,
		.nalgs		= ARRAY_SIZE(qce_algs),
	}, {
		.name		= "eip93",
		.priority	= 1500,
		.flags		= CRYPTO_ALG_ASYNC | CRYPTO_ALG_NEED_FALLBACK |
				  CRYPTO_ALG_KERN_DRIVER_ONLY,
		.base_ns	= eip93_base_ns,
		.byte_ps	= eip93_byte_ps,
		.algs		= eip93_algs,
		.nalgs		= ARRAY_SIZE(eip93_algs),
	}, {
		.name		= "padlock",
		.priority	= 400,
		.sync		= true,
		.base_ns	= padlock_base_ns,
		.byte_ps	= padlock_byte_ps,
		.algs		= padlock_algs,
		.nalgs		= ARRAY_SIZE(padlock_algs),
	},
};

static void sim_engine_init(struct sim_engine *engine)
{
	spin_lock_init(&engine->lock);
	INIT_LIST_HEAD(&engine->queue);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&engine->timer, sim_engine_done, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
#else
	hrtimer_init(&engine->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	engine->timer.function = sim_engine_done;
#endif
}

static void sim_device_stop(struct sim_device *dev, unsigned int nalgs)
{
	while (nalgs--)
		crypto_unregister_skcipher(&dev->algs[nalgs].skcipher);
	hrtimer_cancel(&dev->engine.timer);
	dev->used = false;
}

static int sim_device_start(struct sim_device *dev)
{
	unsigned int i;
	int err;

	sim_engine_init(&dev->engine);
	dev->used = true;

	for (i = 0; i < dev->nalgs; i++) {
		struct sim_alg *alg = &dev->algs[i];

		alg->dev = dev;
		alg->skcipher.base.cra_priority = dev->priority;
		alg->skcipher.base.cra_flags = dev->flags;
		alg->skcipher.base.cra_ctxsize = sizeof(struct sim_tfm);
		alg->skcipher.base.cra_module = THIS_MODULE;
		alg->skcipher.init = sim_init_tfm;
		alg->skcipher.exit = sim_exit_tfm;
		alg->skcipher.setkey = sim_setkey;
		alg->skcipher.encrypt = sim_encrypt;
		alg->skcipher.decrypt = sim_decrypt;

		err = crypto_register_skcipher(&alg->skcipher);
		if (err) {
			pr_err("kaccel_sim: %s: error %d\n",
			       alg->skcipher.base.cra_driver_name, err);
			sim_device_stop(dev, i);
			return err;
		}
	}

	pr_info("kaccel_sim: simulated device %s\n", dev->name);
	return 0;
}

static void sim_stop_all(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sim_devices); i++)
		if (sim_devices[i].used)
			sim_device_stop(&sim_devices[i], sim_devices[i].nalgs);
}

static struct sim_device *sim_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sim_devices); i++)
		if (!strcmp(sim_devices[i].name, name))
			return &sim_devices[i];
	return NULL;
}

static int __init sim_module_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < ndevice; i++) {
		struct sim_device *dev = sim_find(device[i]);

		if (!dev) {
			pr_err("kaccel_sim: no device %s\n", device[i]);
			err = -EINVAL;
			goto fail;
		}
		if (dev->used)
			continue;
		err = sim_device_start(dev);
		if (err)
			goto fail;
	}
	return 0;

fail:
	sim_stop_all();
	return err;
}

static void __exit sim_module_exit(void)
{
	sim_stop_all();
}

module_init(sim_module_init);
module_exit(sim_module_exit);

MODULE_DESCRIPTION("SIMULATED crypto accelerators for the kaccel lab");
MODULE_LICENSE("GPL");
