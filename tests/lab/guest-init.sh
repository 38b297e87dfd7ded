#!/bin/sh
# Process 1 of the guest. Loads the modules, puts the host's file system (read-only, below a layer in
# memory that takes the writes) under the job, runs the job, and says how it ended. run.sh has put
# everything that differs between two runs into the share "job".

export PATH=/bin

fail() {
	echo "kaccel-lab: $*" >/dev/console
	echo "fail $*" >/dev/vport_status
	poweroff -f
}

mount_9p() { # TAG DIR OPTIONS
	mount -t 9p -o "trans=virtio,version=9p2000.L,msize=512000,$3" "$1" "$2"
}

mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys

while read -r module; do
	insmod "$module" || echo "kaccel-lab: $module did not load" >/dev/console
done </load.order

# Standard output, standard error and the exit status leave through one virtio port each.
tries=0
while [ ! -e /sys/class/virtio-ports/vport0p3/name ] && [ $tries -lt 500 ]; do
	sleep 0.01
	tries=$((tries + 1))
done
ln -s /dev/vport0p3 /dev/vport_status
[ -e /sys/class/virtio-ports/vport0p3/name ] || fail "the virtio ports did not appear"

mkdir -p /job /lower /layer /root
mount_9p job /job ro,cache=none || fail "cannot mount the job"
mount_9p root /lower ro,cache=loose || fail "cannot mount the host's file system"
mount -t tmpfs layer /layer
mkdir /layer/upper /layer/work
mount -t overlay -o lowerdir=/lower,upperdir=/layer/upper,workdir=/layer/work root /root ||
	fail "cannot lay a writable layer over the host's file system"

mount -t proc proc /root/proc
mount -t sysfs sys /root/sys
mount -t devtmpfs dev /root/dev
mkdir -p /dev/pts /dev/shm
mount -t devpts pts /root/dev/pts
mount -t tmpfs shm /root/dev/shm
mount -t tmpfs run /root/run
mkdir -p /root/run/lock /root/run/kaccel-lab
ln -sf /proc/self/fd /dev/fd
ln -sf /proc/self/fd/0 /dev/stdin
ln -sf /proc/self/fd/1 /dev/stdout
ln -sf /proc/self/fd/2 /dev/stderr

modules=/lib/modules/$(uname -r)
mkdir -p "/root$modules"
mount --bind "$modules" "/root$modules"

ip link set lo up

for bind in /job/bind.*; do
	[ -e "$bind" ] || continue
	dir=$(cat "$bind")
	mkdir -p "/root$dir"
	mount_9p "${bind##*/bind.}" "/root$dir" rw,cache=mmap || fail "cannot mount $dir"
done

devices=$(cat /job/simulated)
if [ -n "$devices" ]; then
	insmod "$modules/kaccel_sim.ko" device="$devices" || fail "the simulated device $devices did not start"
	# In virtual time there is one CPU, and the devices bring their own clock: module/clock.c.
	clocks=/sys/devices/system/clocksource/clocksource0
	case $(cat $clocks/available_clocksource) in
	*kaccel_sim*) echo kaccel_sim >$clocks/current_clocksource ;;
	esac
fi

cp /job/command /root/run/kaccel-lab/command

# The job writes to pipes, not to the ports: a port can be opened only once, and programs do open
# /dev/stdout.
mkfifo /out /err
(cat </out >/dev/vport0p1; : >/out.done) &
(cat </err >/dev/vport0p2; : >/err.done) &
chroot /root /bin/bash --noprofile --norc /run/kaccel-lab/command </dev/null >/out 2>/err
status=$?

drained() {
	tries=0
	while [ $tries -lt 20 ]; do
		[ -e /out.done ] && [ -e /err.done ] && return 0
		sleep 0.02
		tries=$((tries + 1))
	done
	return 1
}

# Something the job left running may hold the pipes open: the job is over, so it goes.
if ! drained; then
	for process in /proc/[0-9]*; do
		[ "$(readlink "$process/root")" = /root ] && kill -9 "${process##*/}"
	done
	drained
fi

sync
echo "exit $status" >/dev/vport_status
poweroff -f
