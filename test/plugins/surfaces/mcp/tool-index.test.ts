import t from 'tap'
import { toolsIn } from '../../../../plugins/surfaces/mcp/upstream/listed-tools.ts'
import { toolIndex } from '../../../../plugins/surfaces/mcp/upstream/tool-index.ts'

/** By server: name, description, parameters, and what a model may ask for. */
const offered: Readonly<Record<string, readonly (readonly [string, string, string, string])[]>> = {
  tracker: [
    ['create_issue', 'Opens a new issue in a repository', 'title body labels', 'report a bug as a new issue'],
    ['close_issue', 'Closes an issue', 'issue_number', 'close issue 12'],
    [
      'list_issues',
      'Lists issues with filters by state, label and assignee',
      'state label',
      'which issues have this label',
    ],
    ['add_comment', 'Adds a comment to an issue or a pull request', 'body', 'comment on a pull request'],
    [
      'create_pull_request',
      'Opens a pull request from a branch',
      'head base title',
      'open a pull request for my branch',
    ],
    ['merge_pull_request', 'Merges a pull request', 'method', 'merge the pull request'],
    ['list_commits', 'Lists commits of a branch', 'sha author', 'commits by an author'],
    ['search_code', 'Searches source code in all repositories', 'query', 'search the source code for a function'],
    ['get_file_contents', 'Reads a file of a repository', 'path ref', 'read a file in the repository'],
    ['run_workflow', 'Starts a workflow of continuous integration', 'workflow ref', 'start the CI workflow again'],
  ],
  chat: [
    ['post_message', 'Sends a message to a channel', 'channel text', 'send a message to the channel'],
    ['reply_in_thread', 'Replies to a message in its thread', 'thread text', 'reply in a thread'],
    ['list_channels', 'Lists public channels of the workspace', 'cursor', 'which channels are there'],
    [
      'get_channel_history',
      'Reads the latest messages of a channel',
      'channel limit',
      'latest messages in the channel',
    ],
    ['get_user_profile', 'Shows the profile of a person', 'user', 'profile of a person'],
    ['add_reaction', 'Adds an emoji reaction to a message', 'emoji', 'react with an emoji'],
    ['upload_file', 'Uploads a file to a channel', 'file', 'upload a file'],
    ['set_reminder', 'Sets a reminder for a person', 'text time', 'remind me tomorrow'],
    ['search_messages', 'Searches messages by words', 'query', 'search old messages for a word'],
    ['create_channel', 'Makes a new channel', 'name private', 'make a private channel'],
  ],
  office: [
    ['create_event', 'Puts a meeting into the calendar', 'start end attendees', 'schedule a meeting in the calendar'],
    ['find_free_time', 'Finds times in which all attendees are free', 'attendees', 'when are all attendees free'],
    ['cancel_event', 'Cancels a meeting', 'event', 'cancel the meeting'],
    ['send_mail', 'Sends an e-mail', 'to subject body', 'send an e-mail with a subject'],
    ['search_mail', 'Searches the mailbox', 'query from', 'search my mailbox'],
    ['create_document', 'Makes a text document', 'title content', 'write a new document'],
    ['read_sheet', 'Reads cells of a spreadsheet', 'range', 'read cells of a spreadsheet'],
    ['append_row', 'Adds a row to a spreadsheet', 'values', 'add a row to the sheet'],
    ['share_document', 'Shares a document with people', 'people role', 'share the document with people'],
    ['translate_text', 'Translates a text into another language', 'text language', 'translate into another language'],
  ],
  cloud: [
    ['list_pods', 'Lists pods of a Kubernetes namespace', 'namespace', 'pods in a Kubernetes namespace'],
    ['get_pod_logs', 'Reads the log of a pod', 'pod since', 'log of a pod'],
    ['scale_deployment', 'Sets the number of replicas of a deployment', 'replicas', 'scale to more replicas'],
    ['restart_deployment', 'Restarts a deployment', 'name', 'restart the deployment'],
    ['query_metrics', 'Asks for metrics by PromQL', 'query range', 'metrics of the last hour by PromQL'],
    ['list_alerts', 'Lists alerts that are firing', 'severity', 'alerts that are firing now'],
    ['run_sql', 'Runs an SQL query on the database', 'sql', 'query the database with SQL'],
    ['describe_table', 'Shows columns of a database table', 'table', 'columns of a table'],
    ['create_bucket', 'Makes a bucket in object storage', 'bucket region', 'make a storage bucket'],
    ['invalidate_cache', 'Empties the cache of the CDN', 'paths', 'empty the CDN cache'],
  ],
  world: [
    ['forecast', 'Tells the weather of the next days for a city', 'city days', 'weather for a city tomorrow'],
    ['find_route', 'Finds the way between two places', 'from to mode', 'the way between two places'],
    ['search_flights', 'Finds flights between airports', 'from to date', 'find flights to an airport'],
    ['book_hotel', 'Books a room in a hotel', 'hotel nights', 'book a hotel room'],
    [
      'convert_currency',
      'Converts an amount of money to another currency',
      'amount',
      'convert money to another currency',
    ],
    ['stock_price', 'Tells the price of a share', 'symbol', 'price of a share'],
    ['create_invoice', 'Makes an invoice for a customer', 'customer amount', 'make an invoice for a customer'],
    ['refund_payment', 'Gives a payment back', 'payment', 'refund a payment'],
    ['track_parcel', 'Tells where a parcel is', 'number', 'where is my parcel'],
    ['fetch_page', 'Reads a page of the web as text', 'url', 'read a web page as text'],
  ],
}

const rawOf = ([name, description, params]: readonly [string, string, string, string]) => ({
  name,
  description,
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(params.split(' ').map((param) => [param, { type: 'string' }])),
  },
})
const tools = Object.entries(offered).flatMap(([server, rows]) => toolsIn(server, rows.map(rawOf), undefined))
const index = toolIndex()
for (const server of Object.keys(offered))
  await index.put(
    server,
    tools.filter((tool) => tool.server === server),
  )

t.test('of fifty tools the one that is meant is among the first', (t) => {
  const asked = Object.entries(offered).flatMap(([server, rows]) =>
    rows.map(([name, , , query]) => ({ query, name: `${server}__${name}` })),
  )
  const places = asked.map(({ query, name }) =>
    index.find(tools, query, 5).findIndex(({ described }) => described.name === name),
  )
  const within = (most: number) => places.filter((place) => place >= 0 && place < most).length
  t.equal(asked.length, 50)
  t.ok(within(1) >= 45, `${within(1)} of 50 stand first`)
  t.ok(within(5) >= 49, `${within(5)} of 50 are among five`)
  t.end()
})

t.test('a server that changes changes what is found', async (t) => {
  const own = tools.filter(({ server }) => server === 'world')
  const changed = toolIndex()
  await changed.put('world', own)
  await changed.put('world', own.slice(1))
  const names = (query: string) => changed.find(own, query, 5).map((tool) => tool.own)
  t.notOk(names('book a hotel room').includes('book_hotel'))
  t.equal(names('weather for a city')[0], 'forecast')
  const others = own.filter((tool) => tool.own !== 'forecast')
  t.notOk(
    changed.find(others, 'weather for a city', 5).some((tool) => tool.own === 'forecast'),
    'of these alone',
  )
})

t.test('many tools are indexed in turns of the loop', async (t) => {
  const raw = Array.from({ length: 500 }, (_, at) => ({
    name: `tool_${at}`,
    description: `Number ${at} ${'of many long words '.repeat(60)}`,
    inputSchema: { type: 'object' },
  }))
  const large = toolIndex()
  const many = toolsIn('crowd', raw, undefined)
  let turns = 0
  const tick = setInterval(() => turns++, 0)
  await large.put('crowd', many)
  clearInterval(tick)
  t.ok(turns >= 10, `others had ${turns} turns`)
  const began = performance.now()
  t.equal(large.find(many, 'number 77', 5)[0]?.own, 'tool_77')
  t.ok(performance.now() - began < 500)
})
