import type { Changes } from './mutation.ts'

export const dialects: readonly Changes[] = [
  {
    file: 'core/dialects/print-json.ts',
    test: 'test/core/dialects/print-json.test.ts',
    changes: [
      {
        breaks: 'Other calls have their turn while a long body is printed.',
        from: '    await nextTurn()\n',
        to: '',
      },
      {
        breaks: 'A pair of surrogates is never torn.',
        from: 'if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1',
        to: '',
      },
      {
        breaks: 'A member that is undefined is left out.',
        from: 'if (it === undefined) continue',
        to: '',
      },
      {
        breaks: 'A short body costs no turn of the loop.',
        from: 'lengthOf(value, oneTurnLength) <= oneTurnLength ?',
        to: 'lengthOf(value, oneTurnLength) < 0 ?',
      },
    ],
  },
  {
    file: 'core/dialects/generate-content/spelling.ts',
    test: 'test/dialects/generate-content.test.ts',
    changes: [
      {
        breaks: 'An object with more members than the dialect has is refused.',
        from: 'const mostMembers = 256',
        to: 'const mostMembers = 257',
      },
      {
        breaks: 'An object with 256 members is taken.',
        from: 'const mostMembers = 256',
        to: 'const mostMembers = 255',
      },
    ],
  },
  {
    file: 'core/dialects/json-text.ts',
    test: 'test/core/dialects/json-text.test.ts',
    changes: [
      {
        breaks: 'An object that names a member twice is printed as it was checked.',
        from: 'return named === membersIn(value) ? members : null',
        to: 'return members',
      },
      {
        breaks: 'A name that stands twice is refused.',
        from: 'if (members.has(name)) repeated(name)',
        to: '',
      },
      {
        breaks: 'Names are compared after unescaping.',
        from: 'name = JSON.parse(text.slice(at, end)) as string',
        to: 'name = text.slice(at + 1, end - 1)',
      },
      {
        breaks: 'A member keeps its text.',
        from: 'const text = keptText(it) ?? JSON.stringify(it)',
        to: 'const text = JSON.stringify(it)',
      },
    ],
  },
  {
    file: 'core/dialects/repeated-chunks.ts',
    test: 'test/core/dialects/repeated-chunks.test.ts',
    changes: [
      {
        breaks: 'A text is replaced in its own place alone.',
        from: 'return isSame ? shape : null',
        to: 'return shape',
      },
      {
        breaks: 'An event that differs elsewhere is parsed.',
        from: 'if (!data.startsWith(first) || !data.endsWith(between[last]!)) return null',
        to: 'if (!data.startsWith(first)) return null',
      },
      {
        breaks: 'A changed copy of a chunk is printed as it is.',
        from: 'if (wording === null) return print(chunk, null)',
        to: 'if (wording === null) return print(chunk, JSON.stringify({ ...chunk, id: "c1" }))',
      },
      {
        breaks: 'A stream whose events never repeat a shape is only parsed after a while.',
        from: 'const mostStrange = 4',
        to: 'const mostStrange = 400',
      },
    ],
  },
  {
    file: 'core/dialects/rename-model.ts',
    test: 'test/core/dialects/rename-model.test.ts',
    changes: [
      {
        breaks: 'The caller reads its own name of the model.',
        from: 'if (from === to) return json',
        to: 'return json',
      },
      {
        breaks: 'Where two members may be the name, the answer is printed anew.',
        from: 'places.length !== 1 || ',
        to: '',
      },
    ],
  },
  {
    file: 'core/dialects/messages/events.ts',
    test: 'test/dialects/relay.test.ts',
    changes: [
      {
        breaks: 'A relayed stream that breaks is gone on with in the block that it left open.',
        from: 'open = isKind(content_block.type) ? { kind: content_block.type, index } : null',
        to: 'open = null',
      },
      {
        breaks: 'A relayed stream has one end.',
        from: 'if (it.stopped) return',
        to: '',
      },
    ],
  },
  {
    file: 'core/http/frames.ts',
    test: 'test/core/http/frames.test.ts',
    changes: [
      {
        breaks: 'A frame tells its bytes, not its characters.',
        from: 'Buffer.byteLength(part).toString(16)',
        to: 'part.length.toString(16)',
      },
      {
        breaks: 'HTTP/1.0 gets no frames.',
        from: "response.req.httpVersion !== '1.1' || ",
        to: '',
      },
      {
        breaks: 'Code that wraps the response sees no frame.',
        from: ' || response.write !== ServerResponse.prototype.write',
        to: '',
      },
      {
        breaks: 'The last frame ends the answer.',
        from: "last: '0\\r\\n\\r\\n'",
        to: 'last: null',
      },
    ],
  },
  {
    file: 'core/dialects/responses/namespaces.ts',
    test: 'test/dialects/responses.test.ts',
    changes: [
      {
        breaks: 'A call of a tool bears the namespace that the caller knows it by.',
        from: 'known.set(flat, { name, namespace,',
        to: 'known.set(flat, { name, namespace: null,',
      },
      {
        breaks: 'A name is no longer than backends take.',
        from: 'if (whole.length <= longest) return whole',
        to: 'if (whole.length > 0) return whole',
      },
      {
        breaks: 'A call is never that of two tools.',
        from: 'other !== undefined && other.namespace !== namespace',
        to: 'other === null',
      },
    ],
  },
]
