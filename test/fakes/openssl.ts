import { execFileSync, spawnSync } from 'node:child_process'

/** Why tests that make certificates are left out; false where openssl is here. */
export const withoutOpenssl =
  spawnSync('openssl', ['version']).status === 0 ? false : 'there is no openssl to make certificates with'

/** The words of openssl for a new key without a password. */
export const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'

/** Runs openssl in a folder. The line is split at its spaces. */
export const openssl = (folder: string, line: string): void =>
  void execFileSync('openssl', line.split(' '), { cwd: folder, stdio: 'pipe' })
