import t from 'tap'
import { join } from 'node:path'
import { use } from '/work/main/core/plugin.ts'
import { MetadataStore } from '/work/main/core/ports/metadata-store.ts'
import sqlite from '/work/main/plugins/storage/sqlite.ts'
import { metadataStore } from '/work/main/test/contracts/metadata-store.ts'
import { conform } from '/work/main/test/contracts/contract.ts'
import { made } from '/work/main/test/helpers.ts'
t.test('contract', (t) => conform(t, metadataStore.contract, (t) => { const s = made(MetadataStore, use(sqlite, { file: join(t.testdir(), 'a.db') })); t.teardown(() => s.dispose?.()); return s }))
