/** The public entries, each with the values and the types that it exports. They go on working in every 2.x. */
export interface PublicEntry {
  readonly values: readonly string[]
  readonly types: readonly string[]
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

export const publicEntries: Readonly<Record<string, PublicEntry>> = {
  sealgate: {
    values: words('createGateway'),
    types: words('Adapters Gateway'),
  },
  'sealgate/memory': {
    values: words('memory'),
    types: [],
  },
  'sealgate/production': {
    values: words('fromConfig production renewed'),
    types: words('RunningStand'),
  },
  'sealgate/plugin': {
    values: words(`
      Aborted BadRequest Conflict Expired Forbidden GatewayError HttpAlone NotFound Overdue TooLarge
      TooMany Unauthorized Unavailable Unconfigured Unreadable UpstreamFailed WrongSettings flaw isPlugin
      plugin use
    `),
    types: words('AnyPlugin Facts FailedFacts Flaw Plugin TooManyFacts Validator'),
  },
  'sealgate/route': {
    values: words(`
      ChatRequest bytes chatNeeds data endMark events json printChunk printCompletion refused route split
      streamedAnswer text usageOf wholeAnswer wireUsage
    `),
    types: words(`
      Access AnyRoute Body Bound Broken DialectChat Params Quiet Render Reply Request Route ServerEvent
      SpokenEvents WholeAnswer
    `),
  },
  'sealgate/providers': {
    values: words(`
      BaseUrl accepted asSystem base64Beside chatBackend chunksOf createdAt dataUrlOf decisionBackend
      decisionsForm eventItems faultOf fieldsOf finish form formOf garbled hostedChat imagesBeside
      imagesByName imagesInState itemsOf lineItems mediaOf mimeOfFormat onlyMembers parseDecisions
      parseObject parseSystemOne printDecisions printSystemOne readBytes readObject readText refusedFields
      retryAfterOf signIn signedFetch sseEvents transcriptOf transcriptStream usageOf vectorsOf wholeOf
    `),
    types: words(`
      Account ChatBackend ChatUpstream DecisionBackend DecisionForm FormField FormFile HostedChat SignIn
      SseEvent TokenRequest
    `),
  },
  'sealgate/client': {
    values: words('connect newKek newRagDek refusalLines rewrapRagDek verdictLines'),
    types: words('Client ConnectOptions Files'),
  },
  'sealgate/evidence': {
    values: words('PolicyError appraise inspect parsePolicy platformOf platforms'),
    types: words('PlatformPolicy Question Verdict'),
  },
  'sealgate/services': {
    values: words('judgeService parseServicePolicy'),
    types: words('ProvenMachine ServicePolicy ServiceQuestion ServiceVerdict'),
  },
  'sealgate/wire': {
    values: words(`
      aead areReceiptKeys bucket bytesOf checks chunkLength clientHash concat encapsulate enclaveKid
      fileKey flags frameOpener frameSealer freshNonce fromHex isContinued isInLog kekId kemNames kemOf
      kems lengths newest nonceLength number numberOf open openContent openHead openJson openLabel
      openReceipt openWhole openWith order padded parseKeyset printKeyset publicKeyOf ragRowKey ragWrapKey
      reportData requestDigest same seal sealContent sealJson sealLabel sealWhole sealWith sealedLength
      streamKey textOf toHex unwrapKey utf8 wrapKey
    `),
    types: words(
      'Aead Check EnclaveKey Flag Frame Head HeadFacts Kem KemName KeysetBody LogState Receipt ReceiptFacts',
    ),
  },
  'sealgate/ports/blob-store': {
    values: words('BlobStore'),
    types: words('Range'),
  },
  'sealgate/ports/cache': {
    values: words('Cache'),
    types: [],
  },
  'sealgate/ports/enclave': {
    values: words('Enclave'),
    types: words('EnclaveFile EnclaveFiles Evidence Grant Kept Keyset MadeLabels SealedReply Trailer'),
  },
  'sealgate/ports/platform': {
    values: words('Clock Fetch Log Random'),
    types: words('Alarm Answer Ask Door LogFacts'),
  },
  'sealgate/ports/metadata-store': {
    values: words('MetadataStore kind'),
    types: words('Kind Query Row'),
  },
  'sealgate/ports/attester': {
    values: words('Prover'),
    types: [],
  },
  'sealgate/ports/rate-limiter': {
    values: words('RateLimiter'),
    types: words('Allowance Charge Concern Place Spent'),
  },
  'sealgate/ports/cluster': {
    values: words('Siblings'),
    types: words('Measured'),
  },
  'sealgate/ports/tool': {
    values: words('Tool'),
    types: words('Hit MadeFile OpenFile'),
  },
  'sealgate/ports/upstream': {
    values: words('Upstream'),
    types: words(`
      ChatAnswer ChatBody ChatCall Chunk ChunkChoice Completion DecideCall Decided Distribution DrawCall
      EmbedCall Json Media Message Model ModelType OrderedJson Part Question SpeakCall Spoken ToolCall
      ToolCallPart TranscribeCall Transcript Usage WireUsage
    `),
  },
  'sealgate/ports/guard': {
    values: words('Guard'),
    types: [],
  },
  'sealgate/ports/reader': {
    values: words('Reader'),
    types: [],
  },
  'sealgate/ports/surface': {
    values: words('Surface'),
    types: [],
  },
  'sealgate/ports/observer': {
    values: words('Observer'),
    types: [],
  },
  'sealgate/ports/credentials': {
    values: words('Credentials'),
    types: [],
  },
  'sealgate/ports/chat-filter': {
    values: words('ChatFilter'),
    types: [],
  },
  'sealgate/ports/ledger': {
    values: words('Ledger'),
    types: [],
  },
  'sealgate/testing/stage': {
    values: words('backend eventStream everyCut lineStream provided staged vector'),
    types: words('Lasting Recording'),
  },
  'sealgate/testing/contract': {
    values: words('conform proof'),
    types: words('Contract Proof'),
  },
  'sealgate/testing/blob-store': {
    values: words('blobStore'),
    types: [],
  },
  'sealgate/testing/cache': {
    values: words('cache'),
    types: [],
  },
  'sealgate/testing/clock': {
    values: words('clock'),
    types: [],
  },
  'sealgate/testing/decider': {
    values: words('decider'),
    types: [],
  },
  'sealgate/testing/enclave': {
    values: words('enclave'),
    types: [],
  },
  'sealgate/testing/fetch': {
    values: words('fetch'),
    types: [],
  },
  'sealgate/testing/log': {
    values: words('log'),
    types: [],
  },
  'sealgate/testing/metadata-store': {
    values: words('metadataStore'),
    types: [],
  },
  'sealgate/testing/attester': {
    values: words('prover'),
    types: [],
  },
  'sealgate/testing/random': {
    values: words('random'),
    types: [],
  },
  'sealgate/testing/rate-limiter': {
    values: words('rateLimiter'),
    types: [],
  },
  'sealgate/testing/tool': {
    values: words('tool'),
    types: [],
  },
  'sealgate/testing/upstream': {
    values: words('upstream'),
    types: [],
  },
  'sealgate/testing/guard': {
    values: words('guard'),
    types: [],
  },
  'sealgate/testing/reader': {
    values: words('reader'),
    types: [],
  },
  'sealgate/testing/surface': {
    values: words('surface'),
    types: [],
  },
  'sealgate/testing/counter': {
    values: words('counter'),
    types: [],
  },
}
