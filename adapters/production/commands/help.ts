const client = `
  --base-url U or SEALGATE_URL   where the gateway is
  --key K or SEALGATE_KEY        a key of the gateway
  --policy FILE                  what the enclave must prove; docs/evidence.md describes the file
  --measurements HEX,HEX         the enclave must be one of these
  --allow-insecure-dev           accepts a development enclave too, which proves nothing`

const ownKeys = `
  --keys FILE or SEALGATE_KEYS   the client's own keys; ./sealgate-keys.json by default`

export const overview = `sealgate [serve] [--surfaces a,b] [--workers N]   serves the gateway
sealgate keys create|list|revoke                 makes, shows and revokes keys
sealgate enclave                                 the confidential process alone, as SEALGATE_CONFIG says
sealgate seal --base-url U                       a local proxy that seals what unmodified programs send
sealgate verify URL                              shows what the enclave proves
sealgate files put|get|ls|rm                     a client's sealed files
sealgate kek new|backup|restore|rotate           a client's own keys
sealgate prices check                            tells which served models have no price
sealgate sweep [--grace MS]                      removes stored bytes without a record, and files whose time is over
sealgate --version                               shows which release it is
--help after a command shows what it takes.`

/** What each command takes. */
export const usages = {
  serve: `sealgate [serve] [--surfaces a,b] [--workers N]
  --surfaces a,b                 serves only these chapters of the interface
  --workers N                    serves with N processes; needs limits.redis
  SEALGATE_CONFIG                the configuration file; without it the environment decides
  SEALGATE_DATA                  the folder of the embedded stores; ./data by default
  HOST, PORT, SEALGATE_LOG       override server.host, server.port and log.level of the file
  SEALGATE_KEY                   a key that shall be valid; without it the first start makes and shows one`,

  keys: `sealgate keys create [--name N] [--organization O] [--user U] [--mode live|test] [--scopes a,b] [--models a,b]
                     [--addresses a,b] [--days N]
sealgate keys list [--organization O]
sealgate keys revoke ID [--organization O]
These read the same environment as sealgate serve.`,

  enclave: `sealgate enclave
  SEALGATE_CONFIG                the configuration file, which has enclave.listen
It starts with no other arguments, with no options of Node but bounds on memory, and with no variables but those that
its configuration names and a few that change nothing. It names what it refuses.`,

  seal: `sealgate seal [--port N] [--host ADDRESS] [--origin a,b] [--token T]
  --port N                       8788 by default; 0 takes any free port
  --host ADDRESS                 127.0.0.1 by default; only an address of this machine
  --origin a,b                   the pages that may use it, such as http://localhost:3000; none by default
  --token T or SEALGATE_SEAL_TOKEN  the key that every request must bring; made and shown where it is needed${client}`,

  verify: `sealgate verify URL [--json] [--save FILE]
sealgate verify --evidence FILE [--at TIME] [--json]
  --json                         prints the result as JSON
  --save FILE                    keeps the answer, the challenge and the time
  --evidence FILE                verifies a kept answer, without a network
  --at TIME                      as of this moment; as of the answer's own by default
It ends with 0 when the enclave is verified, 1 when it is refused, 2 when it cannot be reached.${client}`,

  files: `sealgate files put FILE... [--index] [--incognito] [--type T]
sealgate files get ID [--out FILE]
sealgate files ls [--search NAME] [--type T]
sealgate files rm ID...
  --index                        also indexes the file, inside the enclave
  --incognito                    keeps the file out of lists; it is removed after files.incognito
  --type T                       image, document, video, audio, archive or general
  --out FILE                     the file to write, or to overwrite; without it a new file with the sealed name
  --search NAME                  the exact name, or the id of a file or of its key${ownKeys}${client}`,

  kek: `sealgate kek new                 makes a file of keys
sealgate kek backup --out FILE   writes the keys under a passphrase
sealgate kek backup --code       prints a recovery code, for paper
sealgate kek restore --from FILE reads a backup
sealgate kek restore --code CODE reads a recovery code
sealgate kek rotate [--rehash]   puts every file under a new key; run it again after an interruption
  SEALGATE_PASSPHRASE            the passphrase; without it the command asks
  --rehash                       reads every file, so that equal files are still recognised as equal${ownKeys}
rotate also takes${client}`,

  prices: `sealgate prices check
It reads the same environment as sealgate serve, and ends with 1 where a served model has no price.`,

  sweep: `sealgate sweep [--grace MS]
  --grace MS                     how old bytes without a record must be; files.grace by default
It reads the same environment as sealgate serve.`,
} as const
