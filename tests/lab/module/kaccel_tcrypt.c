// SPDX-License-Identifier: GPL-2.0
/*
 * kaccel_tcrypt: times requests inside the kernel, one after the other, as the
 * kernel's tcrypt does (which distribution kernels leave out). The published
 * figures the simulated devices are fitted to are tcrypt's; with this the
 * simulation is measured in the same terms.
 *
 *   modprobe kaccel_tcrypt driver=cbc-aes-qce key_bits=128; dmesg
 *
 * Loading it always "fails" with EAGAIN: there is nothing to keep loaded.
 */
#include <linux/crypto.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <crypto/skcipher.h>

static char *driver = "cbc-aes-qce";
module_param(driver, charp, 0);
MODULE_PARM_DESC(driver, "skcipher driver to time");

static unsigned int key_bits = 128;
module_param(key_bits, uint, 0);
MODULE_PARM_DESC(key_bits, "key size");

static unsigned int rounds = 64;
module_param(rounds, uint, 0);
MODULE_PARM_DESC(rounds, "requests timed at each size");

static const unsigned int sizes[] = {
	16, 64, 256, 512, 768, 1024, 2048, 4096, 8192, 16384
};

#define WARM_UP		4
#define LARGEST		16384

static int time_size(struct skcipher_request *req, void *buffer,
		     unsigned int size)
{
	struct scatterlist sg;
	DECLARE_CRYPTO_WAIT(wait);
	u8 iv[16] = { 0 };
	u64 start = 0;
	unsigned int i;
	int err;

	sg_init_one(&sg, buffer, size);
	skcipher_request_set_callback(req, CRYPTO_TFM_REQ_MAY_BACKLOG,
				      crypto_req_done, &wait);
	skcipher_request_set_crypt(req, &sg, &sg, size, iv);

	for (i = 0; i < WARM_UP + rounds; i++) {
		if (i == WARM_UP)
			start = ktime_get_ns();
		err = crypto_wait_req(crypto_skcipher_encrypt(req), &wait);
		if (err)
			return err;
	}

	pr_info("kaccel_tcrypt: %s %u %u bytes: %llu ns\n", driver, key_bits,
		size, div_u64(ktime_get_ns() - start, rounds));
	return 0;
}

static int time_driver(struct crypto_skcipher *tfm, void *buffer)
{
	u8 key[64] = { 1 };
	struct skcipher_request *req;
	unsigned int i;
	int err;

	key[key_bits / 16] = 2;	/* XTS wants its halves to differ */
	err = crypto_skcipher_setkey(tfm, key, key_bits / 8);
	if (err)
		return err;

	req = skcipher_request_alloc(tfm, GFP_KERNEL);
	if (!req)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(sizes) && !err; i++)
		err = time_size(req, buffer, sizes[i]);
	skcipher_request_free(req);
	return err;
}

static int __init kaccel_tcrypt_init(void)
{
	struct crypto_skcipher *tfm;
	void *buffer;
	int err;

	if (!rounds || key_bits > 512)
		return -EINVAL;
	tfm = crypto_alloc_skcipher(driver, 0, 0);
	if (IS_ERR(tfm))
		return PTR_ERR(tfm);

	buffer = kzalloc(LARGEST, GFP_KERNEL);
	err = buffer ? time_driver(tfm, buffer) : -ENOMEM;
	kfree(buffer);
	crypto_free_skcipher(tfm);
	return err ? err : -EAGAIN;
}

module_init(kaccel_tcrypt_init);

MODULE_DESCRIPTION("Times crypto requests inside the kernel, for the kaccel lab");
MODULE_LICENSE("GPL");
