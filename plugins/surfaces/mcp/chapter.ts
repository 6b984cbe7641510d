import type { Chapter } from '../../../core/ports/chapter.ts'

const tool = {
  name: 'getTime',
  description: 'Tells the current date and time.',
  inputSchema: { type: 'object', properties: { timezone: { type: 'string' } } },
}

const none = { empty: { 405: 'The server begins no messages and keeps no sessions.' } } as const

/** Tools in the clear for agents. */
export const chapter: Chapter = {
  name: 'Agents',
  about:
    'Tools that may run in the clear, by the Model Context Protocol over HTTP. `sealgate mcp` offers the sealed tools on the caller’s own machine.',
  words: {
    jsonrpc: 'Always `2.0`.',
    id: 'The id of the call, which its answer repeats. A message without one is a notification.',
    method: 'The method of the protocol, such as `tools/list`.',
    params: 'The parameters of the method, as the protocol has them.',
    'error.code': 'The number of the protocol’s error.',
    'error.data': 'The facts of the error: the status, the code and the id of the request.',
    resource: 'The address of the tools, as the setting `mcp.url` says.',
    resource_name: 'The name of the server.',
    bearer_methods_supported: 'How a key is sent: in the header `Authorization`.',
    scopes_supported: 'Scopes that a key may need.',
  },
  operations: {
    'POST /mcp': {
      about: 'Lists hold only the tools that the scopes of the key allow. The server keeps no sessions.',
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
      answer: { jsonrpc: '2.0', id: 1, result: { tools: [tool] } },
      empty: { 202: 'The message is a notification, which has no answer.' },
      asks: {
        accept: 'Both `application/json` and `text/event-stream`, as the protocol asks.',
        'mcp-protocol-version': 'The revision of the protocol.',
      },
    },
    'GET /mcp': none,
    'DELETE /mcp': none,
    'GET /.well-known/oauth-protected-resource/mcp': {
      about: 'It is there when the setting `mcp.url` is set.',
      answer: {
        resource: 'http://127.0.0.1:8787/mcp',
        resource_name: 'sealgate',
        bearer_methods_supported: ['header'],
        scopes_supported: ['tools.execute', 'chats.completion'],
      },
      statuses: [404],
    },
  },
}
