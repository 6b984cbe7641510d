/** Options of each command that calls a gateway. */
const client = `
  --base-url U or SEALGATE_URL   where the gateway is
  --key K or SEALGATE_KEY        a key of the gateway
  --policy FILE                  what the enclave must prove; docs/evidence.md describes the file
  --memory FILE                  remembers the highest numbers of lists and releases; lower ones are refused
  --measurements HEX,HEX         the enclave must be one of these
  --allow-insecure-dev           accepts a development enclave too, which proves nothing`

const ownKeys = `
  --keys FILE or SEALGATE_KEYS   the client's own keys; ./sealgate-keys.json by default`

const bundle = `
BUNDLE demands a bundle of Sigstore too, without a network; sealgate add sigstore brings what verifies it.
  --bundle FILE                  the bundle, about the list or the package
  --identity TEXT                whose certificate signed it, letter for letter
  --issuer URL                   who vouches for that identity
  --trusted-root FILE            authorities and logs, as Sigstore's trusted_root.json names them`

/** What `sealgate --help` prints: one line for each command. */
export const helpOverview = `sealgate [serve] [--port N] [--surfaces a,b] [--workers N]   serves the gateway
sealgate check [FILE]                            shows what is wrong with a configuration, and what it reaches
sealgate keys create|list|show|update|rotate|revoke   makes, shows, changes and revokes keys
sealgate models                                  shows the models, and who serves them
sealgate usage [--by day]                        adds up what was used
sealgate audit                                   shows administrative acts
sealgate enclave                                 the confidential process alone, as SEALGATE_CONFIG says
sealgate seal --base-url U [-- PROGRAM]          a local proxy that seals what unmodified programs send
sealgate console --gateway URL                   the console from this installation, with names and content of sealed files
sealgate mcp [--root FOLDER] [--tools a,b]       sealed tools for agents, over standard input and output
sealgate verify URL                              shows what the enclave proves
sealgate releases digest|write|sign|check FILE   lists of releases: makes, signs and checks them
sealgate release write|sign|verify FOLDER        a release with its bill of materials and provenance: makes, signs, verifies
sealgate receipt verify|prove FILE               shows what a kept receipt proves, without a network; its place in the log
sealgate files put|get|ls|rm                     a client's sealed files
sealgate kek new|backup|restore|rotate           a client's own keys
sealgate calibrate MODEL --cases FILE            fits how sure a model's decisions are, and what may be automated
sealgate prices check                            tells which served models have no price
sealgate sweep [--grace MS]                      removes stored bytes without a record, and files whose time is over
sealgate doctor                                  shows which optional packages and programs are there
sealgate add all                                 installs all optional packages into this project
sealgate --version, -v                           shows which release it is
--help after a command shows what it takes.`

/** What each command takes. */
export const commandUsages = {
  serve: `sealgate [serve] [--port N] [--surfaces a,b] [--workers N]
  --port N                       8787 by default; 0 takes any free port
  --surfaces a,b                 serves only these chapters and surfaces
  --workers N                    serves with N processes; needs limits.redis
  SEALGATE_CONFIG                the configuration file; without it the environment decides
  SEALGATE_DATA                  the folder of the embedded stores; ./data by default
  HOST, PORT, SEALGATE_LOG       override server.host, server.port and log.level of the file
  SEALGATE_KEY                   a key that shall be valid; without it the first start makes one`,

  check: `sealgate check [FILE] [--offline]
  FILE                           a configuration; SEALGATE_CONFIG or the environment by default
  --offline                      looks at the configuration alone, and asks nobody
It ends with 1 where anything is wrong or out of reach.`,

  models: `sealgate models [--json]
It reads the same environment as sealgate serve.`,

  usage: `sealgate usage [--by organization|team|user|key|model|backend|tag|day] [--from DAY] [--to DAY] [--csv|--json]
  --from DAY, --to DAY           days of UTC such as 2030-01-31, both inclusive
It reads the same environment as sealgate serve.`,

  audit: `sealgate audit [--organization O] [--limit N] [--json]
  --limit N                      the newest so many; 50 by default
It reads the same environment as sealgate serve.`,

  keys: `sealgate keys create [--name N] [--organization O] [--user U] [--team T] [--mode live|test] [--scopes a,b|all]
                     [--models a,b] [--addresses a,b] [--days N] [--json]
sealgate keys list [--organization O] [--json]
sealgate keys show ID [--organization O] [--json]
sealgate keys update ID [--name N] [--models a,b|all] [--addresses a,b|all] [--days N|never] [--json]
sealgate keys rotate ID [--keep] [--json]
sealgate keys revoke ID [--organization O] [--json]
  --cost-per-month AMOUNT        a budget of the key; also --cost-per-week and --cost-per-day
  --requests-per-second N        a limit of the key; also --bytes-per-minute, --concurrent-requests, --tokens-per-minute,
                                 --tokens-per-day and --audio-minutes-per-day; none takes a limit away, default is the
                                 configuration's; create, update and rotate take them
  --scopes a,b                   chat, sound, models, files and tools by default; all names every one
  --keep                         leaves the old key valid beside the new one
These read the same environment as sealgate serve.`,

  enclave: `sealgate enclave
  SEALGATE_CONFIG                the configuration file, which has enclave.listen
It starts with no other arguments, with no options of Node but bounds on memory, and with no variables but those that
its configuration names and a few that change nothing. It names what it refuses.`,

  seal: `sealgate seal [--port N] [--host ADDRESS] [--origin a,b] [--token T] [--streams N]
              [--redact] [--guards FILE]
sealgate seal -- PROGRAM [ARGUMENT...]
  --port N                       8788 by default; 0 takes any free port
  --host ADDRESS                 127.0.0.1 by default; only an address of this machine
  --origin a,b                   the pages that may use it, such as http://localhost:3000; none by default
  --token T or SEALGATE_SEAL_TOKEN  the key that every request must bring; made and shown where it is needed
  --streams N                    sealed streams at once, others wait; 1 by default, as the gateway gives a key
  --redact                       hides numbers, keys and addresses before sealing, and puts them back into answers
  --guards FILE                  guards of this machine, as the configuration has them under guards
  -- PROGRAM                     starts the program with its address, a key of this run and nothing else; ends with it${client}`,

  console: `sealgate console --gateway URL [--port N] [--policy FILE] [--keys FILE]
sealgate console --hashes
  --gateway URL                  where the gateway is; the same as --base-url
  --port N                       8789 by default; 0 takes any free port
  --hashes                       prints the SHA-256 of each script of the console of this installation
It prints an address with a new token. A program with the token uses your key, and reads and stores your files.${ownKeys}${client}`,

  mcp: `sealgate mcp [--root FOLDER]... [--hidden] [--tools a,b] [--out FOLDER] [--keys FILE]
  --root FOLDER                  tools may read files under it; none by default; may stand more than once
  --hidden                       hidden files and those that git ignores may be read too
  --tools a,b                    offers these tools alone
  --out FOLDER                   where files that tools make are put, outside every --root; a new temporary folder by default
  --keys FILE or SEALGATE_KEYS   the client's own keys; without them keys of one session, whose files leave with it${client}`,

  verify: `sealgate verify URL [--json] [--save FILE]
sealgate verify --evidence FILE [--at TIME] [--json]
sealgate verify --service tinfoil|dstack|near --evidence FILE [--policy FILE] [--nonce HEX] [--at TIME] [--json]
sealgate verify --boot FOLDER [--collateral FOLDER] [--json]
  --json                         prints the result as JSON
  --save FILE                    keeps the answer, the challenge and the time
  --evidence FILE                verifies a kept answer, without a network; a service's document, or a recording's folder
  --at TIME                      as of this moment; as of the answer's own by default
  --service NAME                 judges the document of a service that exists; docs/services.md describes the policy
  --nonce HEX                    the 32 bytes that the service was asked with
  --collateral FOLDER            certificates and lists of the makers; without it the makers are asked
  --gpu-tokens FILE              what NVIDIA's service said of the GPUs, with --gpu-keys FILE, its keys
  --boot FOLDER                  judges what examples/record-boot.sh recorded of a confidential guest
It ends with 0 when the enclave is verified, 1 when it is refused, 2 when it cannot be reached.${client}`,

  releases: `sealgate releases digest CONFIG
sealgate releases write FILE --release FILE [--name N] [--days N] [--at TIME]
sealgate releases check FILE --signers HEX,HEX [--threshold N] [--at TIME] [--json] [BUNDLE]
sealgate releases sign FILE --signer FILE
  --release FILE                 JSON with version, digest, covers and images; it becomes the current one
  --name N                       what the list is called; needed for a first one
  --days N                       how long the list counts, 90 at most and by default
  --signers HEX,HEX              the keys that count, Ed25519
  --threshold N                  how many of them have to sign; all by default
  --at TIME                      as of this moment; now by default
  --signer FILE                  a key of Ed25519 in PEM; its signature goes into FILE.sig${bundle}
digest shows the release digest of an enclave that is started alone with CONFIG. The signatures of FILE are in FILE.sig. check ends with 0 when the list counts, 1 when it is refused.`,

  release: `sealgate release write FOLDER --config FILE --images FILE --builder URI [--source CLONE] [--name N] [--days N] [--at TIME]
sealgate release sign FOLDER --signer FILE [--source CLONE]
sealgate release verify FOLDER --config FILE --signers HEX,HEX [--threshold N] [--source CLONE] [--at TIME] [--json] [BUNDLE]
  FOLDER                         holds the package, its bill of materials, its provenance and releases.json
  --source CLONE                 a clone of the repository after npm ci; the working folder by default
  --config FILE                  the configuration of an enclave that is started alone
  --images FILE                  JSON with covers and images, as in a list of releases
  --builder URI                  who builds; the provenance names it
  --signers HEX,HEX              the keys that count, Ed25519
  --threshold N                  how many of them have to sign; all by default${bundle}
write builds and packs the commit of the clone. verify builds it again and compares every byte. verify ends with 0 when all of it holds, 1 when it is refused, 2 when it can't be looked at.`,

  receipt: `sealgate receipt verify FILE --evidence FILE [--log PROOF] [--policy FILE] [--json]
sealgate receipt prove FILE [--save PROOF] [--base-url U] [--key K] [--policy FILE] [--json]
  --evidence FILE                what sealgate verify --save kept while the key of the receipt was published
  --log PROOF                    what prove --save kept: shows that the receipt stands in the log
  --policy FILE                  what the enclave must prove; docs/evidence.md describes the file
  --measurements HEX,HEX         the enclave must be one of these
  --allow-insecure-dev           accepts a development enclave too, which proves nothing
prove asks the gateway for the place of the receipt in its log, and checks it. Both end with 0 when the receipt holds, 1 when it is refused, 2 for a file that can't be read.`,

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

  doctor: `sealgate doctor
It prints the command that installs what is not there.`,

  add: `sealgate add all|ocr|voices|speech|objects|codes|spreadsheets|sigstore... [LANGUAGE...] [--dry-run]
  LANGUAGE                       behind ocr: what it reads beside English, such as deu, jpn or chi_sim
  --dry-run                      prints the command alone
It uses the package manager of the project in the working folder, npm by default.`,

  calibrate: `sealgate calibrate MODEL --cases FILE [--errors S] [--certainty S] [--check S] [--plot FILE] [--write] [--json]
  --cases FILE                   questions with their right answers, one JSON a line; docs/operations.md describes it
  --errors S                     the share of automated answers that may be wrong; 0.05 by default
  --certainty S                  how surely that shall hold; 0.95 by default
  --samples N                    reads that are averaged, as callers will ask for; 1 by default
  --seed N                       draws the held-out half; 1 by default
  --check CONFIDENCE             fits nothing; tells whether answers of at least this confidence keep --errors as calibrated now
  --plot FILE                    draws claims against truth, as SVG
  --write                        writes models.MODEL.calibration into the file that SEALGATE_CONFIG names
It reads the same environment as sealgate serve, and ends with 1 where the held-out half is answered no better, or with --check
where the cases do not prove the promise.`,

  prices: `sealgate prices check
It reads the same environment as sealgate serve, and ends with 1 where a served model has no price.`,

  sweep: `sealgate sweep [--grace MS]
  --grace MS                     how old bytes without a record must be; files.grace by default
It reads the same environment as sealgate serve.`,
} as const
