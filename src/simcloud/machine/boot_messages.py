"""The kernel's messages at the boot of a machine, made from its hardware."""

from __future__ import annotations

from typing import Final

from simcloud.machine.files import SECTOR_BYTES
from simcloud.machine.journal import INFO
from simcloud.machine.kernel_log import HARDWARE, Record
from simcloud.machine.proc import CPU_MODEL, KERNEL_VERSION, device_bytes, file_system_id
from simcloud.machine.process import PAGE_BYTES
from simcloud.machine.process.container import Host

# Seconds since the boot, the level if it is not "info", and the text.
_MESSAGES: Final = """\
0.000000|5|Linux version {release} (debian-kernel@lists.debian.org) (gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40) {version}
0.000000||Command line: BOOT_IMAGE=/boot/vmlinuz-{release} root=UUID={uuid} ro console=tty0 console=ttyS0,115200n8
0.000000||BIOS-provided physical RAM map:
0.000000||BIOS-e820: [mem 0x0000000000000000-0x000000000009fbff] usable
0.000000||BIOS-e820: [mem 0x0000000000100000-0x00000000bffd9fff] usable
0.000000||BIOS-e820: [mem 0x0000000100000000-0x{last_address:016x}] usable
0.000000||DMI: {hardware}
0.000000||Hypervisor detected: KVM
0.000021||tsc: Detected 2500.000 MHz processor
0.046318||smpboot: Allowing {cores} CPUs, 0 hotplug CPUs
0.055402||Booting paravirtualized kernel on KVM
0.068450||Built 1 zonelists, mobility grouping on.  Total pages: {pages}
0.187650||Memory: {free_kib}K/{memory_kib}K available (14342K kernel code, 2342K rwdata, 9068K rodata, 2800K init, 17408K bss, {reserved_kib}K reserved, 0K cma-reserved)
0.312558||Calibrating delay loop (skipped) preset value.. 5000.00 BogoMIPS (lpj=10000000)
0.322374||Spectre V2 : Mitigation: Enhanced / Automatic IBRS
0.441829||smpboot: CPU0: {cpu} (family: 0x6, model: 0x55, stepping: 0x7)
0.467550||smp: Brought up 1 node, {cores} CPUs
0.601448|4|acpi PNP0A03:00: fail to add MMCONFIG information, can't access extended configuration space under this bridge
0.603982||PCI host bridge to bus 0000:00
0.711263||SCSI subsystem initialized
0.757791||NET: Registered PF_INET protocol family
0.812447||NET: Registered PF_INET6 protocol family
1.090327||ata_piix 0000:00:01.1: version 2.13
1.103172||scsi host0: ata_piix
1.108904||scsi host1: ata_piix
1.109346||ata1: PATA max MWDMA2 cmd 0x1f0 ctl 0x3f6 bmdma 0xc0a0 irq 14
1.109351||ata2: PATA max MWDMA2 cmd 0x170 ctl 0x376 bmdma 0xc0a8 irq 15
1.127615||scsi host2: Virtio SCSI HBA
1.131990|5|scsi 2:0:0:0: Direct-Access     QEMU     QEMU HARDDISK    2.5+ PQ: 0 ANSI: 5
1.163377|5|sd 2:0:0:0: [sda] {sectors} 512-byte logical blocks: ({gigabytes:.1f} GB/{gibibytes:.1f} GiB)
1.163846|5|sd 2:0:0:0: [sda] Write Protect is off
1.164702|5|sd 2:0:0:0: [sda] Write cache: enabled, read cache: enabled, doesn't support DPO or FUA
1.171038|| sda: sda1
1.172640|5|sd 2:0:0:0: [sda] Attached SCSI disk
1.205518||virtio_net virtio1 eth0: renamed from ens3
1.311094||Run /init as init process
1.782530||EXT4-fs (sda1): mounted filesystem with ordered data mode. Quota mode: none.
2.170325||systemd[1]: systemd 252.39-1~deb12u1 running in system mode (+PAM +AUDIT +SELINUX +APPARMOR +IMA +SMACK +SECCOMP +GCRYPT -GNUTLS +OPENSSL +ACL +BLKID +CURL +ELFUTILS +FIDO2 +IDN2 -IDN +IPTC +KMOD +LIBCRYPTSETUP +LIBFDISK +PCRE2 -PWQUALITY +P11KIT +QRENCODE +TPM2 +BZIP2 +LZ4 +XZ +ZLIB +ZSTD -BPF_FRAMEWORK -XKBCOMMON +UTMP +SYSVINIT default-hierarchy=unified)
2.170332||systemd[1]: Detected virtualization kvm.
2.171944||systemd[1]: Hostname set to <{name}>.
2.743301||systemd[1]: Starting systemd-journald.service - Journal Service...
2.808850||EXT4-fs (sda1): re-mounted. Quota mode: none.
2.872914||systemd[1]: Started systemd-journald.service - Journal Service.
3.412480||bridge: filtering via arp/ip/ip6tables is no longer available by default. Update your scripts to load br_netfilter if you need this.
3.640037||IPv6: ADDRCONF(NETDEV_CHANGE): eth0: link becomes ready
"""
_NFS_MESSAGES: Final = """\
8.214406||RPC: Registered named UNIX socket transport module.
8.214409||RPC: Registered udp transport module.
8.214410||RPC: Registered tcp transport module.
8.214411||RPC: Registered tcp NFSv4.1 backchannel transport module.
8.401127|5|FS-Cache: Loaded
8.402853|5|Key type dns_resolver registered
8.467719|5|NFS: Registering the id_resolver key type
8.467731|5|Key type id_resolver registered
8.467732|5|Key type id_legacy registered
"""


def list_boot_records(machine: Host) -> list[Record]:
    """Return the messages of a boot; the same machine boots with the same ones."""
    memory_bytes, capacity_bytes = machine.memory_bytes, device_bytes(machine)
    last_address = memory_bytes + 1024**3 - 1  # one gigabyte of addresses belongs to devices
    reserved_kib = 300_000
    facts = {
        "release": machine.kernel_release,
        "version": KERNEL_VERSION,
        "uuid": file_system_id(machine),
        "hardware": HARDWARE,
        "cpu": CPU_MODEL,
        "cores": machine.cpu.cores,
        "last_address": last_address,
        "pages": memory_bytes // PAGE_BYTES,
        "memory_kib": memory_bytes // 1024,
        "free_kib": memory_bytes // 1024 - reserved_kib,
        "reserved_kib": reserved_kib,
        "sectors": capacity_bytes // SECTOR_BYTES,
        "gigabytes": capacity_bytes / 1e9,
        "gibibytes": capacity_bytes / 1024**3,
        "name": machine.name,
    }
    records = []
    remote = any(mount.is_remote for mount in machine.host.files.table.mounts)
    for line in (_MESSAGES + _NFS_MESSAGES if remote else _MESSAGES).splitlines():
        up_s, level, text = line.split("|", 2)
        records.append(Record(float(up_s), int(level) if level else INFO, text.format(**facts)))
    return records
