#!/usr/bin/env bash
# Runs one command in the lab: a Linux guest with AF_ALG and, if wanted, a simulated crypto device.
# Output and exit status are the command's.
#
#   run.sh [options] -- COMMAND [ARGUMENT...]
#
#   --virtual-time     one instruction takes 2 ns of guest time, whatever the host does: for figures
#                      (without it: two CPUs at the host's speed, for correctness)
#   --one-cpu          without --virtual-time: one CPU, for kernels that QEMU's emulation of two makes fall over
#   --router-cpu       OpenSSL in the guest without AES instructions and vectors, as a small router has it
#   --device NAME      qce, eip93, padlock: simulated devices; virtio: QEMU's virtio-crypto;
#                      none: no device (default); may be repeated
#   --without MODULE   a kernel module that the guest is not to have; may be repeated
#   --kernel VMLINUZ   another kernel, unpacked as .../boot/vmlinuz-VERSION with .../lib/modules/VERSION
#   --bind DIR         DIR is shared with the guest, writable, under the same name; may be repeated.
#                      All else of the host is visible too; what the guest writes there is lost
#   --timeout SECONDS  stop the guest after so many seconds of the host's time (default 600)
#   --verbose          the guest's console on standard error
#
# Exit status: the command's; 124 after a time-out; 125 if the guest or the lab failed.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Loaded in this order, with what they depend on; what a kernel has built in or lacks is passed over.
# algif_aead stays out on purpose: kaccel must do without it.
core_modules=(virtio_pci 9pnet_virtio 9p overlay virtio_console)
crypto_modules=(aesni_intel cbc ecb ctr xts ghash_generic gcm des_generic md5 sha1_generic sha256_generic
    sha512_generic hmac af_alg algif_skcipher algif_hash crypto_user crypto_engine)
# Tunnels between network namespaces, for tests/programs.
network_modules=(tun veth)
# What the simulated devices compute with: the kernel's fastest software for it.
simulator_modules=(des3_ede-x86_64 sha1-ssse3 sha256-ssse3)

virtual_time=0 one_cpu=0 router_cpu=0 verbose=0 timeout=600 kernel=
devices=() binds=() without=() command=()

usage() {
    sed -n '2,20s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
}

parse_options() {
    while (($#)); do
        case $1 in
        --virtual-time) virtual_time=1 ;;
        --one-cpu) one_cpu=1 ;;
        --router-cpu) router_cpu=1 ;;
        --verbose) verbose=1 ;;
        --kernel | --device | --timeout | --bind | --without)
            (($# > 1)) || lab_die 125 "$1 needs a value"
            case $1 in
            --kernel) kernel=$2 ;;
            --device) devices+=("$2") ;;
            --timeout) timeout=$2 ;;
            --bind) binds+=("$2") ;;
            --without) without+=("$2") ;;
            esac
            shift
            ;;
        -h | --help)
            usage
            exit 0
            ;;
        --)
            shift
            command=("$@")
            break
            ;;
        *) lab_die 125 "unknown option $1 (the command goes after --)" ;;
        esac
        shift
    done
    ((${#command[@]})) || lab_die 125 "no command: run.sh [options] -- COMMAND..."
    [[ $timeout =~ ^[0-9]+$ ]] || lab_die 125 "--timeout needs a number of seconds, not '$timeout'"
}

simulated="" virtio=0
sort_devices() {
    local device
    for device in "${devices[@]}"; do
        case $device in
        none) ;;
        virtio) virtio=1 ;;
        qce | eip93 | padlock) simulated+=${simulated:+,}$device ;;
        *) lab_die 125 "no device '$device': qce, eip93, padlock, virtio or none" ;;
        esac
    done
}

modules_root="" version=""
find_kernel() {
    if [[ ! $kernel ]]; then
        kernel=$(lab_default_kernel) || lab_die 125 "no kernel in $lab_cache: run $lab_dir/setup.sh"
    fi
    [[ -r $kernel ]] || lab_die 125 "no kernel image $kernel"
    kernel=$(readlink -f "$kernel")
    version=$(lab_kernel_version "$kernel")
    modules_root=$(dirname "$(dirname "$kernel")")
    [[ -d $modules_root/lib/modules/$version ]] ||
        lab_die 125 "no modules for $kernel: $modules_root/lib/modules/$version is missing"
}

# depmod once per kernel: modprobe --show-depends needs its tables.
index_modules() {
    [[ -e $modules_root/lib/modules/$version/modules.dep ]] || depmod -b "$modules_root" "$version"
}

# build_simulator: builds module/ for this kernel, prints the directory of the result.
build_simulator() {
    local headers=$modules_root/lib/modules/$version/build
    [[ -e $headers/Makefile ]] ||
        lab_die 125 "no headers for kernel $version, which the simulated devices are built with: $headers is missing"
    local key dir
    key=$(cat "$lab_dir"/module/{Kbuild,*.[ch]} <(printf '%s\n' "$kernel") | sha256sum | cut -c1-16)
    dir=$lab_cache/build/simulator-$key
    if [[ ! -d $dir ]]; then
        lab_need make make
        rm -rf "$dir.new"
        mkdir -p "$dir.new"
        cp "$lab_dir"/module/{Kbuild,*.[ch]} "$dir.new/"
        make -s -C "$headers" M="$dir.new" CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$dir.log" 2>&1 ||
            lab_die 125 "the simulated devices do not build for kernel $version: $(grep -m1 -E 'error|Error|not found' "$dir.log" || true) (all of it: $dir.log)"
        strip --strip-debug "$dir.new"/*.ko
        rm -rf "$dir"
        mv "$dir.new" "$dir"
    fi
    touch "$dir"
    printf '%s\n' "$dir"
}

# module_files MODULE...: their files, dependencies first.
module_files() {
    local module
    for module; do
        modprobe -d "$modules_root" -S "$version" --show-depends "$module" 2>/dev/null || true
    done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

# add_modules STAGING FILE...: copies modules, unpacked; prints their names in the guest.
add_modules() {
    local staging=$1 file name
    shift
    for file; do
        name=/lib/modules/$version/$(basename "$file")
        name=${name%.xz} name=${name%.zst} name=${name%.gz}
        case $file in
        *.xz) xz -dc "$file" >"$staging$name" ;;
        *.zst) zstd -qdc "$file" >"$staging$name" ;;
        *.gz) gzip -dc "$file" >"$staging$name" ;;
        *) cp "$file" "$staging$name" ;;
        esac
        printf '%s\n' "$name"
    done
}

# build_initramfs SIMULATOR LOAD...: prints where it is.
build_initramfs() {
    local simulator=$1 busybox key file
    shift
    busybox=$(command -v busybox)
    key=$({
        cat "$lab_dir/guest-init.sh" "$lab_dir/run.sh" "$busybox"
        [[ ! $simulator ]] || cat "$simulator"/*.ko
        printf '%s\n' "$kernel" "$@"
    } | sha256sum | cut -c1-16)
    file=$lab_cache/build/initramfs-$key
    if [[ ! -e $file ]]; then
        local staging=$lab_cache/build/staging applet
        rm -rf "$staging"
        mkdir -p "$staging"/{bin,sbin,dev,proc,sys} "$staging/lib/modules/$version"
        cp "$busybox" "$staging/bin/busybox"
        for applet in sh mount mkdir rmdir ln ip cat cp insmod mkfifo chroot sleep readlink sync uname poweroff kill modprobe; do
            ln -s busybox "$staging/bin/$applet"
        done
        ln -s ../bin/busybox "$staging/sbin/modprobe" # where the kernel looks for it
        install -m 755 "$lab_dir/guest-init.sh" "$staging/init"
        local load=()
        mapfile -t load < <(module_files "$@")
        add_modules "$staging" "${load[@]}" >"$staging/load.order"
        # Our own lie beside them; the job finds all under /lib/modules, for modprobe.
        [[ ! $simulator ]] || cp "$simulator"/*.ko "$staging/lib/modules/$version/"
        cp "$modules_root/lib/modules/$version"/modules.{order,builtin,builtin.modinfo} "$staging/lib/modules/$version/"
        depmod -b "$staging" "$version"
        (cd "$staging" && find . -print0 | LC_ALL=C sort -z | cpio -0 -o -H newc --quiet -R 0:0) >"$file.new"
        mv "$file.new" "$file"
        rm -rf "$staging"
    fi
    touch -h "$file"
    printf '%s\n' "$file"
}

# plain_kernel: prints a kernel image that starts without unpacking itself, which an emulated CPU takes
# seconds for: QEMU enters an unpacked kernel that has the PVH entry. Otherwise the image as it is.
plain_kernel() {
    local key file setup offset length unpack
    key=$({ stat -c '%n %s %Y' "$kernel"; } | sha256sum | cut -c1-16)
    file=$lab_cache/build/vmlinux-$key
    if [[ ! -e $file ]]; then
        # Fields of the x86 boot protocol: setup_sects, payload_offset, payload_length.
        setup=$(od -An -tu1 -j497 -N1 "$kernel") offset=$(od -An -tu4 -j584 -N4 "$kernel")
        length=$(od -An -tu4 -j588 -N4 "$kernel")
        offset=$(((setup + 1) * 512 + offset))
        case $(od -An -tx1 -j"$offset" -N4 "$kernel" | tr -d ' ') in
        fd377a58) unpack=(xz -dc --single-stream) ;;
        28b52ffd) unpack=(zstd -dc) ;;
        1f8b*) unpack=(gzip -dc) ;;
        *) unpack=(false) ;;
        esac
        # What follows the stream (its length) makes the unpacker complain; the note tells if all is well.
        tail -c +$((offset + 1)) "$kernel" | head -c "$length" | "${unpack[@]}" >"$file.new" 2>/dev/null || true
        if ! LC_ALL=C readelf -n "$file.new" 2>/dev/null | grep -q '(0x00000012)'; then
            rm -f "$file.new"
            ln -s "$kernel" "$file.new"
        fi
        mv "$file.new" "$file"
    fi
    touch -h "$file"
    printf '%s\n' "$file"
}

initramfs="" plain=""
prepare_guest() {
    mkdir -p "$lab_cache/build"
    exec 9>"$lab_cache/build.lock"
    flock 9
    # What no run has used for a week can be built again.
    find "$lab_cache/build" -mindepth 1 -maxdepth 1 -mtime +7 -exec rm -rf {} +
    index_modules
    local simulator="" load=("${core_modules[@]}" "${crypto_modules[@]}" "${network_modules[@]}")
    if [[ $simulated ]]; then
        simulator=$(build_simulator)
        load+=("${simulator_modules[@]}")
    fi
    ((!virtio)) || load+=(virtio_crypto)
    local module kept=()
    for module in "${load[@]}"; do
        [[ " ${without[*]} " == *" $module "* ]] || kept+=("$module")
    done
    ((${#kept[@]} + ${#without[@]} == ${#load[@]})) || lab_die 125 "--without ${without[*]}: the guest has no such module"
    load=("${kept[@]}")
    initramfs=$(build_initramfs "$simulator" "${load[@]}")
    plain=$(plain_kernel)
    exec 9>&-
}

# The command as a script, every word quoted: arguments arrive as they were given.
write_command() {
    local name
    {
        printf 'unset SHLVL OLDPWD\n'
        printf 'export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n'
        printf 'export HOME=/root USER=root LANG=C.UTF-8 TERM=dumb TMPDIR=/tmp\n'
        ((!router_cpu)) || printf 'export OPENSSL_ia32cap=%q\n' '~0x200000200000000'
        for name in OPENSSL_CONF OPENSSL_MODULES LD_LIBRARY_PATH "${!KACCEL_@}"; do
            [[ -z ${!name+set} ]] || printf 'export %s=%q\n' "$name" "${!name}"
        done
        printf 'cd %q || exit 125\n' "$PWD"
        printf 'exec --'
        printf ' %q' "${command[@]}"
        printf '\n'
    } >"$work/job/command"
}

qemu=()
# shellcheck disable=SC2054  # the commas are QEMU's
compose_qemu() {
    # no_timer_check: on a busy host the boot's test of the timer may see no tick, and panics.
    local append="console=ttyS0 panic=-1 no_timer_check init_on_alloc=0 mitigations=off nokaslr random.trust_cpu=on"
    ((verbose)) && append+=" loglevel=7" || append+=" quiet"
    # Where a program's memory lies changes how many instructions it needs: up to 0.7% of a figure.
    ((!virtual_time)) || append+=" norandmaps idle=poll"
    qemu=(qemu-system-x86_64 -nodefaults -no-user-config -no-reboot -display none -m 1024
        -kernel "$plain" -initrd "$initramfs"
        -chardev "file,id=console,path=$work/console" -serial chardev:console
        # Without ioeventfd the device works while the guest's instruction waits: no host timing in it.
        -device virtio-serial-pci,ioeventfd=off)
    local number=0 stream
    for stream in stdout stderr status; do
        number=$((number + 1))
        qemu+=(-chardev "file,id=$stream,path=$work/$stream"
            -device "virtserialport,chardev=$stream,nr=$number,name=$stream")
    done
    share root / on
    share job "$work/job" on
    local bind
    number=0
    for bind in "${binds[@]}"; do
        [[ -d $bind ]] || lab_die 125 "--bind $bind: no such directory"
        number=$((number + 1))
        bind=$(cd "$bind" && pwd)
        printf '%s' "$bind" >"$work/job/bind.share$number"
        share "share$number" "$bind" off
    done
    ((!virtio)) || qemu+=(-object cryptodev-backend-builtin,id=crypto0 -device virtio-crypto-pci,cryptodev=crypto0)
    if ((virtual_time)); then
        # rep-string instructions count step by step; the kernel's copies do without them.
        qemu+=(-accel tcg -icount shift=1,sleep=off -smp 1 -cpu max,-erms,-fsrm)
    else
        # Linux patches its own code while it runs, a breakpoint standing in for what is half written. QEMU's
        # second CPU may meet the breakpoint when the first no longer expects it: Linux 7.2 died of it in one
        # boot of four ("Oops: int3 in sched_clock_cpu"). With one CPU nobody runs what is being patched.
        qemu+=(-accel tcg,thread=multi -smp $((one_cpu ? 1 : 2)) -cpu max)
    fi
    qemu+=(-append "$append")
}

# share TAG DIR READONLY
share() {
    qemu+=(-fsdev "local,id=$1,path=${2//,/,,},security_model=none,multidevs=remap,readonly=$3"
        -device "virtio-9p-pci,fsdev=$1,mount_tag=$1")
}

work="" qemu_pid="" helpers=()
# shellcheck disable=SC2317  # called by the traps
clean_up() {
    trap - EXIT INT TERM HUP
    [[ ! $qemu_pid ]] || kill -TERM "$qemu_pid" 2>/dev/null || true
    [[ ! $qemu_pid ]] || wait "$qemu_pid" 2>/dev/null || true
    ((!${#helpers[@]})) || kill "${helpers[@]}" 2>/dev/null || true
    [[ ! $work ]] || rm -rf "$work"
}

# What the kernel complained of where it did, otherwise the end of the console.
last_console_lines() {
    {
        grep -m1 -B1 -A12 -E 'Kernel panic|BUG:|Oops' "$work/console.log" || tail -n 15 "$work/console.log"
    } | tr -d '\r' | sed 's/^/lab: console: /' >&2
}

run_guest() {
    mkfifo "$work"/{stdout,stderr,console}
    # Readers first: QEMU opens each for writing. They end with QEMU.
    cat "$work/stdout" & helpers+=($!)
    cat "$work/stderr" >&2 & helpers+=($!)
    if ((verbose)); then
        tee "$work/console.log" <"$work/console" >&2 & helpers+=($!)
    else
        cat "$work/console" >"$work/console.log" & helpers+=($!)
    fi

    local result=0 die_with_us=()
    ! setpriv --pdeathsig TERM true 2>/dev/null || die_with_us=(setpriv --pdeathsig TERM)
    "${die_with_us[@]}" timeout -k 5 "$timeout" "${qemu[@]}" </dev/null >"$work/qemu.log" 2>&1 &
    qemu_pid=$!
    wait "$qemu_pid" || result=$?
    qemu_pid=
    # QEMU may have failed before it opened all of them.
    local fifo
    for fifo in stdout stderr console; do
        : <>"$work/$fifo"
    done
    wait "${helpers[@]}" || true
    helpers=()

    local verdict="" value=""
    [[ ! -s $work/status ]] || read -r verdict value <"$work/status" || true
    if [[ $verdict == exit ]]; then
        exit "$value"
    fi
    if ((result == 124 || result == 137)); then
        lab_die 124 "timed out after $timeout s: guest stopped"
    fi
    sed 's/^/lab: qemu: /' "$work/qemu.log" >&2
    last_console_lines
    [[ $verdict != fail ]] || lab_die 125 "the guest could not start the command: $value"
    lab_die 125 "the guest ended without an exit status (QEMU's own: $result)"
}

main() {
    parse_options "$@"
    sort_devices
    lab_need qemu-system-x86_64 qemu-system-x86
    lab_need busybox busybox-static
    lab_need cpio cpio
    export PATH=$PATH:/usr/sbin:/sbin
    lab_need modprobe kmod
    find_kernel
    prepare_guest
    work=$(mktemp -d "${TMPDIR:-/tmp}/kaccel-lab-XXXXXX")
    trap clean_up EXIT
    trap 'clean_up; exit 130' INT
    trap 'clean_up; exit 143' TERM HUP
    mkdir "$work/job"
    printf '%s' "$simulated" >"$work/job/simulated"
    write_command
    compose_qemu
    run_guest
}

main "$@"
