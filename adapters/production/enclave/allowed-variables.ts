/** The environment variables that a gateway passes to its enclave process. */
export const allowedVariables = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    ['PATH', 'HOME', 'TZ', 'LANG', 'TMPDIR'].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  )
