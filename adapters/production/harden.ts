/** Variables through which somebody outside could look in, or change what runs. */
const opening = /^(NODE_OPTIONS|NODE_EXTRA_CA_CERTS|NODE_DEBUG|NODE_V8_COVERAGE|NODE_REPL_EXTERNAL_MODULE|LD_.*)$/
const looking =
  /^--(inspect|debug|cpu-prof|heap-prof|heapsnapshot|trace|require|import|loader|experimental-loader|eval|print)/

/** Refuses to start where the runtime was opened up, and closes the door that a signal would open later. */
export const harden = (it: NodeJS.Process): void => {
  const variable = Object.keys(it.env).find((name) => opening.test(name))
  if (variable !== undefined) throw new Error(`the enclave does not start with ${variable} set`)
  const argument = it.execArgv.find((said) => looking.test(said))
  if (argument !== undefined) throw new Error(`the enclave does not start with ${argument.split('=')[0]}`)
  it.on('SIGUSR1', () => undefined)
}

/** What a confidential process is given of the environment of the one that starts it. */
export const allowed = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    ['PATH', 'HOME', 'TZ', 'LANG', 'TMPDIR'].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  )
