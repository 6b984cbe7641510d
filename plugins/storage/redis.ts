import { createClient } from '@keyv/redis'
import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { Unavailable } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Log } from '../../core/ports/host.ts'
import { MetadataStore, type Kind, type Query, type Row } from '../../core/ports/metadata-store.ts'

type Fields = Readonly<Record<string, unknown>>
type Found = readonly [id: string, flat: readonly string[]]

/** Rows that one script gives; Redis does nothing else meanwhile. */
const slice = 500
/** A refusal that says nothing about the connection. */
const refused = /^(?!READONLY|LOADING|MASTERDOWN)[A-Z]+\b/

const script = (text: string) => ({ text, sha: createHash('sha1').update(text).digest('hex') })

/**
 * A row is a hash: under `:"name"` the place of the field, six digits, and its JSON; under `.` how many there are. So a
 * script can change one field without reading JSON, of which Redis' own reader loses digits, order and empty lists.
 * An index is a sorted set of what `key` makes of its fields, each closed by \0, and the id; which indexes a kind has
 * stands in Redis, so that a replica keeps those too that only a newer one knows.
 * KEYS: row, ids, indexes. ARGV: what index keys begin with, id, indexes expected, length of `when`, then it, then the change.
 */
const onRow = (body: string) =>
  script(`
local row, ids, indexes = KEYS[1], KEYS[2], KEYS[3]
local id, known = ARGV[2], redis.call('HKEYS', KEYS[3])
if #known < tonumber(ARGV[3]) then return redis.error_reply('STALE indexes') end
local there, change = redis.call('EXISTS', row) == 1, 5 + ARGV[4]
local function json(name)
  local it = redis.call('HGET', row, name)
  return it and string.sub(it, 7) or 'null'
end
local function key(json)
  if json == 'null' then return '\\1' end
  if string.sub(json, 1, 1) == '"' then
    local fine, it = pcall(cjson.decode, '[' .. json .. ']')
    if not fine then return '\\5' .. json end
    return '\\4' .. (string.gsub(it[1], '[%z\\1]', {['\\0'] = '\\1\\1', ['\\1'] = '\\1\\2'}))
  end
  local number = tonumber(json)
  if not number then return '\\2' .. json end
  return '\\3' .. (number < 0 and '0' or '1') .. string.gsub(struct.pack('>d', number), '.', function(byte)
    return string.format('%02x', number < 0 and 255 - string.byte(byte) or string.byte(byte))
  end)
end
local function members()
  local found = {}
  for _, fields in ipairs(known) do
    local it = string.gsub(fields .. ',', '([^,]+),', function(name) return key(json(':"' .. name .. '"')) .. '\\0' end)
    found[ARGV[1] .. fields] = it .. id
  end
  return found
end
local function move(before, after)
  for index, it in pairs(before) do if after[index] ~= it then redis.call('ZREM', index, it) end end
  for index, it in pairs(after) do if before[index] ~= it then redis.call('ZADD', index, 0, it) end end
end
local function set(name, json)
  local was = redis.call('HGET', row, name)
  local place = was and string.sub(was, 1, 6) or string.format('%06d', redis.call('HINCRBY', row, '.', 1))
  redis.call('HSET', row, name, place .. json)
end
local function begin()
  redis.call('HSETNX', row, '.', 0)
  redis.call('ZADD', ids, 0, id)
end
for i = 5, change - 1, 2 do
  local is, wanted = json(ARGV[i]), ARGV[i + 1]
  if is ~= wanted and not (tonumber(is) and tonumber(is) == tonumber(wanted)) then return false end
end
${body}`)

const create = onRow(`
if there then return false end
begin()
for i = change, #ARGV, 2 do set(ARGV[i], ARGV[i + 1]) end
move({}, members())
return {}`)

const update = onRow(`
if not there then return false end
local before = members()
for i = change, #ARGV, 2 do set(ARGV[i], ARGV[i + 1]) end
move(before, members())
return redis.call('HGETALL', row)`)

const add = onRow(`
local sums = {}
for i = change, #ARGV, 2 do
  local sum = (tonumber(json(ARGV[i])) or 0) + tonumber(ARGV[i + 1])
  if sum - sum ~= 0 then return redis.error_reply('ERR no number') end
  local text = string.format('%.0f', sum)
  for digits = 15, 17 do
    if tonumber(text) ~= sum or #text > 20 then text = string.format('%.' .. digits .. 'g', sum) end
  end
  sums[#sums + 1] = text
end
local before = there and members() or {}
begin()
for i = change, #ARGV, 2 do set(ARGV[i], sums[(i - change) / 2 + 1]) end
move(before, members())
return sums`)

const remove = onRow(`
if not there then return false end
move(members(), {})
redis.call('DEL', row)
redis.call('ZREM', ids, id)
return {}`)

/** Brings one row into indexes that are newer than it. */
const enter = onRow(`
if there then move({}, members()) end
return {}`)

/** KEYS: ids, indexes. ARGV: the fields of each. Gives how each stands; where there are no rows, none is missing. */
const announce = script(`
local empty, states = redis.call('ZCARD', KEYS[1]) == 0, {}
for i, fields in ipairs(ARGV) do
  redis.call(empty and 'HSET' or 'HSETNX', KEYS[2], fields, empty and 'ready' or 'building')
  states[i] = redis.call('HGET', KEYS[2], fields)
end
return states`)

/** KEYS: ids or an index, indexes. ARGV: its fields, how many, what row keys begin with, first, last, way, offset, most. */
const page = script(`
if ARGV[1] ~= '' and redis.call('HGET', KEYS[2], ARGV[1]) ~= 'ready' then return redis.error_reply('STALE indexes') end
local total, rows, last = redis.call('ZLEXCOUNT', KEYS[1], ARGV[4], ARGV[5]), {}, ''
local back = ARGV[6] == 'desc'
local range, first, final = back and 'ZREVRANGEBYLEX' or 'ZRANGEBYLEX', back and ARGV[5] or ARGV[4], back and ARGV[4] or ARGV[5]
for i, member in ipairs(redis.call(range, KEYS[1], first, final, 'LIMIT', ARGV[7], ARGV[8])) do
  local at = 0
  for _ = 1, tonumber(ARGV[2]) do at = string.find(member, '\\0', at + 1, true) end
  local id = string.sub(member, at + 1)
  rows[i], last = {id, redis.call('HGETALL', ARGV[3] .. id)}, member
end
return {total, rows, last}`)

type Script = ReturnType<typeof script>

const plain = (name: string): string => {
  if (!/^[\w.:/@+-]+$/.test(name)) throw new Error('A kind or field has a name that cannot be stored')
  return name
}

// Half a character has no bytes of its own: in ids it goes behind a U+0001, and so does that.
const written = (text: string) => text.replace(/[\u0001\p{Cs}]/gu, (it) => `\u0001${it.charCodeAt(0).toString(16)}`)
const read = (text: string) =>
  text.replace(/\u0001(1|d[\da-f]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

/** As `key` in the scripts. */
const keyOf = (it: unknown): string => {
  if (it === null || it === undefined) return '\u0001'
  if (typeof it === 'string') {
    if (/\p{Cs}/u.test(it)) return `\u0005${JSON.stringify(it)}`
    return `\u0004${it.replace(/[\0\u0001]/g, (mark) => (mark === '\0' ? '\u0001\u0001' : '\u0001\u0002'))}`
  }
  if (typeof it !== 'number') return `\u0002${JSON.stringify(it)}`
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(it || 0)
  return `\u0003${it < 0 ? 0 : 1}${Buffer.from(it < 0 ? bytes.map((byte) => ~byte) : bytes).toString('hex')}`
}

/** Field by field, as the scripts take them. */
const pairs = (fields: object = {}) =>
  Object.entries(fields).flatMap(([name, it]) => [`:${JSON.stringify(name)}`, JSON.stringify(it ?? null)])

const rowOf = <T>(flat: readonly string[]): T => {
  const fields: string[] = []
  for (let i = 0; i < flat.length; i += 2) {
    const [name, it] = [flat[i]!, flat[i + 1]!]
    if (name !== '.') fields[Number(it.slice(0, 6))] = `${name.slice(1)}:${it.slice(6)}`
  }
  return JSON.parse(`{${fields.filter(Boolean).join()}}`) as T
}

const matches = (id: string, row: Fields, { where = {}, between, contains, prefix = '' }: Query<Fields>): boolean => {
  const at = between && keyOf(row[between.field])
  const has = (name: string) => {
    const it = row[name]
    return typeof it === 'string' && it.toLowerCase().includes(contains!.text.toLowerCase())
  }
  return (
    id.startsWith(prefix) &&
    Object.entries(where).every(([name, it]) => keyOf(row[name]) === keyOf(it)) &&
    (!at || (at > keyOf(between.from) && between.from === undefined) || (at !== keyOf(null) && at >= keyOf(between.from))) &&
    (!at || between.to === undefined || at <= keyOf(between.to)) &&
    (!contains || contains.fields.some(has))
  )
}
