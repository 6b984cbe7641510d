import * as v from 'valibot'
import { readerOfKind } from '../shared/find-reader.ts'
import { plugin } from '../../core/plugin.ts'
import { Reader } from '../../core/ports/reader.ts'
import { Tool } from '../../core/ports/tool.ts'

const params = v.object({ fileId: v.pipe(v.string(), v.maxLength(100), v.description('The id of an uploaded file')) })

/** Cells or nodes, and characters: more would fill a model's context. */
const contentLimits = { values: 20_000, characters: 400_000 }

export default plugin({
  port: Tool,
  name: 'getDataFileContent',
  needs: { readers: Reader },
  create: ({ readers }): Tool<typeof params> => ({
    name: 'getDataFileContent',
    description:
      'The content of a data file (json, jsonl, csv, tsv, yaml, xml, toml, parquet). A table has its rows, and its columns with types, nulls and ranges. Records come one by one, and other content as a tree with an outline. Integers too large for a double are text. Where something was cut, truncated is true.',
    kind: 'reads-file',
    params,
    async run(_params, signal, file) {
      signal.throwIfAborted()
      const { content } = await readerOfKind(readers, 'data', file).read(file, signal, contentLimits)
      return content
    },
  }),
})
