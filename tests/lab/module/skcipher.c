// SPDX-License-Identifier: GPL-2.0
/*
 * Ciphers of a simulated device. A software driver of the kernel does the
 * ciphering when the engine takes the request up.
 */
#include <linux/string.h>
#include <asm/simd.h>
#include <crypto/aes.h>
#include <crypto/des.h>
#include <crypto/internal/simd.h>
#include <crypto/scatterwalk.h>

#include "sim.h"

struct sim_request {
	struct sim_job job;
	struct skcipher_request *req;
	/* The software driver's request, with its context behind it: last. */
	struct skcipher_request child;
};

struct sim_tfm {
	struct sim_skcipher *cipher;
	struct crypto_skcipher *fast;
	struct crypto_skcipher *safe;
	enum sim_key_class key_class;
	u64 key;		/* which one, see sim_new_key() */
	bool has_decrypted;
};

static bool sim_is_xts(const struct sim_skcipher *cipher)
{
	return strstarts(cipher->alg.base.cra_name, "xts(");
}

/* The ciphering itself, through a software driver. Any context but hardirq. */
static int sim_cipher(struct sim_job *job)
{
	struct sim_request *sreq = container_of(job, struct sim_request, job);
	struct skcipher_request *req = sreq->req;
	struct sim_tfm *tfm = crypto_skcipher_ctx(crypto_skcipher_reqtfm(req));
	struct crypto_skcipher *soft = tfm->safe;

	if (tfm->fast && crypto_simd_usable())
		soft = tfm->fast;

	skcipher_request_set_tfm(&sreq->child, soft);
	skcipher_request_set_callback(&sreq->child, 0, NULL, NULL);
	skcipher_request_set_crypt(&sreq->child, req->src, req->dst,
				   req->cryptlen, req->iv);
	return job->encrypt ? crypto_skcipher_encrypt(&sreq->child) :
			       crypto_skcipher_decrypt(&sreq->child);
}

static void sim_cipher_result(struct sim_job *job, u8 *bytes,
			      unsigned int offset, unsigned int len, bool store)
{
	struct sim_request *sreq = container_of(job, struct sim_request, job);

	scatterwalk_map_and_copy(bytes, sreq->req->dst, offset, len, store);
}

static void sim_cipher_complete(struct sim_job *job)
{
	struct sim_request *sreq = container_of(job, struct sim_request, job);

	skcipher_request_complete(sreq->req, job->err);
}

static int sim_crypt(struct skcipher_request *req, bool encrypt)
{
	struct crypto_skcipher *skcipher = crypto_skcipher_reqtfm(req);
	struct sim_tfm *tfm = crypto_skcipher_ctx(skcipher);
	struct sim_request *sreq = skcipher_request_ctx(req);
	struct sim_job *job = &sreq->job;
	const struct sim_group *group = tfm->cipher->group;
	struct sim_device *dev = tfm->cipher->dev;

	if (!req->cryptlen)
		return 0;
	if (req->cryptlen % crypto_skcipher_blocksize(skcipher) &&
	    !sim_is_xts(tfm->cipher))
		return -EINVAL;

	sreq->req = req;
	job->group = group;
	job->key_class = tfm->key_class;
	job->extra_ns = 0;
	job->len = req->cryptlen;
	job->work = sim_cipher;
	job->complete = sim_cipher_complete;
	job->driver = tfm->cipher->alg.base.cra_driver_name;
	job->ends = true;
	job->size = req->cryptlen;
	job->encrypt = encrypt;
	job->has_decrypted = READ_ONCE(tfm->has_decrypted);
	job->result_len = req->cryptlen;
	job->result = sim_cipher_result;
	if (!encrypt)
		WRITE_ONCE(tfm->has_decrypted, true);
	if (group->reload)
		job->extra_ns = sim_reload_ns(group->reload, tfm->key_class,
					      tfm->key, encrypt,
					      req->cryptlen);
	if (dev->sync)
		return sim_run_sync(job);
	return sim_engine_submit(&dev->engine, job);
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

static bool sim_equal_parts(const u8 *key)
{
	const u8 *second = key + DES_KEY_SIZE, *third = second + DES_KEY_SIZE;

	return !memcmp(key, second, DES_KEY_SIZE) ||
	       !memcmp(second, third, DES_KEY_SIZE) ||
	       !memcmp(key, third, DES_KEY_SIZE);
}

static enum sim_key_class sim_aes_key_class(unsigned int len)
{
	return len <= AES_KEYSIZE_128 ? SIM_KEY_128 :
	       len <= AES_KEYSIZE_192 ? SIM_KEY_192 :
					SIM_KEY_256;
}

static int sim_setkey(struct crypto_skcipher *skcipher, const u8 *key,
		      unsigned int len)
{
	struct sim_tfm *tfm = crypto_skcipher_ctx(skcipher);
	int err;

	err = sim_setkey_child(tfm->safe, skcipher, key, len);
	if (!err)
		err = sim_setkey_child(tfm->fast, skcipher, key, len);
	if (err)
		return err;

	if (tfm->cipher->distinct_keys && sim_equal_parts(key))
		return -ENOKEY;
	if (tfm->cipher->aes)
		tfm->key_class = sim_aes_key_class(sim_is_xts(tfm->cipher) ?
						   len / 2 : len);
	tfm->key = sim_new_key();
	WRITE_ONCE(tfm->has_decrypted, false);
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
static struct crypto_skcipher *sim_alloc_safe(const struct sim_skcipher *cipher)
{
	const struct crypto_alg *base = &cipher->alg.base;
	struct crypto_skcipher *tfm;

	tfm = crypto_alloc_skcipher(cipher->safe, 0, CRYPTO_ALG_ASYNC);
	if (IS_ERR(tfm) && base->cra_flags & CRYPTO_ALG_KERN_DRIVER_ONLY)
		tfm = crypto_alloc_skcipher(base->cra_name, 0,
					    CRYPTO_ALG_ASYNC |
					    CRYPTO_ALG_KERN_DRIVER_ONLY);
	return tfm;
}

static int sim_init_tfm(struct crypto_skcipher *skcipher)
{
	struct sim_tfm *tfm = crypto_skcipher_ctx(skcipher);
	unsigned int child_size;

	tfm->cipher = container_of(crypto_skcipher_alg(skcipher),
				   struct sim_skcipher, alg);
	tfm->safe = sim_alloc_safe(tfm->cipher);
	if (IS_ERR(tfm->safe))
		return PTR_ERR(tfm->safe);
	tfm->fast = sim_alloc_fast(tfm->cipher->fast);

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

int sim_register_skcipher(struct sim_device *dev, struct sim_skcipher *cipher)
{
	struct skcipher_alg *alg = &cipher->alg;

	cipher->dev = dev;
	alg->base.cra_priority = cipher->group->priority;
	alg->base.cra_flags = cipher->group->flags;
	alg->base.cra_ctxsize = sizeof(struct sim_tfm);
	alg->base.cra_module = THIS_MODULE;
	alg->init = sim_init_tfm;
	alg->exit = sim_exit_tfm;
	alg->setkey = sim_setkey;
	alg->encrypt = sim_encrypt;
	alg->decrypt = sim_decrypt;
	return crypto_register_skcipher(alg);
}

void sim_unregister_skcipher(struct sim_skcipher *cipher)
{
	crypto_unregister_skcipher(&cipher->alg);
}
