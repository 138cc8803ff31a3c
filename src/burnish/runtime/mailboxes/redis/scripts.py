"""Redis scripts of a mailbox: its atomic steps, in Lua.

A mailbox is a stream with one consumer group, which knows the messages, who holds them and how
often each was delivered, and a sorted set of the moments at which held messages are due again,
because a group cannot say that. Its members are receipts, `id delivery consumer`: a delivery whose
receipt is not there, or is due, counts no more. A second stream of one entry, the bell, changes
whenever there may be something to receive, so that a receiver can block on it. All moments are the
server's.

Calls that change something and may be repeated after a lost connection carry a ticket: the answer to
the last ticket of each sender is kept, and the same ticket gets the same answer.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

GROUP = "holders"
NOBODY = "returned"
RETENTION_MS = 14 * 24 * 3600 * 1000
TICKET_MS = 10 * 60 * 1000
# Receivers look again after so long anyway; what is due sooner than that rings the bell.
SLICE_MS = 1_000
_IDLE_MS = 24 * 3600 * 1000
# Bodies are read in chunks until the answer is large: a batch of large bodies is a short batch.
_CHUNK = 32
_LARGE = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Script:
    """Lua, and the name under which a server keeps it."""

    text: str
    sha: str

    @classmethod
    def of(cls, *parts: str) -> Script:
        """One script of its parts."""
        text = "\n".join(parts)
        return cls(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


_TOOLS = f"""
local messages, due, bell = KEYS[1], KEYS[2], KEYS[3]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function keep(...)
  for _, key in ipairs({{...}}) do redis.call('PEXPIRE', key, {RETENTION_MS}) end
end

local function ring(key)
  redis.call('XADD', key, 'MAXLEN', 1, '*', 'at', now)
end

local function drop(ids, receipts)
  redis.call('XACK', messages, '{GROUP}', unpack(ids))
  redis.call('XDEL', messages, unpack(ids))
  redis.call('ZREM', due, unpack(receipts))
end
"""

_TICKET = f"""
local ticket = ARGV[1]
local last = redis.call('GET', KEYS[4])
if last and string.sub(last, 1, #ticket) == ticket then return string.sub(last, #ticket + 1) end

local function answer(words)
  local said = table.concat(words, ' ')
  redis.call('SET', KEYS[4], ticket .. said, 'PX', {TICKET_MS})
  return said
end
"""

# ARGV: ticket, most messages, then the lengths of the new ones, and all of them in one text: clients
# are slow with many words. Says the id of each, or `-` for no room.
SEND = Script.of(
    _TOOLS,
    _TICKET,
    """
local room, ids = tonumber(ARGV[2]) - redis.call('XLEN', messages), {}
local from = 1
for length in string.gmatch(ARGV[3], '%d+') do
  local message = string.sub(ARGV[4], from, from + length - 1)
  ids[#ids + 1] = room > 0 and redis.call('XADD', messages, '*', 'message', message) or '-'
  room, from = room - 1, from + length
end
ring(bell)
keep(messages, due, bell)
return answer(ids)
""",
)

# ARGV: ticket, consumer, then `id delivery act milliseconds` of each in one text. Says 1 or 0 for each.
SETTLE = Script.of(
    _TOOLS,
    _TICKET,
    f"""
local receipts, ids, acts, delays = {{}}, {{}}, {{}}, {{}}
for held, id, act, ms in string.gmatch(ARGV[3], '((%S+) %d+) (%a+) (%d+)') do
  local i = #ids + 1
  receipts[i], ids[i], acts[i], delays[i] = held .. ' ' .. ARGV[2], id, act, tonumber(ms)
end
local moments = redis.call('ZMSCORE', due, unpack(receipts))
local done, dropped, gone, ended, soon = {{}}, {{}}, {{}}, {{}}, false
for i, id in ipairs(ids) do
  local receipt, act, ms = receipts[i], acts[i], delays[i]
  local counts = moments[i] and tonumber(moments[i]) > now and not ended[receipt]
  done[i] = counts and '1' or '0'
  if counts then
    ended[receipt] = act ~= 'hold' or ms == 0
    if act == 'drop' then
      dropped[#dropped + 1], gone[#gone + 1] = id, receipt
    else
      if act == 'return' then
        redis.call('ZREM', due, receipt)
        redis.call('XCLAIM', messages, '{GROUP}', '{NOBODY}', 0, id, 'JUSTID')
        receipt = string.gsub(receipt, '%S+$', '{NOBODY}')
      end
      redis.call('ZADD', due, now + ms, receipt)
      soon = soon or ms < {SLICE_MS}
    end
  end
end
if #dropped > 0 then drop(dropped, gone) end
if soon then ring(bell) end
keep(messages, due, bell)
return answer(done)
""",
)

# ARGV: consumer, most, milliseconds. Says the last ring, the milliseconds until the next message is
# due (-1 when none is held), `id delivery length` of each message, and all of them in one text.
RECEIVE = Script.of(
    _TOOLS,
    f"""
local consumer, most, ms = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local heads, bodies, moments, bytes = {{}}, {{}}, {{}}, 0

local function take(entry, delivery)
  local id, field = entry[1], entry[2]
  local message = field[1] == 'message' and field[2] or table.concat(field, ' ')
  local held = id .. ' ' .. delivery
  bytes = bytes + #message
  heads[#heads + 1] = held .. ' ' .. #message
  bodies[#bodies + 1] = message
  moments[#moments + 1] = now + ms
  moments[#moments + 1] = held .. ' ' .. consumer
end

local function room()
  return bytes < {_LARGE} and math.min({_CHUNK}, most - #moments / 2) or 0
end

local function take_back(receipts)
  redis.call('ZREM', due, unpack(receipts))
  local ids, deliveries = {{}}, {{}}
  for i, receipt in ipairs(receipts) do
    local id, delivery = string.match(receipt, '^(%S+) (%d+)')
    ids[i], deliveries[id] = id, tonumber(delivery)
  end
  for _, entry in ipairs(redis.call('XCLAIM', messages, '{GROUP}', consumer, 0, unpack(ids))) do
    if entry then
      take(entry, deliveries[entry[1]] + 1)
      deliveries[entry[1]] = nil
    end
  end
  -- Somebody trimmed the stream. Servers before 7.0 do not forget such holders by themselves.
  for id in pairs(deliveries) do redis.call('XACK', messages, '{GROUP}', id) end
end

while room() > 0 do
  local back = redis.call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, room())
  if #back == 0 then break end
  take_back(back)
end
while room() > 0 do
  local read = redis.call(
    'XREADGROUP', 'GROUP', '{GROUP}', consumer, 'COUNT', room(), 'STREAMS', messages, '>')
  if not read then break end
  for _, entry in ipairs(read[1][2]) do take(entry, 1) end
end

if #moments > 0 then
  redis.call('ZADD', due, unpack(moments))
  if ms < {SLICE_MS} then ring(bell) end
  keep(messages, due, bell)
  return {{'', 0, table.concat(heads, ' '), table.concat(bodies)}}
end

-- A held message without a moment would never come back: the sorted set was lost, not the stream.
local pending = redis.call('XPENDING', messages, '{GROUP}')[1]
if pending > redis.call('ZCARD', due) then
  for _, held in ipairs(redis.call('XPENDING', messages, '{GROUP}', '-', '+', 1000)) do
    redis.call('ZADD', due, 'NX', now, table.concat({{held[1], held[4], held[2]}}, ' '))
  end
end
local rung = redis.call('XREVRANGE', bell, '+', '-', 'COUNT', 1)[1]
local first = redis.call('ZRANGE', due, 0, 0, 'WITHSCORES')
return {{rung and rung[1] or '0-0', first[2] and math.max(0, tonumber(first[2]) - now) or -1, '', ''}}
""",
)

# KEYS 4 and 5: the stream of dead letters and its bell. ARGV: consumer, most letters, then id and
# delivery of each message, unless somebody else has it by now, and its letter.
BURY = Script.of(
    _TOOLS,
    """
for i = 3, #ARGV, 3 do
  local receipt = ARGV[i] .. ' ' .. ARGV[i + 1] .. ' ' .. ARGV[1]
  if redis.call('ZSCORE', due, receipt) then
    redis.call('XADD', KEYS[4], 'MAXLEN', ARGV[2], '*', 'message', ARGV[i + 2])
    drop({ARGV[i]}, {receipt})
  end
end
ring(KEYS[5])
keep(messages, due, bell, KEYS[4], KEYS[5])
return 1
""",
)

PURGE = Script.of(
    """
local count = redis.call('XLEN', KEYS[1])
redis.call('DEL', KEYS[1], KEYS[2])
return count
"""
)

# From the beginning: what was sent before the group was made is to be received too.
CREATE = Script.of(
    f"""
local made = redis.pcall('XGROUP', 'CREATE', KEYS[1], '{GROUP}', '0', 'MKSTREAM')
if made.err and not string.find(made.err, 'BUSYGROUP', 1, true) then return made end
redis.call('PEXPIRE', KEYS[1], {RETENTION_MS})
return 1
"""
)

# ARGV: the consumer that leaves. It goes unless it holds something, and so do those long gone.
LEAVE = Script.of(
    f"""
for _, facts in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], '{GROUP}')) do
  local known = {{}}
  for i = 1, #facts, 2 do known[facts[i]] = facts[i + 1] end
  if known.pending == 0 and (known.name == ARGV[1] or known.idle > {_IDLE_MS}) then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], '{GROUP}', known.name)
  end
end
return 1
"""
)
