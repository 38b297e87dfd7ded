// SPDX-License-Identifier: GPL-2.0
/*
 * A clock that stands still while the software in this module works in the
 * device's place.
 *
 * In the lab's virtual time instructions are time. AES has instructions of its
 * own, but DES and hashes in kernel software take about as long as OpenSSL's:
 * without this clock no simulated device could be faster. It is the CPU's time
 * stamp counter less the time spent on that work, and becomes the system's by
 *
 *   echo kaccel_sim >/sys/devices/system/clocksource/clocksource0/current_clocksource
 */
#include <linux/clocksource.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#include "sim.h"

static u64 hidden;	/* written with interrupts off, on the only CPU */
static bool in_use;
static bool registered;

static u64 sim_clock_read(struct clocksource *clock)
{
	return rdtsc_ordered() - hidden;
}

static int sim_clock_enable(struct clocksource *clock)
{
	WRITE_ONCE(in_use, true);
	return 0;
}

static void sim_clock_disable(struct clocksource *clock)
{
	WRITE_ONCE(in_use, false);
}

/* Rated below the others: used if asked for, and never to judge the others. */
static struct clocksource sim_clock = {
	.name		= "kaccel_sim",
	.rating		= 10,
	.read		= sim_clock_read,
	.enable		= sim_clock_enable,
	.disable	= sim_clock_disable,
	.mask		= CLOCKSOURCE_MASK(64),
	.flags		= CLOCK_SOURCE_IS_CONTINUOUS,
	.owner		= THIS_MODULE,
};

bool sim_clock_in_use(void)
{
	return READ_ONCE(in_use);
}

/* Does the job's work while this clock stands still. */
int sim_work_unseen(struct sim_job *job)
{
	unsigned long flags;
	u64 start;
	int err;

	local_irq_save(flags);
	start = rdtsc_ordered();
	err = sim_work(job);
	hidden += rdtsc_ordered() - start;
	local_irq_restore(flags);
	return err;
}

/* With more CPUs than one, the others would see the clock jump back. */
void sim_clock_start(void)
{
	if (num_possible_cpus() == 1)
		registered = !clocksource_register_khz(&sim_clock, tsc_khz);
}

void sim_clock_stop(void)
{
	if (registered)
		clocksource_unregister(&sim_clock);
	registered = false;
}
