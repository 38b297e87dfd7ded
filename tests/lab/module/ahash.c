// SPDX-License-Identifier: GPL-2.0
/*
 * Hashes of a simulated device. The digest is computed by a software driver
 * of the kernel; when the engine is asked, and for how many bytes, is as in
 * the real drivers: up to one block is kept back without asking it, since the
 * last block must go in by final(); an update beyond that hands over the whole
 * blocks before the last; final() hands over what was kept.
 */
#include <linux/scatterlist.h>
#include <linux/string.h>

#include "sim.h"

/* Enough for the state of every software driver used here. */
#define SIM_SOFT_STATE	128

struct sim_hash_request {
	struct sim_job job;
	struct ahash_request *req;
	u64 total;		/* bytes of the message so far */
	unsigned int held;	/* bytes the device has not been given yet */
	bool finish;		/* the job ends the message */
	/* The software driver's state, with its context behind it: last. */
	struct shash_desc soft;
};

struct sim_hash_state {
	u8 soft[SIM_SOFT_STATE];
	u64 total;
	unsigned int held;
};

struct sim_hash_tfm {
	struct sim_ahash *hash;
	struct crypto_shash *soft;
};

/* The hashing itself, of the data given with this call. */
static int sim_hash_data(struct sim_hash_request *hreq)
{
	struct ahash_request *req = hreq->req;
	unsigned int left = req->nbytes;
	struct sg_mapping_iter iter;
	int nents, err = 0;

	if (!left)
		return 0;
	nents = sg_nents_for_len(req->src, left);
	if (nents < 0)
		return nents;

	sg_miter_start(&iter, req->src, nents,
		       SG_MITER_FROM_SG | SG_MITER_ATOMIC);
	while (left && !err && sg_miter_next(&iter)) {
		unsigned int len = min_t(unsigned int, left, iter.length);

		err = crypto_shash_update(&hreq->soft, iter.addr, len);
		left -= len;
	}
	sg_miter_stop(&iter);
	return err;
}

static int sim_hash(struct sim_job *job)
{
	struct sim_hash_request *hreq =
		container_of(job, struct sim_hash_request, job);
	int err = sim_hash_data(hreq);

	if (!err && hreq->finish)
		err = crypto_shash_final(&hreq->soft, hreq->req->result);
	return err;
}

static void sim_hash_result(struct sim_job *job, u8 *bytes,
			    unsigned int offset, unsigned int len, bool store)
{
	struct sim_hash_request *hreq =
		container_of(job, struct sim_hash_request, job);
	u8 *digest = hreq->req->result + offset;

	memcpy(store ? digest : bytes, store ? bytes : digest, len);
}

static void sim_hash_complete(struct sim_job *job)
{
	struct sim_hash_request *hreq =
		container_of(job, struct sim_hash_request, job);

	ahash_request_complete(hreq->req, job->err);
}

/* Asks the engine for len bytes; without any, there is nothing to ask. */
static int sim_hash_submit(struct ahash_request *req, unsigned int len,
			   bool finish)
{
	struct sim_hash_tfm *tfm = crypto_ahash_ctx(crypto_ahash_reqtfm(req));
	struct sim_hash_request *hreq = ahash_request_ctx(req);
	struct sim_job *job = &hreq->job;

	hreq->req = req;
	hreq->finish = finish;
	job->group = tfm->hash->group;
	job->key_class = 0;
	job->extra_ns = 0;
	job->len = len;
	job->work = sim_hash;
	job->complete = sim_hash_complete;
	job->driver = tfm->hash->alg.halg.base.cra_driver_name;
	job->ends = finish;
	job->size = finish ? hreq->total : 0;
	job->result_len = tfm->hash->alg.halg.digestsize;
	job->result = sim_hash_result;
	if (!len) {
		job->effects = 0;
		if (finish)
			sim_fault_judge(job);
		return sim_work(job);
	}
	return sim_engine_submit(&tfm->hash->dev->engine, job);
}

static int sim_hash_init(struct ahash_request *req)
{
	struct crypto_ahash *ahash = crypto_ahash_reqtfm(req);
	struct sim_hash_tfm *tfm = crypto_ahash_ctx(ahash);
	struct sim_hash_request *hreq = ahash_request_ctx(req);

	hreq->held = tfm->hash->key_is_data ?
		     crypto_ahash_blocksize(ahash) : 0;
	hreq->total = 0;
	hreq->soft.tfm = tfm->soft;
	return crypto_shash_init(&hreq->soft);
}

static int sim_hash_update(struct ahash_request *req)
{
	struct sim_hash_request *hreq = ahash_request_ctx(req);
	unsigned int block = crypto_ahash_blocksize(crypto_ahash_reqtfm(req));
	unsigned int here = hreq->held + req->nbytes;

	hreq->total += req->nbytes;
	if (here <= block) {
		hreq->held = here;
		return sim_hash_submit(req, 0, false);
	}
	hreq->held = here % block ?: block;
	return sim_hash_submit(req, here - hreq->held, false);
}

static int sim_hash_final(struct ahash_request *req)
{
	struct sim_hash_request *hreq = ahash_request_ctx(req);

	req->nbytes = 0;
	return sim_hash_submit(req, hreq->held, true);
}

static int sim_hash_finup(struct ahash_request *req)
{
	struct sim_hash_request *hreq = ahash_request_ctx(req);

	hreq->total += req->nbytes;
	return sim_hash_submit(req, hreq->held + req->nbytes, true);
}

static int sim_hash_digest(struct ahash_request *req)
{
	int err = sim_hash_init(req);

	return err ? err : sim_hash_finup(req);
}

static int sim_hash_export(struct ahash_request *req, void *out)
{
	struct sim_hash_request *hreq = ahash_request_ctx(req);
	struct sim_hash_state state = {
		.total = hreq->total,
		.held = hreq->held,
	};
	int err = crypto_shash_export(&hreq->soft, state.soft);

	memcpy(out, &state, sizeof(state));
	return err;
}

static int sim_hash_import(struct ahash_request *req, const void *in)
{
	struct sim_hash_tfm *tfm = crypto_ahash_ctx(crypto_ahash_reqtfm(req));
	struct sim_hash_request *hreq = ahash_request_ctx(req);
	struct sim_hash_state state;

	memcpy(&state, in, sizeof(state));
	hreq->total = state.total;
	hreq->held = state.held;
	hreq->soft.tfm = tfm->soft;
	return crypto_shash_import(&hreq->soft, state.soft);
}

static int sim_hash_setkey(struct crypto_ahash *ahash, const u8 *key,
			   unsigned int len)
{
	struct sim_hash_tfm *tfm = crypto_ahash_ctx(ahash);

	return crypto_shash_setkey(tfm->soft, key, len);
}

static int sim_hash_init_tfm(struct crypto_ahash *ahash)
{
	struct sim_hash_tfm *tfm = crypto_ahash_ctx(ahash);
	struct crypto_shash *soft;

	tfm->hash = container_of(__crypto_ahash_alg(ahash->base.__crt_alg),
				 struct sim_ahash, alg);
	/* The best of this name: a shash is software, whatever its driver. */
	soft = crypto_alloc_shash(crypto_ahash_alg_name(ahash), 0,
				  CRYPTO_ALG_KERN_DRIVER_ONLY);
	if (IS_ERR(soft))
		return PTR_ERR(soft);
	if (crypto_shash_statesize(soft) > SIM_SOFT_STATE) {
		crypto_free_shash(soft);
		return -EOVERFLOW;
	}

	tfm->soft = soft;
	crypto_ahash_set_reqsize(ahash, sizeof(struct sim_hash_request) +
					crypto_shash_descsize(soft));
	return 0;
}

static void sim_hash_exit_tfm(struct crypto_ahash *ahash)
{
	struct sim_hash_tfm *tfm = crypto_ahash_ctx(ahash);

	crypto_free_shash(tfm->soft);
}

int sim_register_ahash(struct sim_device *dev, struct sim_ahash *hash)
{
	struct ahash_alg *alg = &hash->alg;

	hash->dev = dev;
	alg->halg.statesize = sizeof(struct sim_hash_state);
	alg->halg.base.cra_priority = hash->group->priority;
	alg->halg.base.cra_flags = hash->group->flags;
	alg->halg.base.cra_ctxsize = sizeof(struct sim_hash_tfm);
	alg->halg.base.cra_module = THIS_MODULE;
	alg->init_tfm = sim_hash_init_tfm;
	alg->exit_tfm = sim_hash_exit_tfm;
	alg->init = sim_hash_init;
	alg->update = sim_hash_update;
	alg->final = sim_hash_final;
	alg->digest = sim_hash_digest;
	alg->export = sim_hash_export;
	alg->import = sim_hash_import;
	/* Without a finup of its own, the kernel calls update and final. */
	if (hash->joins_finup)
		alg->finup = sim_hash_finup;
	if (strstarts(alg->halg.base.cra_name, "hmac("))
		alg->setkey = sim_hash_setkey;
	return crypto_register_ahash(alg);
}

void sim_unregister_ahash(struct sim_ahash *hash)
{
	crypto_unregister_ahash(&hash->alg);
}
