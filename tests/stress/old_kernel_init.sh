#!/bin/busybox sh
# shellcheck shell=dash
# The first process of a machine that old_kernel_machine.py boots: carries out each of /jobs as the user that its first
# line names, and sends what came of it over the second serial port.
/bin/busybox --install -s /bin
export PATH=/bin LC_ALL=C
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
chmod 1777 /out /tmp

for job in /jobs/*; do
  name=${job##*/}
  read -r _ user <"$job"
  echo "job $name as $user"
  su -s /bin/sh -c "sh $job" "$user" >"/out/$name.out" 2>"/out/$name.err" </dev/null
  echo $? >"/out/$name.status"
done

dmesg >/out/kernel.log
stty -F /dev/ttyS1 raw
tar -C /out -czf - . >/dev/ttyS1
poweroff -f
