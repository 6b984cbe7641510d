/** Integer samples, little-endian, with interleaved channels. */
export interface Sound {
  /** In samples per second. */
  readonly rate: number
  readonly channels: number
  /** In bits per sample of one channel. */
  readonly bits: number
  readonly samples: Uint8Array
}

export const secondsOf = ({ rate, channels, bits, samples }: Sound): number =>
  samples.length / (rate * channels * (bits / 8))

/** The header has 44 bytes. Throws RangeError for sounds of 4 GiB and more, whose length has no room there. */
export const wavOf = ({ rate, channels, bits, samples }: Sound): Uint8Array => {
  const frame = channels * (bits / 8)
  const bytes = Buffer.alloc(44 + samples.length)
  bytes.write('RIFF', 0, 'latin1')
  bytes.writeUInt32LE(36 + samples.length, 4)
  bytes.write('WAVEfmt ', 8, 'latin1')
  bytes.writeUInt32LE(16, 16)
  bytes.writeUInt16LE(plain, 20)
  bytes.writeUInt16LE(channels, 22)
  bytes.writeUInt32LE(rate, 24)
  bytes.writeUInt32LE(rate * frame, 28)
  bytes.writeUInt16LE(frame, 32)
  bytes.writeUInt16LE(bits, 34)
  bytes.write('data', 36, 'latin1')
  bytes.writeUInt32LE(samples.length, 40)
  bytes.set(samples, 44)
  return bytes
}

/** The sound of a WAV file, streamed ones included. Null when the bytes are none, or compressed. */
export const soundOf = (wav: Uint8Array): Sound | null => {
  const bytes = Buffer.from(wav.buffer, wav.byteOffset, wav.byteLength)
  if (bytes.length < 12 || bytes.toString('latin1', 0, 4) !== 'RIFF') return null
  if (bytes.toString('latin1', 8, 12) !== 'WAVE') return null
  let told: Omit<Sound, 'samples'> | null = null
  for (let at = 12; at + 8 <= bytes.length;) {
    const name = bytes.toString('latin1', at, at + 4)
    const length = bytes.readUInt32LE(at + 4)
    const content = bytes.subarray(at + 8, at + 8 + length)
    if (name === 'fmt ' && content.length >= 16) told = toldBy(content)
    if (name === 'data') return told && { ...told, samples: wholeFrames(content, told) }
    at += 8 + length + (length % 2)
  }
  return null
}

/** Joins sounds one after the other. Null when their formats differ. */
export const joined = (sounds: readonly Sound[]): Sound | null => {
  const [first] = sounds
  if (!first) return null
  const { rate, channels, bits } = first
  if (!sounds.every((sound) => sound.rate === rate && sound.channels === channels && sound.bits === bits)) return null
  return { rate, channels, bits, samples: Buffer.concat(sounds.map(({ samples }) => samples)) }
}

/** The two forms of PCM: the second form names its kind further behind in the header. */
const plain = 1
const extensible = 0xfffe

const toldBy = (format: Buffer): Omit<Sound, 'samples'> | null => {
  const kind = format.readUInt16LE(0)
  const packed = kind !== plain && !(kind === extensible && format.length >= 26 && format.readUInt16LE(24) === plain)
  const told = { rate: format.readUInt32LE(4), channels: format.readUInt16LE(2), bits: format.readUInt16LE(14) }
  return packed || told.rate === 0 || told.channels === 0 || ![8, 16, 24, 32].includes(told.bits) ? null : told
}

/** A cut file may end inside a frame, which would swap the channels of a sound behind it. */
const wholeFrames = (content: Buffer, { channels, bits }: Omit<Sound, 'samples'>): Uint8Array =>
  content.subarray(0, content.length - (content.length % (channels * (bits / 8))))
