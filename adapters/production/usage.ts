const client = `
  --base-url U or SEALGATE_URL   where the gateway is
  --key K or SEALGATE_KEY        a key of the gateway
  --measurements HEX,HEX         the enclave has to be one of these
  --allow-insecure-dev           takes a development enclave too, which proves nothing`

const ownKeys = `
  --keys FILE or SEALGATE_KEYS   the client's own keys; ./sealgate-keys.json unless told`

export const overview = `sealgate [serve] [--surfaces a,b] [--workers N]   serves the gateway
sealgate keys create|list|revoke                 makes, shows and revokes keys
sealgate enclave                                 the confidential process alone, as SEALGATE_CONFIG says
sealgate seal --base-url U                       a local proxy that seals what unmodified programs send
sealgate files put|get|ls|rm                     a client's sealed files
sealgate kek new|backup|restore|rotate           a client's own keys
sealgate sweep [--grace MS]                      removes stored bytes without a record, and files whose time is over
sealgate --version                               says which one it is
With --help behind it each command says what it takes.`

/** What each command takes. */
export const usages = {
  serve: `sealgate [serve] [--surfaces a,b] [--workers N]
  --surfaces a,b                 only these chapters
  --workers N                    so many processes; limits.redis is needed
  SEALGATE_CONFIG                the file with the configuration; from the environment without one
  SEALGATE_DATA                  the folder of what is stored: ./data unless told
  HOST, PORT, SEALGATE_LOG       go before server.host, server.port and log.level of the file
  SEALGATE_KEY                   the first key; one is made and shown when there is none at all`,

  keys: `sealgate keys create [--name N] [--organization O] [--user U] [--mode live|test] [--scopes a,b] [--models a,b]
                     [--addresses a,b] [--days N]
sealgate keys list [--organization O]
sealgate keys revoke ID [--organization O]
with the environment of sealgate serve`,

  enclave: `sealgate enclave
  SEALGATE_CONFIG                the file with the configuration, which says enclave.listen`,

  seal: `sealgate seal [--port N] [--host ADDRESS]
  --port N                       8788 unless told; 0 is a free one
  --host ADDRESS                 127.0.0.1 unless told; an address of this machine alone${client}`,

  files: `sealgate files put FILE... [--index] [--incognito] [--type T]
sealgate files get ID [--out FILE]
sealgate files ls [--search NAME] [--type T]
sealgate files rm ID...
  --index                        has it indexed inside the enclave
  --incognito                    in no list, and gone after files.incognito
  --type T                       image, document, video, audio, archive or general
  --out FILE                     is written over; without it a file of the sealed name is made
  --search NAME                  the exact name, or the id of a file or of its key${ownKeys}${client}`,

  kek: `sealgate kek new                 makes a file of keys
sealgate kek backup --out FILE   writes the keys under a passphrase
sealgate kek backup --code       prints a recovery code, for paper
sealgate kek restore --from FILE reads a backup
sealgate kek restore --code CODE reads a recovery code
sealgate kek rotate [--rehash]   puts every file under a new key; goes on where it was broken off
  SEALGATE_PASSPHRASE            the passphrase; asked for unless set
  --rehash                       reads every file anew, so that equal ones are still known for equal${ownKeys}
and of rotate${client}`,

  sweep: `sealgate sweep [--grace MS]
  --grace MS                     bytes without a record are left alone so long; files.grace unless told
with the environment of sealgate serve`,
} as const
