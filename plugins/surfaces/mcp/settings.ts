import * as v from 'valibot'
import { section } from '../../../core/ports/section.ts'

const address = v.pipe(
  v.string(),
  v.url('an address that begins with http:// or https://'),
  v.regex(/^https?:/, 'an address that begins with http:// or https://'),
)

const server = v.pipe(
  v.strictObject({
    /** Where the server takes messages, by streamable HTTP. */
    url: v.optional(address),
    /** Headers of each request to `url`, such as a key. */
    headers: v.optional(v.record(v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/, 'the name of a header')), v.string()), {}),
    /** A program that speaks the protocol on standard input and output. */
    command: v.optional(v.pipe(v.string(), v.minLength(1))),
    args: v.optional(v.array(v.string()), []),
    /** All that the program finds in its environment, beside `PATH`. */
    env: v.optional(v.record(v.string(), v.string()), {}),
    /** Whether the program has a network. */
    network: v.optional(v.boolean(), false),
    /** Tools that are offered; all when absent. */
    tools: v.optional(v.array(v.string())),
    /** Organisations whose keys may use the server; all when absent. */
    organizations: v.optional(v.array(v.string())),
    /** The price of a call. */
    price: v.optional(v.pipe(v.number(), v.finite('a finite number'), v.minValue(0)), 0),
    /** Ms for an answer. */
    timeout: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 60_000),
    /** Whether a tool that changes is withheld until the configuration is read again. */
    pin: v.optional(v.boolean(), false),
  }),
  v.check(({ url, command }) => (url === undefined) !== (command === undefined), 'either url or command'),
)

const shape = v.optional(
  v.strictObject({
    /** Where clients find `/mcp`, with its path; without it only this machine's names and plain addresses are served. */
    url: v.optional(address),
    /** Whether two tools, one that searches and one that calls, stand for all tools of the servers. */
    search: v.optional(v.boolean(), true),
    /** Servers whose tools are offered, by the name that stands in front of each tool. */
    servers: v.optional(
      v.record(
        v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,31}$/, 'a name of lower-case letters, digits and dashes')),
        server,
      ),
      {},
    ),
  }),
  {},
)

/** A server of the protocol whose tools the gateway offers. */
export type ServerSettings = v.InferOutput<typeof server>

/** Where agents find the tools in the clear, and the servers whose tools are offered beside them. */
export const mcpSettings = section('mcp', shape)
