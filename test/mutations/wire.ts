import type { Changes } from './mutation.ts'

const test = 'test/core/sealed/wire/wire.test.ts'
const bound = 'test/core/sealed/wire-bound.test.ts'
const edges = 'test/core/sealed/wire/wire-edges.test.ts'

export const wire: readonly Changes[] = [
  {
    file: 'core/sealed/wire/frames.ts',
    test,
    changes: [
      {
        breaks: 'Nothing opens behind a bad frame.',
        from: 'ended = plain === null || flag !== flags.data',
        to: 'ended = plain !== null && flag !== flags.data',
      },
      { breaks: 'Nothing opens behind a frame of no kind.', from: '      ended = true\n', to: '' },
      { breaks: 'Frames have one order.', from: 'same(nonce, frame.subarray(0, 24)) ?', to: 'nonce.length > 0 ?' },
      {
        breaks: 'Nothing opens behind the last frame.',
        from: 'ended = plain === null || flag !== flags.data',
        to: 'ended = plain === null',
      },
      {
        breaks: 'Nothing opens behind the end.',
        from: 'if (ended || frame.length < 24 + 16',
        to: 'if (frame.length < 24 + 16',
      },
      { breaks: 'A frame is bounded.', from: ' || frame.length > mostBytes', to: '' },
      { breaks: 'A frame has its kind inside its nonce.', from: 'Uint8Array.of(flag))', to: 'Uint8Array.of(0))' },
      {
        breaks: 'Nothing is sealed behind the last frame.',
        from: 'if (ended || index > 0xffffffff) throw',
        to: 'if (index > 0xffffffff) throw',
      },
      { breaks: 'A frame is padded.', from: 'seal(key, nonce, padded(plain, pad))', to: 'seal(key, nonce, plain)' },
    ],
  },
  {
    file: 'core/sealed/wire/keyset.ts',
    test,
    changes: [
      { breaks: 'No key stands twice in a keyset.', from: 'inOrder(last, key) >= 0', to: 'inOrder(last, key) > 0' },
      {
        breaks: 'Keys of a keyset have one order.',
        from: '    if (last !== undefined && inOrder(last, key) >= 0) return null\n',
        to: '    void last\n',
      },
      {
        breaks: 'A key has the length of its kind.',
        from: '    if (known !== undefined && known.publicKey !== publicKey.length) return null\n',
        to: '',
      },
      {
        breaks: 'Keys of unknown kinds are kept.',
        from: 'known !== undefined && known',
        to: 'known?.publicKey === undefined || known',
      },
      { breaks: 'Nothing stands behind a keyset.', from: '  if (at !== bytes.length) return null\n', to: '' },
      { breaks: 'A keyset begins with its name.', from: '!same(head, magic) || ', to: '' },
      {
        breaks: 'A report binds the challenge.',
        from: "concat(sha256(concat(utf8('rvenc-report/1\\0'), keyset)), challenge)",
        to: "concat(sha256(concat(utf8('rvenc-report/1\\0'), keyset)), new Uint8Array(32))",
      },
      {
        breaks: 'A kid names the kind of its key.',
        from: "concat(utf8('rvenc kid\\0'), number(kem, 2), publicKey)",
        to: "concat(utf8('rvenc kid\\0'), publicKey)",
      },
    ],
  },
  {
    file: 'core/sealed/wire/file.ts',
    test,
    changes: [
      { breaks: 'A content is never cut at a chunk.', from: 'Uint8Array.of(last ? 1 : 0)', to: 'Uint8Array.of(0)' },
      { breaks: 'Chunks have one order.', from: 'concat(prefix, number(index, 4)', to: 'concat(prefix, number(0, 4)' },
      {
        breaks: 'A content has its chunks.',
        from: 'if (last || bytes.length !== headLength',
        to: 'if (bytes.length !== headLength',
      },
      {
        breaks: 'A content begins with zeros behind its prefix.',
        from: ' || bytes.subarray(prefixLength).some((byte) => byte !== 0)',
        to: '',
      },
      {
        breaks: 'A damaged chunk ends the content.',
        from: '    if (plain === null) throw damaged()\n',
        to: '    if (plain === null) continue\n',
      },
      {
        breaks: 'Name and kind of a file have keys of their own.',
        from: 'const plain = openWith(fileKey(dek, label), sealed)',
        to: "const plain = openWith(fileKey(dek, label), sealed) ?? openWith(fileKey(dek, 'name'), sealed)",
      },
      { breaks: 'A wrapped key is one of 32 bytes.', from: 'return key.length === 32 ? key : null', to: 'return key' },
      {
        breaks: 'A wrapped key has 40 bytes.',
        from: '  if (wrapped.length !== 40) return null\n',
        to: '',
        equivalent: 'Only 40 bytes unwrap to 32; the line bounds the work on anything longer.',
      },
    ],
  },
  {
    file: 'core/sealed/wire/hex.ts',
    test,
    changes: [
      {
        breaks: 'Hex is of lower case.',
        from: 'decoded(text, most, lower)',
        to: 'decoded(text, most, either)',
      },
      { breaks: 'Hex is even.', from: 'text.length % 2 !== 0 || ', to: '' },
      { breaks: 'Hex is bounded.', from: ' || text.length > most * 2', to: '' },
      { breaks: 'Hex has no other letters.', from: '    if ((high | low) === 255) return null\n', to: '' },
    ],
  },
  {
    file: 'core/sealed/wire/kem.ts',
    test: edges,
    changes: [
      {
        breaks: 'A point of low order agrees on nothing.',
        from: "  if (shared.every((byte) => byte === 0)) throw new Error('No shared secret')\n",
        to: '',
        equivalent: 'Both implementations of X25519 throw for those points before; the line stands for a third.',
      },
      {
        breaks: 'A secret of X25519 is never the raw one.',
        from: 'return (cipherText) => dhkem(agree(seed, cipherText), cipherText, publicKey)',
        to: 'return (cipherText) => agree(seed, cipherText)',
      },
      {
        breaks: 'A secret of X25519 is bound to its ciphertext.',
        from: 'const context = concat(cipherText, publicKey)',
        to: 'const context = concat(publicKey, publicKey)',
      },
      {
        breaks: 'A secret of X-Wing is bound to its point.',
        from: 'agree(secret, point), point, publicKey, xWingLabel',
        to: 'agree(secret, point), publicKey, publicKey, xWingLabel',
      },
      {
        breaks: 'A secret of X-Wing bears its label.',
        from: 'publicKey, xWingLabel))',
        to: 'publicKey))',
      },
    ],
  },
  {
    file: 'core/sealed/wire/binding.ts',
    test: bound,
    changes: [
      { breaks: 'A binding fixes the id.', from: '    utf8(it.id),\n', to: '' },
      { breaks: 'A binding fixes the version.', from: '    utf8(it.version),\n', to: '' },
      { breaks: 'A binding fixes the size.', from: '    number(it.size, 8),\n', to: '' },
      {
        breaks: 'A binding fixes the content.',
        from: '    hash,\n    clientHash ?? noHash,\n    utf8(it.kid)',
        to: '    clientHash ?? noHash,\n    utf8(it.kid)',
      },
      { breaks: 'A binding fixes the wrapped key.', from: '    it.wrappedDek,\n', to: '' },
      { breaks: 'A binding fixes its revision.', from: '    number(revision, 4),\n  ]', to: '  ]' },
      {
        breaks: 'A binding that does not hold is none.',
        from: 'return same(tagOf(bindKey, facts, binding), bytes.subarray(69)) ? binding : null',
        to: 'return binding',
      },
      {
        breaks: 'A binding has its length.',
        from: 'bytes.length !== bindingLength || ',
        to: '',
        equivalent: 'The tag reaches to the end of the bytes, and a tag of another length equals none.',
      },
      { breaks: 'A binding has its version.', from: ' || bytes[0] !== 1', to: '' },
      {
        breaks: 'An id bears the mark of its owner.',
        from: 'bytes !== null && same(bytes.subarray(drawn), markOf(markKey, bytes.subarray(0, drawn)))',
        to: 'bytes !== null',
      },
      {
        breaks: 'A bound key says so.',
        from: 'same(dek.subarray(free), signOf(dek.subarray(0, free)))',
        to: 'dek.length > 0',
      },
      { breaks: 'A part with a key has nothing behind it.', from: ' || rest.length !== end + 41', to: '' },
      { breaks: 'A part with a key has a key.', from: '  if (part.length < 32) return null\n', to: '' },
    ],
  },
  {
    file: 'core/sealed/wire/schedule.ts',
    test: edges,
    changes: [
      {
        breaks: 'A stream has its own key for each request.',
        from: "derive(sharedSecret, requestNonce, 'rvenc/1 s2c/stream', 32)",
        to: "derive(sharedSecret, undefined, 'rvenc/1 s2c/stream', 32)",
      },
    ],
  },
  {
    file: 'core/sealed/wire/ml-kem.ts',
    test: edges,
    changes: [
      {
        breaks: 'A remembered public key is a copy.',
        from: '  const own = publicKey.slice()\n',
        to: '  const own = publicKey\n',
      },
      {
        breaks: 'A public key that changes in its place is another key.',
        from: 'last !== null && same(last.publicKey, publicKey)',
        to: 'last !== null && last.publicKey.length === publicKey.length',
      },
    ],
  },
  {
    file: 'core/sealed/wire/aead.node.ts',
    test: edges,
    changes: [
      {
        breaks: 'A long text is sealed whole.',
        from: 'cipher.update(plain.subarray(at, at + slice)), at)',
        to: 'cipher.update(plain.subarray(at, at + slice)), 0)',
      },
      { breaks: 'A nonce has 24 bytes.', from: ' || nonce.length !== 24', to: '' },
      { breaks: 'A key has 32 bytes.', from: 'key.length !== 32 || ', to: '' },
      { breaks: 'Sealed bytes are whole.', from: '    decipher.final()\n', to: '' },
      {
        breaks: 'Bytes that go beside a seal are sealed with it.',
        from: '    if (aad !== undefined) decipher.setAAD(aad, { plaintextLength: body.length })\n',
        to: '',
      },
    ],
  },
]
