/** What a scene asks of the model that it plays with. */
export interface SceneHead {
  /** The model's name, which tells the backend the fault. */
  readonly name: string
  readonly title: string
  /** False where no backend may go on from a prefix; true where a model that can is judged by it. */
  readonly continues?: boolean
  /** A backend that refuses connections comes first. */
  readonly refused?: true
  /** The backend or the reader is silent for a time that the gateway limits. */
  readonly silent?: true
}

/** Scenes with S are faults of a backend, and scenes with C are callers that leave. */
export const sceneList = [
  { name: 'S01', title: '429 with Retry-After' },
  { name: 'S02', title: '500, then fine' },
  { name: 'S03', title: '503 in a burst' },
  { name: 'S04', title: 'connection refused', refused: true },
  { name: 'S05', title: 'reset before headers' },
  { name: 'S06', title: 'accepts and stays silent', silent: true },
  { name: 'S07', title: 'first token after 20 s', silent: true },
  { name: 'S08', title: 'cut in the middle', continues: true },
  { name: 'S09', title: 'stalls 30 s in the middle', continues: true, silent: true },
  { name: 'S10', title: 'one malformed event', continues: true },
  { name: 'S11', title: 'error event inside a 200 stream', continues: true },
  { name: 'S12', title: 'wrong content-length' },
  { name: 'S13', title: 'content filter' },
  { name: 'S14', title: 'cut, and the backend cannot continue', continues: false },
  { name: 'S15', title: 'whole body cut' },
  { name: 'S16', title: 'slow dribble of odd bytes' },
  { name: 'C01', title: 'leaves before the first token' },
  { name: 'C02', title: 'leaves in the middle' },
  { name: 'C03', title: 'stalls, then leaves', silent: true },
  { name: 'C04', title: 'half-open socket', silent: true },
  { name: 'C05', title: 'leaves during a whole call' },
] as const satisfies readonly SceneHead[]

/** One text names the scene, its model at the gateway and its fault at the backend. */
export type SceneName = (typeof sceneList)[number]['name']
