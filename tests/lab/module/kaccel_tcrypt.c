// SPDX-License-Identifier: GPL-2.0
/*
 * kaccel_tcrypt: times requests inside the kernel, one after the other, as the
 * kernel's tcrypt does (which distribution kernels leave out). The published
 * figures the simulated devices are fitted to are tcrypt's; with this the
 * simulation is measured in the same terms.
 *
 *   modprobe kaccel_tcrypt driver=cbc-aes-qce key_bits=128; dmesg
 *
 * A cipher encrypts in place; a hash makes the digest in one request. A hash
 * without a key wants key_bits=0. keys=2 gives a cipher's requests to two
 * transforms in turn, so that each has another key than the one before.
 *
 * Loading it always "fails" with EAGAIN: there is nothing to keep loaded.
 */
#include <linux/crypto.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <crypto/hash.h>
#include <crypto/skcipher.h>

static char *driver = "cbc-aes-qce";
module_param(driver, charp, 0);
MODULE_PARM_DESC(driver, "skcipher or ahash driver to time");

static unsigned int key_bits = 128;
module_param(key_bits, uint, 0);
MODULE_PARM_DESC(key_bits, "key size");

static unsigned int keys = 1;
module_param(keys, uint, 0);
MODULE_PARM_DESC(keys, "ciphers: 2 for two keys in turn");

static unsigned int rounds = 64;
module_param(rounds, uint, 0);
MODULE_PARM_DESC(rounds, "requests timed at each size");

static const unsigned int sizes[] = {
	16, 64, 256, 512, 768, 1024, 2048, 4096, 8192, 16384
};

#define WARM_UP		4
#define LARGEST		16384
#define MOST_KEYS	2

/* Ciphers, as many as there are keys, or a hash. */
struct timed {
	struct skcipher_request *ciphers[MOST_KEYS];
	unsigned int turn;
	struct ahash_request *hash;
	void *buffer;
	u8 iv[16];
	u8 digest[HASH_MAX_DIGESTSIZE];
};

static int one_request(struct timed *timed, unsigned int size)
{
	struct skcipher_request *cipher;
	struct scatterlist sg;
	DECLARE_CRYPTO_WAIT(wait);

	sg_init_one(&sg, timed->buffer, size);
	if (timed->hash) {
		ahash_request_set_callback(timed->hash,
					   CRYPTO_TFM_REQ_MAY_BACKLOG,
					   crypto_req_done, &wait);
		ahash_request_set_crypt(timed->hash, &sg, timed->digest, size);
		return crypto_wait_req(crypto_ahash_digest(timed->hash), &wait);
	}
	cipher = timed->ciphers[timed->turn++ % keys];
	skcipher_request_set_callback(cipher, CRYPTO_TFM_REQ_MAY_BACKLOG,
				      crypto_req_done, &wait);
	skcipher_request_set_crypt(cipher, &sg, &sg, size, timed->iv);
	return crypto_wait_req(crypto_skcipher_encrypt(cipher), &wait);
}

static int time_size(struct timed *timed, unsigned int size)
{
	u64 start = 0;
	unsigned int i;
	int err;

	for (i = 0; i < WARM_UP + rounds; i++) {
		if (i == WARM_UP)
			start = ktime_get_ns();
		err = one_request(timed, size);
		if (err)
			return err;
	}

	pr_info("kaccel_tcrypt: %s%s %u %u bytes: %llu ns\n", driver,
		keys > 1 ? " keys in turn" : "", key_bits, size, div_u64(ktime_get_ns() - start, rounds));
	return 0;
}

static int time_sizes(struct timed *timed)
{
	unsigned int i;
	int err = 0;

	timed->buffer = kzalloc(LARGEST, GFP_KERNEL);
	if (!timed->buffer)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(sizes) && !err; i++)
		err = time_size(timed, sizes[i]);
	kfree(timed->buffer);
	return err;
}

/* All parts differ: XTS and some 3DES drivers want that. */
static void make_key(u8 *key)
{
	unsigned int i;

	for (i = 0; i < key_bits / 8; i++)
		key[i] = 2 * i;
}

static struct skcipher_request *make_cipher(const u8 *key)
{
	struct skcipher_request *req;
	struct crypto_skcipher *tfm;
	int err;

	tfm = crypto_alloc_skcipher(driver, 0, 0);
	if (IS_ERR(tfm))
		return ERR_CAST(tfm);
	err = crypto_skcipher_setkey(tfm, key, key_bits / 8);
	req = err ? NULL : skcipher_request_alloc(tfm, GFP_KERNEL);
	if (!req) {
		crypto_free_skcipher(tfm);
		return ERR_PTR(err ? err : -ENOMEM);
	}
	return req;
}

static void free_cipher(struct skcipher_request *req)
{
	struct crypto_skcipher *tfm = crypto_skcipher_reqtfm(req);

	skcipher_request_free(req);
	crypto_free_skcipher(tfm);
}

static int time_cipher(void)
{
	struct timed timed = { };
	unsigned int made;
	int err = 0;
	u8 key[64];

	make_key(key);
	for (made = 0; made < keys; made++) {
		struct skcipher_request *req = make_cipher(key);

		if (IS_ERR(req)) {
			err = PTR_ERR(req);
			break;
		}
		timed.ciphers[made] = req;
	}
	if (!err)
		err = time_sizes(&timed);
	while (made--)
		free_cipher(timed.ciphers[made]);
	return err;
}

static int time_hash(void)
{
	struct timed timed = { };
	struct crypto_ahash *tfm;
	u8 key[64];
	int err = 0;

	tfm = crypto_alloc_ahash(driver, 0, 0);
	if (IS_ERR(tfm))
		return PTR_ERR(tfm);
	make_key(key);
	if (key_bits)
		err = crypto_ahash_setkey(tfm, key, key_bits / 8);
	if (err)
		goto out;

	err = -ENOMEM;
	timed.hash = ahash_request_alloc(tfm, GFP_KERNEL);
	if (!timed.hash)
		goto out;
	err = time_sizes(&timed);
	ahash_request_free(timed.hash);
out:
	crypto_free_ahash(tfm);
	return err;
}

static int __init kaccel_tcrypt_init(void)
{
	int err;

	if (!rounds || key_bits > 512 || !keys || keys > MOST_KEYS)
		return -EINVAL;
	err = crypto_has_ahash(driver, 0, 0) ? time_hash() : time_cipher();
	return err ? err : -EAGAIN;
}

module_init(kaccel_tcrypt_init);

MODULE_DESCRIPTION("Times crypto requests inside the kernel, for the kaccel lab");
MODULE_LICENSE("GPL");
