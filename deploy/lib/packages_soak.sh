#!/usr/bin/env bash
# Installs packages in a fresh Debian 12 under a systemd of its own, runs a cluster there, harms it,
# and purges them; prints each step. `deploy/soak.sh packages DIR` calls it.
#
# It needs root, mmdebstrap, a package mirror and control groups with a systemd hierarchy, and takes
# two minutes or so. Nothing of it stays: the system is a folder below TMPDIR, its processes are in a
# namespace of their own.
set -euo pipefail

fail() {
  echo "packages: $*" >&2
  exit 1
}
packages="$(cd "${1:?a folder of packages is missing}" && pwd)"
compgen -G "$packages/vicinity-server_*.deb" > /dev/null || fail "$packages: there are no packages"
[[ $EUID -eq 0 ]] || fail "namespaces and their mounts take root"
command -v mmdebstrap > /dev/null || fail "mmdebstrap is missing: apt-get install mmdebstrap"

scratch="$(mktemp -d)"
root="$scratch/root"
group="vicinity-soak-$$"
hierarchies=()
for hierarchy in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified /sys/fs/cgroup; do
  if [[ -f $hierarchy/cgroup.procs ]]; then hierarchies+=("$hierarchy"); fi
done
outer=""

# shellcheck disable=SC2317  # called by the trap
clean_up() {
  if [[ -n $outer ]]; then
    pkill -KILL -P "$outer" 2> /dev/null || true # its init; with it goes all of the namespace
    wait "$outer" 2> /dev/null || true
  fi
  for hierarchy in "${hierarchies[@]}"; do
    find "$hierarchy/$group" -depth -type d -exec rmdir {} + 2> /dev/null || true
  done
  rm -rf --one-file-system "$scratch"
}
trap clean_up EXIT

# --- The system. -------------------------------------------------------------------------------

# Becomes systemd: runs in namespaces of its own, in which it lays out what systemd expects.
cat > "$scratch/become_init" << 'END'
set -euo pipefail
root="$1"
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys" # it is the machine's own
mount -t sysfs -o ro sysfs "$root/sys"
if [[ -d /sys/fs/cgroup/systemd ]]; then
  mount -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup"
  mkdir "$root/sys/fs/cgroup/systemd" "$root/sys/fs/cgroup/unified"
  mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
  mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup/unified"
else
  mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
fi
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null:3 zero:5 full:7 random:8 urandom:9; do
  mknod -m 666 "$root/dev/${device%:*}" c 1 "${device#*:}"
done
mknod -m 666 "$root/dev/tty" c 5 0
mkdir "$root/dev/shm" "$root/dev/pts" "$root/dev/mqueue"
mount -t devpts devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
ip link set lo up
cd "$root"
pivot_root . mnt
cd /
umount -l /mnt
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  /sbin/init systemd.unit=multi-user.target < /dev/null
END

step() { echo "== $*"; }

inside() { nsenter --target "$init" --mount --pid --uts --ipc --net --cgroup -- "$@"; }

# eventually COMMAND: within a minute.
eventually() {
  for ((tries = 0; tries < 60; tries++)); do
    if "$@" > /dev/null 2>&1; then return; fi
    sleep 1
  done
  inside journalctl --no-pager -n 30 >&2 || true
  fail "in vain for a minute: $*"
}

property() { inside systemctl show --value --property "$2" "vicinityd@$1"; }
is() { [[ "$(property "$1" "$2")" == "$3" ]]; }
must_be() { is "$@" || fail "$2 of vicinityd@$1 is $(property "$1" "$2"), not $3"; }

step "a fresh Debian 12"
mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,python3-minimal,man-db bookworm "$root"
mkdir "$root/packages"
cp "$packages"/*.deb "$root/packages/"
cp --dereference /etc/resolv.conf "$root/etc/resolv.conf"
echo "127.0.0.1 localhost" > "$root/etc/hosts"
# What the packages depend on is fetched now: the system itself has no network.
chroot "$root" sh -c 'apt-get update
  apt-get install --yes --no-install-recommends --download-only /packages/*.deb' > "$scratch/log" 2>&1 \
  || { cat "$scratch/log" >&2; fail "not to be installed"; }
for hierarchy in "${hierarchies[@]}"; do mkdir -p "$hierarchy/$group"; done
(
  for hierarchy in "${hierarchies[@]}"; do echo "$BASHPID" > "$hierarchy/$group/cgroup.procs"; done
  exec unshare --mount --pid --fork --kill-child --uts --ipc --net --cgroup \
    bash "$scratch/become_init" "$root" > "$scratch/init.log" 2>&1
) &
outer=$!
sleep 1
init="$(pgrep -P "$outer")" || { cat "$scratch/init.log" >&2; fail "systemd does not run here"; }
# --wait waits for as long as it starts.
eventually inside systemctl is-system-running --wait

# --- Installed, and run. -----------------------------------------------------------------------

step "installed"
inside sh -c 'apt-get install --yes --no-install-recommends /packages/*.deb' > "$scratch/log" 2>&1 \
  || { cat "$scratch/log" >&2; fail "not installed"; }
[[ -z "$(inside dpkg --audit)" ]] || fail "$(inside dpkg --audit)"
[[ -z "$(inside systemctl list-units --plain --no-legend 'vicinityd@*')" ]] || fail "it starts by itself"
inside man --path vicinity-health > /dev/null
inside python3 -c 'import vicinity_graph; print("python:", vicinity_graph.__version__)'

step "two servers with a copy each of a graph, as docs/operations/systemd.md has it"
inside sh -euc '
  cd /root
  vicinity generate block-model --num-nodes 2000 --output graph
  vicinity partition --input graph --output /var/lib/vicinity/shards --shards 2 --assigner hash
  vicinity partition --input graph --output /var/lib/vicinity/written --shards 1 --assigner hash
  chown -R vicinity:vicinity /var/lib/vicinity
  vicinity certificate ca
  vicinity certificate server server --address localhost
  vicinity certificate client ops
  cp certificates/ca.pem certificates/revoked.pem certificates/server.pem /etc/vicinity
  cat > /etc/vicinity/cluster.textproto << END
data: "/var/lib/vicinity/shards"
num_shards: 2
tls { certificate: "server.pem" ca: "ca.pem" revoked: "revoked.pem" }
servers { name: "a" listen: "127.0.0.1:7500" advertise: "localhost:7500" shards: [0, 1] }
servers { name: "b" listen: "127.0.0.1:7501" advertise: "localhost:7501" shards: [0, 1] }
END
  chown -R root:vicinity /etc/vicinity
  chmod 640 /etc/vicinity/*
  systemctl enable --now vicinityd@a vicinityd@b
' > "$scratch/log" 2>&1 || { cat "$scratch/log" >&2; inside journalctl --no-pager -n 30 >&2; fail "not started"; }
cluster=/etc/vicinity/cluster.textproto
export VICINITY_TLS_CERTIFICATE=/root/certificates/ops.pem
# `start` returned when calls were answered.
must_be a ActiveState active
inside vicinity health --cluster $cluster > /dev/null
[[ "$(property a StatusText)" == *"127.0.0.1:7500"* ]] || fail "status: $(property a StatusText)"
inside vicinity sample --cluster $cluster --seeds 1,2,3 --fanouts 5,5 > /dev/null

step "killed, frozen, read again, reinstalled"
before="$(property a MainPID)"
inside systemctl kill --signal KILL vicinityd@a
eventually is a NRestarts 1
eventually is a ActiveState active
inside systemctl kill --signal STOP vicinityd@b
eventually is b NRestarts 1
eventually is b ActiveState active
must_be b Result success # of the one that runs now
inside journalctl --no-pager -u vicinityd@b | grep -q 'Watchdog timeout' || fail "it was not the watchdog"
inside systemctl reload vicinityd@a
eventually inside sh -c "journalctl --no-pager -u vicinityd@a | grep -q 'credentials read again'"
kept="$(property a MainPID)"
[[ "$kept" != "$before" ]] || fail "vicinityd@a has the process id that was killed"
inside sh -c 'dpkg --install /packages/vicinity-server_*.deb' > "$scratch/log" 2>&1 \
  || { cat "$scratch/log" >&2; fail "not installed again"; }
must_be a MainPID "$kept" # upgrades leave it to the operator which server goes when
inside vicinity health --cluster $cluster > /dev/null

step "a wrong cluster file is not tried again"
inside sh -c "systemctl stop vicinityd@b; cp $cluster /root/good; echo nonsense >> $cluster"
inside systemctl start vicinityd@b > /dev/null 2>&1 && fail "vicinityd@b takes nonsense"
must_be b ExecMainStatus 2
must_be b NRestarts 0
inside sh -c "cp /root/good $cluster; systemctl reset-failed vicinityd@b; systemctl start vicinityd@b"

step "a live graph, below the unit's confinement"
inside sh -euc "
  systemctl disable --now vicinityd@a vicinityd@b
  cat > $cluster << END
data: \"/var/lib/vicinity/written\"
num_shards: 1
tls { certificate: \"server.pem\" ca: \"ca.pem\" revoked: \"revoked.pem\" }
access: \"access.textproto\"
changes: \"/var/lib/vicinity/changes\"
servers { name: \"a\" listen: \"127.0.0.1:7500\" advertise: \"localhost:7500\" shards: [0] }
END
  echo 'grants { name: \"ops\" role: WRITE certificate: \"ops\" }' > /etc/vicinity/access.textproto
  chgrp vicinity /etc/vicinity/access.textproto
  systemctl start vicinityd@a
  echo '{\"id\": 5}' > /tmp/gone.jsonl
  vicinity write --cluster $cluster --nodes node --action remove /tmp/gone.jsonl
  systemctl restart vicinityd@a
  vicinity versions --cluster $cluster
" > "$scratch/log" 2>&1 || { cat "$scratch/log" >&2; inside journalctl --no-pager -n 30 >&2; fail "not written"; }
inside sh -euc "test \"\$(stat -c %U /var/lib/vicinity/changes)\" = vicinity"
grep -Eq '^ +0 +1 ' "$scratch/log" || { cat "$scratch/log" >&2; fail "version 1 has not outlived a restart"; }

# --- Purged. -----------------------------------------------------------------------------------

step "purged"
mapfile -t names < <(for package in "$packages"/*.deb; do dpkg-deb --field "$package" Package; done)
inside dpkg --listfiles "${names[@]}" | sort -u > "$scratch/files"
inside systemctl enable vicinityd@b > /dev/null 2>&1
inside apt-get purge --yes "${names[@]}" > "$scratch/log" 2>&1 || { cat "$scratch/log" >&2; fail "not purged"; }
inside pidof vicinityd > /dev/null && fail "a server still runs"
while read -r path; do
  if [[ -n $path && ! -d $root$path && (-e $root$path || -L $root$path) ]]; then fail "$path is left"; fi
done < "$scratch/files"
compgen -G "$root/etc/systemd/system/*/vicinityd@*" && fail "it is still enabled"
[[ -z "$(inside systemctl --failed --plain --no-legend)" ]] || fail "$(inside systemctl --failed)"
# Graphs and keys are the operator's.
inside test -f /var/lib/vicinity/shards/manifest.textproto -a -f $cluster
echo "installed, run and purged: ${names[*]}"
