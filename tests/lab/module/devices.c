// SPDX-License-Identifier: GPL-2.0
/*
 * kaccel_sim: simulated crypto accelerators for the kaccel lab.
 *
 * Registers the algorithms of a real device under the real driver's names,
 * flags and priorities, one table row each. See README.md for where the times
 * come from.
 */
#include <linux/module.h>
#include <linux/string.h>
#include <linux/version.h>
#include <crypto/aes.h>
#include <crypto/des.h>
#include <crypto/md5.h>
#include <crypto/sha1.h>
#include <crypto/sha2.h>

#include "sim.h"

#define SIM_HARDWARE	(CRYPTO_ALG_ASYNC | CRYPTO_ALG_KERN_DRIVER_ONLY)

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
#define QCE_CIPHER_PRIORITY	275
#define QCE_HASH_PRIORITY	175
#else
#define QCE_CIPHER_PRIORITY	300
#define QCE_HASH_PRIORITY	300
#endif

/*
 * The times can be changed under /sys/module/kaccel_sim while the module runs;
 * the next request sees them.
 *
 * AES, and padlock: least squares of the relative error over published times
 * of whole requests as tcrypt sees them, less the 8300 ns of CPU time that the
 * lab's kernel itself spends on an asynchronous request. README.md has the
 * fit's errors. No time is published for qce's 192-bit keys: the middle of the
 * other two.
 *
 * DES, 3DES and hashes: assumptions. No time of theirs is published.
 */
static struct sim_group qce_aes = {
	.base_ns	= { 28840, 29850, 30860 },
	.byte_ps	= { 10140, 11310, 12480 },
	.priority	= QCE_CIPHER_PRIORITY,
	.flags		= SIM_HARDWARE | CRYPTO_ALG_NEED_FALLBACK |
			  CRYPTO_ALG_ALLOCATES_MEMORY,
};
static struct sim_group qce_des = {
	.base_ns	= { 28840 },
	.byte_ps	= { 10140 },
	.priority	= QCE_CIPHER_PRIORITY,
	.flags		= SIM_HARDWARE | CRYPTO_ALG_ALLOCATES_MEMORY,
};
static struct sim_group qce_3des = {
	.base_ns	= { 28840 },
	.byte_ps	= { 10140 },
	.priority	= QCE_CIPHER_PRIORITY,
	.flags		= SIM_HARDWARE | CRYPTO_ALG_ALLOCATES_MEMORY,
};
static struct sim_group qce_hash = {
	.base_ns	= { 28840 },
	.byte_ps	= { 10140 },
	.priority	= QCE_HASH_PRIORITY,
	.flags		= SIM_HARDWARE,
};

static struct sim_group eip93_aes = {
	.base_ns	= { 2800, 2800, 2800 },
	.byte_ps	= { 6460, 6460, 6460 },
	.priority	= 1500,
	.flags		= SIM_HARDWARE | CRYPTO_ALG_NEED_FALLBACK,
};
static struct sim_group eip93_des = {
	.base_ns	= { 2800 },
	.byte_ps	= { 120000 },
	.priority	= 1500,
	.flags		= SIM_HARDWARE,
};
static struct sim_group eip93_3des = {
	.base_ns	= { 2800 },
	.byte_ps	= { 200000 },
	.priority	= 1500,
	.flags		= SIM_HARDWARE,
};
static struct sim_group eip93_hash = {
	.base_ns	= { 2800 },
	.byte_ps	= { 100000 },
	.priority	= 300,
	.flags		= SIM_HARDWARE | CRYPTO_ALG_ALLOCATES_MEMORY,
};

/* The published difference between reloading the key and keeping it. */
static struct sim_reload padlock_reload = {
	.base_ns	= { -57, -61, -64 },
	.byte_ps	= { 3280, 3706, 3697 },
};
static struct sim_group padlock_aes = {
	.base_ns	= { 50, 60, 60 },
	.byte_ps	= { 8705, 8706, 9122 },
	.priority	= 400,
	.reload		= &padlock_reload,
};

#define SIM_AES_TIMES(dev)						\
	module_param_array_named(dev##_base_ns, dev##_aes.base_ns,	\
				 uint, NULL, 0644);			\
	MODULE_PARM_DESC(dev##_base_ns,					\
			 "AES: ns a request, for 128,192,256-bit keys");\
	module_param_array_named(dev##_byte_ps, dev##_aes.byte_ps,	\
				 uint, NULL, 0644);			\
	MODULE_PARM_DESC(dev##_byte_ps,					\
			 "AES: ps a byte, for 128,192,256-bit keys")

#define SIM_TIMES(group)						\
	module_param_named(group##_base_ns, group.base_ns[0], uint, 0644);\
	MODULE_PARM_DESC(group##_base_ns, "ns a request");		\
	module_param_named(group##_byte_ps, group.byte_ps[0], uint, 0644);\
	MODULE_PARM_DESC(group##_byte_ps, "ps a byte")

SIM_AES_TIMES(qce);
SIM_TIMES(qce_des);
SIM_TIMES(qce_3des);
SIM_TIMES(qce_hash);
SIM_AES_TIMES(eip93);
SIM_TIMES(eip93_des);
SIM_TIMES(eip93_3des);
SIM_TIMES(eip93_hash);
SIM_AES_TIMES(padlock);

module_param_array_named(padlock_reload_base_ns, padlock_reload.base_ns, int,
			 NULL, 0644);
MODULE_PARM_DESC(padlock_reload_base_ns,
		 "ns more with another key, for 128,192,256-bit keys");
module_param_array_named(padlock_reload_byte_ps, padlock_reload.byte_ps, uint,
			 NULL, 0644);
MODULE_PARM_DESC(padlock_reload_byte_ps,
		 "ps a byte more with another key, for 128,192,256-bit keys");
module_param_cb(padlock_reloads, &sim_reloads_ops, &padlock_reload.count, 0644);
MODULE_PARM_DESC(padlock_reloads, "requests that reloaded the key; set it to 0");

static char *device[4] = { "qce" };
static unsigned int ndevice = 1;
module_param_array(device, charp, &ndevice, 0444);
MODULE_PARM_DESC(device, "devices to simulate: qce,eip93,padlock");

/* A cipher's row: what it is called, and which software does the work. */
#define SIM_ROW(_name, _block, _chunk, _iv, _min, _max, _driver, _group) \
	.alg = {							\
		.base.cra_name		= _name,			\
		.base.cra_driver_name	= _driver,			\
		.base.cra_blocksize	= _block,			\
		.chunksize		= _chunk,			\
		.ivsize			= _iv,				\
		.min_keysize		= _min,				\
		.max_keysize		= _max,				\
	},								\
	.group = &_group

#define SIM_ECB_AES(_driver, _group) {					\
	SIM_ROW("ecb(aes)", AES_BLOCK_SIZE, 0, 0, AES_MIN_KEY_SIZE,	\
		AES_MAX_KEY_SIZE, _driver, _group),			\
	.fast = "ecb-aes-aesni", .safe = "ecb(aes-generic)", .aes = true }
#define SIM_CBC_AES(_driver, _group) {					\
	SIM_ROW("cbc(aes)", AES_BLOCK_SIZE, 0, AES_BLOCK_SIZE,		\
		AES_MIN_KEY_SIZE, AES_MAX_KEY_SIZE, _driver, _group),	\
	.fast = "cbc-aes-aesni", .safe = "cbc(aes-generic)", .aes = true }
#define SIM_CTR_AES(_driver, _group) {					\
	SIM_ROW("ctr(aes)", 1, AES_BLOCK_SIZE, AES_BLOCK_SIZE,		\
		AES_MIN_KEY_SIZE, AES_MAX_KEY_SIZE, _driver, _group),	\
	.fast = "ctr-aes-aesni", .safe = "ctr(aes-generic)", .aes = true }
#define SIM_XTS_AES(_driver, _group) {					\
	SIM_ROW("xts(aes)", AES_BLOCK_SIZE, 0, AES_BLOCK_SIZE,		\
		2 * AES_MIN_KEY_SIZE, 2 * AES_MAX_KEY_SIZE, _driver, _group), \
	.fast = "xts-aes-aesni", .safe = "xts(ecb(aes-generic))", .aes = true }
#define SIM_ECB_DES(_driver, _group) {					\
	SIM_ROW("ecb(des)", DES_BLOCK_SIZE, 0, 0, DES_KEY_SIZE,		\
		DES_KEY_SIZE, _driver, _group),				\
	.safe = "ecb(des-generic)" }
#define SIM_CBC_DES(_driver, _group) {					\
	SIM_ROW("cbc(des)", DES_BLOCK_SIZE, 0, DES_BLOCK_SIZE,		\
		DES_KEY_SIZE, DES_KEY_SIZE, _driver, _group),		\
	.safe = "cbc(des-generic)" }
#define SIM_ECB_3DES(_driver, _group, _distinct) {			\
	SIM_ROW("ecb(des3_ede)", DES3_EDE_BLOCK_SIZE, 0, 0,		\
		DES3_EDE_KEY_SIZE, DES3_EDE_KEY_SIZE, _driver, _group),	\
	.safe = "ecb-des3_ede-asm", .distinct_keys = _distinct }
#define SIM_CBC_3DES(_driver, _group, _distinct) {			\
	SIM_ROW("cbc(des3_ede)", DES3_EDE_BLOCK_SIZE, 0,		\
		DES3_EDE_BLOCK_SIZE, DES3_EDE_KEY_SIZE,			\
		DES3_EDE_KEY_SIZE, _driver, _group),			\
	.safe = "cbc-des3_ede-asm", .distinct_keys = _distinct }

/* A hash's row; its software is the best of that name in the kernel. */
#define SIM_HASH(_name, _digest, _block, _driver, _group)		\
	.alg.halg = {							\
		.base.cra_name		= _name,			\
		.base.cra_driver_name	= _driver,			\
		.base.cra_blocksize	= _block,			\
		.digestsize		= _digest,			\
	},								\
	.group = &_group

#define SIM_MD5(_name, _driver, _group) \
	SIM_HASH(_name, MD5_DIGEST_SIZE, MD5_HMAC_BLOCK_SIZE, _driver, _group)
#define SIM_SHA1(_name, _driver, _group) \
	SIM_HASH(_name, SHA1_DIGEST_SIZE, SHA1_BLOCK_SIZE, _driver, _group)
#define SIM_SHA224(_name, _driver, _group) \
	SIM_HASH(_name, SHA224_DIGEST_SIZE, SHA224_BLOCK_SIZE, _driver, _group)
#define SIM_SHA256(_name, _driver, _group) \
	SIM_HASH(_name, SHA256_DIGEST_SIZE, SHA256_BLOCK_SIZE, _driver, _group)

static struct sim_skcipher qce_skciphers[] = {
	SIM_ECB_AES("ecb-aes-qce", qce_aes),
	SIM_CBC_AES("cbc-aes-qce", qce_aes),
	SIM_CTR_AES("ctr-aes-qce", qce_aes),
	SIM_XTS_AES("xts-aes-qce", qce_aes),
	SIM_ECB_DES("ecb-des-qce", qce_des),
	SIM_CBC_DES("cbc-des-qce", qce_des),
	SIM_ECB_3DES("ecb-3des-qce", qce_3des, true),
	SIM_CBC_3DES("cbc-3des-qce", qce_3des, true),
};

static struct sim_ahash qce_ahashes[] = {
	{ SIM_SHA1("sha1", "sha1-qce", qce_hash) },
	{ SIM_SHA256("sha256", "sha256-qce", qce_hash) },
	{ SIM_SHA1("hmac(sha1)", "hmac-sha1-qce", qce_hash) },
	{ SIM_SHA256("hmac(sha256)", "hmac-sha256-qce", qce_hash) },
};

static struct sim_skcipher eip93_skciphers[] = {
	SIM_ECB_AES("ecb(aes-eip93)", eip93_aes),
	SIM_CBC_AES("cbc(aes-eip93)", eip93_aes),
	SIM_CTR_AES("ctr(aes-eip93)", eip93_aes),
	SIM_ECB_DES("ecb(des-eip93)", eip93_des),
	SIM_CBC_DES("cbc(des-eip93)", eip93_des),
	SIM_ECB_3DES("ecb(des3_ede-eip93)", eip93_3des, false),
	SIM_CBC_3DES("cbc(des3_ede-eip93)", eip93_3des, false),
};

#define EIP93_HASH	.joins_finup = true
#define EIP93_HMAC	.joins_finup = true, .key_is_data = true

static struct sim_ahash eip93_ahashes[] = {
	{ SIM_MD5("md5", "md5-eip93", eip93_hash), EIP93_HASH },
	{ SIM_SHA1("sha1", "sha1-eip93", eip93_hash), EIP93_HASH },
	{ SIM_SHA224("sha224", "sha224-eip93", eip93_hash), EIP93_HASH },
	{ SIM_SHA256("sha256", "sha256-eip93", eip93_hash), EIP93_HASH },
	{ SIM_MD5("hmac(md5)", "hmac(md5-eip93)", eip93_hash), EIP93_HMAC },
	{ SIM_SHA1("hmac(sha1)", "hmac(sha1-eip93)", eip93_hash), EIP93_HMAC },
	{ SIM_SHA224("hmac(sha224)", "hmac(sha224-eip93)", eip93_hash), EIP93_HMAC },
	{ SIM_SHA256("hmac(sha256)", "hmac(sha256-eip93)", eip93_hash), EIP93_HMAC },
};

static struct sim_skcipher padlock_skciphers[] = {
	SIM_ECB_AES("ecb-aes-padlock", padlock_aes),
	SIM_CBC_AES("cbc-aes-padlock", padlock_aes),
};

static struct sim_device sim_devices[] = {
	{
		.name		= "qce",
		.skciphers	= qce_skciphers,
		.nskciphers	= ARRAY_SIZE(qce_skciphers),
		.ahashes	= qce_ahashes,
		.nahashes	= ARRAY_SIZE(qce_ahashes),
	}, {
		.name		= "eip93",
		.skciphers	= eip93_skciphers,
		.nskciphers	= ARRAY_SIZE(eip93_skciphers),
		.ahashes	= eip93_ahashes,
		.nahashes	= ARRAY_SIZE(eip93_ahashes),
	}, {
		.name		= "padlock",
		.sync		= true,
		.skciphers	= padlock_skciphers,
		.nskciphers	= ARRAY_SIZE(padlock_skciphers),
	},
};

/* Takes back the first so many of each. */
static void sim_device_stop(struct sim_device *dev, unsigned int nskciphers,
			    unsigned int nahashes)
{
	while (nahashes--)
		sim_unregister_ahash(&dev->ahashes[nahashes]);
	while (nskciphers--)
		sim_unregister_skcipher(&dev->skciphers[nskciphers]);
	sim_engine_stop(&dev->engine);
	dev->used = false;
}

static int sim_device_start(struct sim_device *dev)
{
	unsigned int ciphers, hashes = 0;
	const struct crypto_alg *base;
	int err;

	sim_engine_init(&dev->engine);
	dev->used = true;

	for (ciphers = 0; ciphers < dev->nskciphers; ciphers++) {
		base = &dev->skciphers[ciphers].alg.base;
		err = sim_register_skcipher(dev, &dev->skciphers[ciphers]);
		if (err)
			goto fail;
	}
	for (; hashes < dev->nahashes; hashes++) {
		base = &dev->ahashes[hashes].alg.halg.base;
		err = sim_register_ahash(dev, &dev->ahashes[hashes]);
		if (err)
			goto fail;
	}

	pr_info("kaccel_sim: simulated device %s\n", dev->name);
	return 0;

fail:
	pr_err("kaccel_sim: %s: error %d\n", base->cra_driver_name, err);
	sim_device_stop(dev, ciphers, hashes);
	return err;
}

static void sim_stop_all(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sim_devices); i++) {
		struct sim_device *dev = &sim_devices[i];

		if (dev->used)
			sim_device_stop(dev, dev->nskciphers, dev->nahashes);
	}
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

	sim_clock_start();
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
	sim_clock_stop();
	return err;
}

static void __exit sim_module_exit(void)
{
	sim_stop_all();
	sim_clock_stop();
}

module_init(sim_module_init);
module_exit(sim_module_exit);

MODULE_DESCRIPTION("SIMULATED crypto accelerators for the kaccel lab");
MODULE_LICENSE("GPL");
