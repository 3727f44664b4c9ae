#!/bin/sh
# node.sh FOLDER NAME: become a node: in namespaces of its own, mount a root over a small Debian and run init there.
# FOLDER/cgroups lists the cgroups to join, and FOLDER/root is the mount point.
set -eu
folder=$1 name=$2 root=$1/root cluster=${1%/nodes/*}

if [ $$ != 1 ]; then
    exec unshare --mount --pid --net --uts --ipc --fork --kill-child sh "$0" "$@"
elif [ -z "${joined-}" ]; then
    # The group at the time of unshare is the root of what the node sees.
    while read -r group; do echo 0 >"$group/cgroup.procs"; done <"$folder/cgroups"
    export joined=yes
    exec unshare --cgroup sh "$0" "$@"
fi
unset joined

hostname "$name"
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=$cluster/debian,upperdir=$folder/changes,workdir=$folder/work" "$root"

mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount --rbind /dev "$root/dev"
mount --bind /dev/null "$root/dev/console"  # init writes there, and it is the machine's
mount -t tmpfs tmpfs "$root/run"
# An overlay cannot hold the layers of containers, and kubelet measures the disk below its folder.
for directory in containerd kubelet etcd; do
    mkdir -p "$folder/data/$directory" "$root/var/lib/$directory"
    mount --bind "$folder/data/$directory" "$root/var/lib/$directory"
done
mount --bind "$cluster/programs" "$root/usr/local/bin"
mkdir -p "$root/images" "$root/lib/modules"
mount --bind "$cluster/images" "$root/images"

# The namespace's own view of the cgroups, so that kubelets do not see each other's pods.
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
    # A group that gives controllers to others may not have processes of its own.
    mkdir -p "$root/sys/fs/cgroup/init"
    echo 1 >"$root/sys/fs/cgroup/init/cgroup.procs"
    for controller in $(cat "$root/sys/fs/cgroup/cgroup.controllers"); do
        echo "+$controller" >"$root/sys/fs/cgroup/cgroup.subtree_control"
    done
else
    mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
    while IFS=: read -r _ controllers _; do
        [ -n "$controllers" ] || continue
        directory=$root/sys/fs/cgroup/${controllers#name=}
        mkdir "$directory"
        mount -t cgroup -o "$controllers" cgroup "$directory"
    done </proc/self/cgroup
fi

# kubelet sets these for the whole machine unless they have the values that it wants.
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
    kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
    file=$root/run/${setting%=*}
    mkdir -p "${file%/*}"
    echo "${setting#*=}" >"$file"
    mount --bind "$file" "$root/proc/sys/${setting%=*}"
done
echo 1 >"$root/proc/sys/net/ipv4/ip_forward"

cd "$root"
mkdir -p run/old
pivot_root . run/old
umount -l run/old
mount --make-rshared /  # volumes that kubelet mounts appear in containers
exec /bin/busybox init
