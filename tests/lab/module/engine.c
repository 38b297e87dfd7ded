// SPDX-License-Identifier: GPL-2.0
/*
 * The engine of a simulated device: serves one job at a time, in order of
 * arrival, and needs base + per_byte * length for each. A request that hangs
 * is lost, or stays in the engine for ever and keeps all others out.
 */
#include <linux/ktime.h>
#include <linux/processor.h>
#include <linux/version.h>

#include "sim.h"

static u64 sim_latency_ns(const struct sim_job *job)
{
	const struct sim_group *group = job->group;
	u64 byte_ps = READ_ONCE(group->byte_ps[job->key_class]);

	return READ_ONCE(group->base_ns[job->key_class]) +
	       byte_ps * job->len / 1000 + job->extra_ns;
}

/*
 * The engine begins with the active job, at the given time. The work is done
 * at once, so that the CPU time it takes passes within the device's time and
 * is not added to it; where it takes longer, the timer has run out when it is
 * set. With the lab's clock, which leaves the work out, it can wait for the end
 * of the device's time: by then the caller sleeps, and is not charged for it.
 */
static void sim_engine_begin(struct sim_engine *engine, ktime_t start)
{
	struct sim_job *job = engine->active;
	u64 latency = sim_latency_ns(job);

	if (sim_fault_hangs(job))
		return;
	job->worked = !sim_clock_in_use();
	if (job->worked)
		job->err = sim_work(job);
	hrtimer_start(&engine->timer, ktime_add_ns(start, latency),
		      HRTIMER_MODE_ABS_SOFT);
}

/* The device's "done" interrupt; a softirq, as drivers' completions are. */
static enum hrtimer_restart sim_engine_done(struct hrtimer *timer)
{
	struct sim_engine *engine = container_of(timer, struct sim_engine,
						 timer);
	struct sim_job *done = engine->active;
	ktime_t now = ktime_get();
	struct sim_job *next;

	if (!done->worked)
		done->err = sim_work_unseen(done);

	spin_lock_bh(&engine->lock);
	next = list_first_entry_or_null(&engine->queue, struct sim_job, entry);
	if (next)
		list_del(&next->entry);
	engine->active = next;
	spin_unlock_bh(&engine->lock);

	/* This gives the request back, and may submit another. */
	local_bh_disable();
	if (done->effects & BIT(SIM_BACKLOGGED)) {
		int err = done->err;

		done->err = -EINPROGRESS;
		done->complete(done);
		done->err = err;
	}
	done->complete(done);
	local_bh_enable();

	if (next)
		sim_engine_begin(engine, now);
	return HRTIMER_NORESTART;
}

int sim_engine_submit(struct sim_engine *engine, struct sim_job *job)
{
	int taken = -EINPROGRESS;
	bool idle;

	sim_fault_judge(job);
	/* Before the engine has it: it may be gone when this returns. */
	if (job->effects & BIT(SIM_BACKLOGGED))
		taken = -EBUSY;
	if (sim_fault_hangs(job) && !sim_fault_stops_engine())
		return -EINPROGRESS;

	spin_lock_bh(&engine->lock);
	idle = !engine->active;
	if (idle)
		engine->active = job;
	else
		list_add_tail(&job->entry, &engine->queue);
	spin_unlock_bh(&engine->lock);

	if (idle)
		sim_engine_begin(engine, ktime_get());
	return taken;
}

/* A synchronous device keeps the CPU until its time is over. It never hangs. */
int sim_run_sync(struct sim_job *job)
{
	u64 start = ktime_get_ns();
	u64 end;
	int err;

	sim_fault_judge(job);
	end = start + sim_latency_ns(job);
	err = sim_clock_in_use() ? sim_work_unseen(job) : sim_work(job);
	while (ktime_get_ns() < end)
		cpu_relax();
	return err;
}

void sim_engine_init(struct sim_engine *engine)
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

void sim_engine_stop(struct sim_engine *engine)
{
	hrtimer_cancel(&engine->timer);
}
