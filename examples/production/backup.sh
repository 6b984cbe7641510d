#!/bin/sh
# Writes the rows of DATABASE_URL and the files below BLOBS to BACKUP. Rows go first: a file that comes later has no row in
# the backup, and the sweep removes it after a restore; a row without its file would be a loss.
set -eu
umask 077
mkdir -p "$BACKUP"
pg_dump --format=custom --no-owner --file="$BACKUP/rows.dump.new" "$DATABASE_URL"
# Files come and go meanwhile, of which tar tells by 1; a fault is 2.
tar -C "$BLOBS" -cf "$BACKUP/blobs.tar.new" . || [ $? -eq 1 ]
# The last backup stays until both are whole. Files go first, so that an end in between leaves no new
# row without its file.
mv "$BACKUP/blobs.tar.new" "$BACKUP/blobs.tar"
mv "$BACKUP/rows.dump.new" "$BACKUP/rows.dump"
