/** The text of a row by its key; nil when the row does not exist. */
export const get = `return redis.call('GET', KEYS[1])`

/**
 * Replaces one text with another and updates the index members; '' means no row. When another text is stored, returns
 * that text. A script that is sent twice changes the row once.
 */
export const swap = `
if redis.call('EXISTS', KEYS[3]) == 1 then return end
if redis.call('HLEN', KEYS[2]) ~= tonumber(ARGV[1]) then return redis.error_reply('STALE indexes') end
local is = redis.call('GET', KEYS[1]) or ''
if is ~= ARGV[2] then return is end
if ARGV[3] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[3]) end
for i = 5, #ARGV, 3 do
  if ARGV[i + 1] ~= '' then redis.call('ZREM', ARGV[i], ARGV[i + 1]) end
  if ARGV[i + 2] ~= '' then redis.call('ZADD', ARGV[i], 0, ARGV[i + 2]) end
end
redis.call('SET', KEYS[3], '', 'PX', ARGV[4])
return false`

/** Declares indexes. An index is complete at once when there are no rows. Returns all indexes with their states. */
export const announce = `
local whole = ARGV[1] == 'whole' or redis.call('ZCARD', KEYS[1]) == 0
for i = 2, #ARGV do redis.call(whole and 'HSET' or 'HSETNX', KEYS[2], ARGV[i], whole and 'whole' or 'building') end
return redis.call('HGETALL', KEYS[2])`

/** The total, the rows of a page, and the last member of the page. */
export const page = `
local fields, depth, rows, first, last, way = unpack(ARGV)
if redis.call('HGET', KEYS[2], fields) ~= 'whole' then return redis.error_reply('STALE indexes') end
local found, final = {}, ''
local total = redis.call('ZLEXCOUNT', KEYS[1], first, last)
local range = way == 'desc' and 'ZREVRANGEBYLEX' or 'ZRANGEBYLEX'
if way == 'desc' then first, last = last, first end
for i, member in ipairs(redis.call(range, KEYS[1], first, last, 'LIMIT', ARGV[7], ARGV[8])) do
  local at = 0
  for _ = 1, tonumber(depth) do at = string.find(member, '\\0', at + 1, true) end
  local id = string.sub(member, at + 1)
  found[i], final = {id, redis.call('GET', rows .. id)}, member
end
return {total, found, final}`
