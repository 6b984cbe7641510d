#!/bin/sh
# Records the evidence of a confidential guest (SEV-SNP or TDX, Linux 6.7 or newer, as root) into a folder, and sends nothing.
set -eu
folder=${1:?usage: record-boot.sh FOLDER}
tsm=${TSM_REPORT:-/sys/kernel/config/tsm/report}
[ -d "$tsm" ] || { echo "this guest has no configfs-tsm: $tsm is missing" >&2; exit 1; }
mkdir -p "$folder"
entry=$tsm/sealgate-boot-$$
mkdir "$entry"
trap 'rmdir "$entry"' EXIT
head -c 64 /dev/urandom >"$folder/question.bin"
cat "$folder/question.bin" >"$entry/inblob"
cat "$entry/outblob" >"$folder/report.bin"
cat "$entry/provider" >"$folder/provider.txt"
# Only some hosts lay certificates beside a report.
[ ! -e "$entry/auxblob" ] || cat "$entry/auxblob" >"$folder/certificates.bin" || rm -f "$folder/certificates.bin"
date -u +%Y-%m-%dT%H:%M:%SZ >"$folder/time.txt"
uname -a >"$folder/kernel.txt"
cat /proc/cmdline >"$folder/cmdline.txt"
dmesg 2>/dev/null | grep -iE 'sev|snp|tdx|memory encryption' >"$folder/kernel-log.txt" || true
echo "recorded into $folder: read it before you share it, the report names the chip"
