#!/bin/sh
# Puts a backup of backup.sh in the place of the rows of DATABASE_URL and the files below BLOBS. Gateways and MinIO are
# stopped meanwhile.
set -eu
pg_restore --clean --if-exists --no-owner --single-transaction --dbname="$DATABASE_URL" "$BACKUP/rows.dump"
find "$BLOBS" -mindepth 1 -delete
tar -C "$BLOBS" -xf "$BACKUP/blobs.tar"
