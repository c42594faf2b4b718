-- The client in a headless Neovim: the golden conversations and faults with a peer in this process, and the commands
-- against the real daemon whose home is in VAULTRAG_HOME. Ends with "N passed, N failed".

local uv = vim.uv or vim.loop
local here = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")
local rpc = require("vaultrag.rpc")
local find = require("vaultrag.find")
local vaultrag = require("vaultrag")

local passed, failed = 0, 0

local function it(name, body)
  local ok, problem = xpcall(body, debug.traceback)
  if ok then
    passed = passed + 1
  else
    failed = failed + 1
    io.stdout:write("FAILED " .. name .. "\n" .. problem .. "\n")
  end
end

local function equal(got, wanted, what)
  if not vim.deep_equal(got, wanted) then
    error((what or "") .. ": got " .. vim.inspect(got) .. ", wanted " .. vim.inspect(wanted), 2)
  end
end

local function await(look, what, ms)
  if not vim.wait(ms or 15000, look, 5) then
    error("not in time: " .. what, 2)
  end
end

local function decode(line)
  return vim.json.decode(line, { luanil = { object = true, array = true } })
end

-- A peer on a real socket. `answer(request, socket)` is called in the main loop.
local peers = 0
local function peer(answer)
  peers = peers + 1
  local path = vim.env.VAULTRAG_HOME .. "/p" .. peers
  local server, sockets, heard = uv.new_pipe(false), {}, {}
  server:bind(path)
  server:listen(16, function()
    local socket = uv.new_pipe(false)
    server:accept(socket)
    table.insert(sockets, socket)
    local rest = ""
    socket:read_start(vim.schedule_wrap(function(_, chunk)
      rest = rest .. (chunk or "")
      while rest:find("\n") do
        local line, after = rest:match("^(.-)\n(.*)$")
        rest = after
        local request = decode(line)
        table.insert(heard, request)
        answer(request, socket)
      end
    end))
  end)
  local client = rpc.new({
    timeout_ms = 5000,
    find = function()
      return { { path = path } }
    end,
  })
  return {
    client = client,
    heard = heard,
    sockets = sockets,
    close = function()
      client:close()
      for _, socket in ipairs(sockets) do
        if not socket:is_closing() then
          socket:close()
        end
      end
      server:close()
    end,
  }
end

local WELCOME = { name = "vaultrag", version = "0", protocol = 1, positions = "byte", vault = "notes", methods = {} }

local function say(socket, message)
  message.jsonrpc = "2.0"
  socket:write(vim.json.encode(message) .. "\n")
end

local function greeting(rest)
  return function(request, socket)
    if request.method == "hello" then
      say(socket, { id = request.id, result = WELCOME })
    elseif rest then
      rest(request, socket)
    end
  end
end

local function ask(client, method, params)
  local problem, result, finished
  client:call(method, params or {}, function(refused, answer)
    problem, result, finished = refused, answer, true
  end)
  await(function()
    return finished
  end, method)
  return problem, result
end

-- Golden conversations

local golden = vim.fn.glob(here .. "/../../protocol/golden/*.jsonl", false, true)

it("the golden conversations are there", function()
  assert(#golden > 8, #golden)
end)

for _, path in ipairs(golden) do
  it("golden: " .. vim.fn.fnamemodify(path, ":t"), function()
    local one = peer(greeting())
    local client = one.client
    local problem = ask(client, "hello", {}) -- connects; the peer answers any hello
    equal(problem, nil)
    local notified = {}
    client.on_notification = function(method, params)
      table.insert(notified, { method = method, params = params })
    end
    local ids, outcomes, place = {}, {}, #one.heard
    local lines = vim.fn.readfile(path)
    for index = 2, #lines do
      local step = decode(lines[index])
      local call, message = step.client, step.daemon
      if call and call.id and call.method ~= "hello" then
        local id = call.id
        client:call(call.method, call.params, function(refused, result)
          outcomes[id] = { problem = refused, result = result }
        end)
        place = place + 1
        await(function()
          return #one.heard >= place
        end, "the call was sent")
        ids[id] = one.heard[place].id
        equal(one.heard[place].method, call.method)
        equal(one.heard[place].params, call.params)
      elseif message and message.method then
        local before = #notified
        one.sockets[1]:write(vim.json.encode(message) .. "\n")
        await(function()
          return #notified > before
        end, "the notification was read")
        equal(notified[#notified], { method = message.method, params = message.params })
      elseif message and message.id and ids[message.id] then
        local id = message.id
        outcomes[id] = nil
        -- Its own bytes, under the number that this client gave the call.
        local line = lines[index]:match('^{"daemon": (.*)}$'):gsub('"id": %d+', '"id": ' .. ids[id], 1)
        one.sockets[1]:write(line .. "\n")
        await(function()
          return outcomes[id]
        end, "the answer was read")
        if message.error then
          local data = message.error.data
          equal(outcomes[id].problem, { kind = data.kind, message = message.error.message, hint = data.hint })
        else
          equal(outcomes[id].result, message.result)
        end
      end
    end
    one.close()
  end)
end

-- Faults

rpc.PAUSES_MS = { 10, 20, 40 } -- as the real ones, but sooner

it("a call whose peer dies under it is asked again", function()
  local deaths = 2
  local one = peer(greeting(function(request, socket)
    deaths = deaths - 1
    if deaths >= 0 then
      socket:close()
    else
      say(socket, { id = request.id, result = "back" })
    end
  end))
  local problem, result = ask(one.client, "tags")
  equal({ problem, result }, { nil, "back" })
  equal(#one.sockets, 3)
  one.close()
end)

it("a call whose peer dies each time is given up, and the next one tries anew", function()
  local dying, asked = true, 0
  local one = peer(greeting(function(request, socket)
    asked = asked + 1
    if dying then
      socket:close()
    else
      say(socket, { id = request.id, result = "back" })
    end
  end))
  equal(ask(one.client, "tags").kind, "ConnectionLost")
  equal(asked, 1 + #rpc.PAUSES_MS)
  dying = false
  local _, result = ask(one.client, "tags")
  equal(result, "back")
  one.close()
end)

it("who closes the connection has no call asked again", function()
  local one = peer(greeting(function(_, socket)
    socket:close()
  end))
  rpc.PAUSES_MS = { 100 }
  local problem
  one.client:call("tags", {}, function(refused)
    problem = refused
  end)
  await(function()
    return #one.heard == 2 and not one.client.ready
  end, "the connection is lost")
  one.close()
  await(function()
    return problem
  end, "the call is called back")
  equal(problem.kind, "Closed")
  equal(#one.sockets, 1)
end)

it("a peer of another protocol is refused", function()
  for _, change in ipairs({ { protocol = 9 }, { positions = "utf-16" } }) do
    local one = peer(function(request, socket)
      say(socket, { id = request.id, result = vim.tbl_extend("force", WELCOME, change) })
    end)
    equal(ask(one.client, "tags").kind, "ProtocolMismatch")
    one.close()
  end
end)

it("a peer that sends garbage is left", function()
  for _, garbage in ipairs({ "HTTP/1.1 400\r\n\r\n", '{"hello": 1}\n', "[]\n", "\255\254\n", "null\n" }) do
    local one = peer(greeting(function(_, socket)
      socket:write(garbage)
    end))
    equal(ask(one.client, "tags").kind, "InvalidRequest", garbage)
    one.close()
  end
end)

it("answers are matched however they are ordered", function()
  local waiting = {}
  local one = peer(greeting(function(request, socket)
    table.insert(waiting, 1, request)
    if #waiting == 3 then
      for _, each in ipairs(waiting) do
        say(socket, { id = each.id, result = each.params.query })
      end
    end
  end))
  local got = {}
  for _, query in ipairs({ "one", "two", "three" }) do
    one.client:call("search", { query = query }, function(_, result)
      got[query] = result
    end)
  end
  await(function()
    return got.one and got.two and got.three
  end, "three answers")
  equal(got, { one = "one", two = "two", three = "three" })
  one.close()
end)

it("a silent peer is given up, and its late answer dropped", function()
  local late
  local one = peer(greeting(function(request, socket)
    if request.method == "tags" then
      late = function()
        say(socket, { id = request.id, result = "late" })
      end
    elseif request.method == "status" then
      late()
      say(socket, { id = request.id, result = "now" })
    end
  end))
  one.client.options.timeout_ms = 100
  equal(ask(one.client, "tags").kind, "Silent")
  equal(one.heard[#one.heard].method ~= nil, true)
  one.client.options.timeout_ms = 5000
  local _, result = ask(one.client, "status")
  equal(result, "now")
  one.close()
end)

it("a reply of eight megabytes is read, in chunks", function()
  local text = string.rep("Größe 😀 ", 700000)
  local one = peer(greeting(function(request, socket)
    say(socket, { id = request.id, result = text })
  end))
  local problem, result = ask(one.client, "tags")
  equal(problem, nil)
  assert(result == text and #text > 8000000)
  one.close()
end)

it("a call taken back is not called back, and the daemon is told", function()
  local one = peer(greeting())
  local called = false
  equal(ask(one.client, "hello", {}), nil)
  local cancel = one.client:call("search", { query = "x" }, function()
    called = true
  end)
  cancel()
  await(function()
    return one.heard[#one.heard].method == "$/cancelRequest"
  end, "the daemon is told")
  one.close()
  equal(called, false)
end)

it("without a daemon the reason is said", function()
  local client = rpc.new({
    find = function()
      return { { path = vim.env.VAULTRAG_HOME .. "/nothing" } }
    end,
  })
  equal(ask(client, "tags"), { kind = "Offline", message = "no daemon is running", hint = "vaultrag up" })
end)

-- With the daemon

local notes = {}
local notified = {}
vim.notify = function(text)
  table.insert(notified, text)
end

it("the daemon is found, and bytes cut out what matches after emoji", function()
  local problem, answer = ask(vaultrag.client(""), "search", { query = "zebra" })
  equal(problem, nil)
  local hit = answer.hits[1]
  equal(hit.path, "Signs.md")
  equal(hit.preview:sub(hit.spans[1].start + 1, hit.spans[1]["end"]), "zebra")
  local _, status = ask(vaultrag.client(""), "status")
  notes.root = status.vaults[1].root
end)

it("a file belongs to its vault", function()
  equal(find.vault_of(notes.root .. "/Pump.md"), notes.root)
  equal(find.vault_of("/"), "")
end)

it(":VaultSearch! fills the quickfix list", function()
  vim.cmd("edit " .. vim.fn.fnameescape(notes.root .. "/Pump.md"))
  vim.cmd("VaultSearch! gasket seal")
  await(function()
    return #vim.fn.getqflist() > 0
  end, "the list is filled")
  local list = vim.fn.getqflist({ title = 1, items = 1 })
  equal(list.title, "Search: gasket seal")
  local first = list.items[1]
  equal(vim.fn.fnamemodify(vim.fn.bufname(first.bufnr), ":t"), "Pump.md")
  assert(first.lnum > 1 and first.text:find("gasket"), vim.inspect(first))
  vim.cmd("cclose")
end)

it("nearest notes are listed as weak, and said to be no answer", function()
  local client = vaultrag.client()
  local call = client.call
  client.call = function(self, method, params, done)
    if method ~= "search" then
      return call(self, method, params, done)
    end
    local near = { path = "Pump.md", title = "Pump", heading = "", preview = "", line = "It leaks.", tier = "weak" }
    near.start_line, near.end_line = 1, 1
    done(nil, { hits = {}, nearest = { near }, reasons = {} })
  end
  vim.fn.setqflist({})
  vim.cmd("VaultSearch! zyzzyva")
  await(function()
    return #vim.fn.getqflist() > 0
  end, "the list is filled")
  client.call = call
  equal(vim.fn.getqflist()[1].text, "Pump: [weak] It leaks.")
  assert(notified[#notified]:find("nothing matches closely"), vim.inspect(notified))
  vim.cmd("cclose")
end)

it(":VaultSearch lets one choose, and opens at the line", function()
  local offered
  vim.ui.select = function(items, options, chosen)
    offered = vim.tbl_map(options.format_item, items)
    chosen(items[1])
  end
  vim.cmd("VaultSearch zebra")
  await(function()
    return vim.fn.expand("%:t") == "Signs.md"
  end, "the note is opened")
  assert(offered[1]:find("zebra"), vim.inspect(offered))
  equal(vim.api.nvim_win_get_cursor(0)[1], 3)
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  equal(vim.fn.getline(row):sub(column + 1, column + 5), "zebra")
end)

it("a match in a long line is opened at its letters, and listed as a reader sees it", function()
  local offered
  vim.ui.select = function(items, options, chosen)
    offered = vim.tbl_map(options.format_item, items)
    chosen(items[1])
  end
  vim.cmd("VaultSearch stirring")
  await(function()
    return vim.fn.expand("%:t") == "Jam.md"
  end, "the note is opened")
  assert(offered[1]:find("slowly, stirring.", 1, true), vim.inspect(offered))
  assert(not offered[1]:find("[[", 1, true), vim.inspect(offered))
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  equal(vim.fn.getline(row):sub(column + 1, column + 8), "stirring")
end)

it("a query is asked for where none is given", function()
  vim.ui.input = function(_, done)
    done("zebra")
  end
  vim.cmd("enew")
  vim.cmd("edit " .. vim.fn.fnameescape(notes.root .. "/Pump.md"))
  vim.cmd("VaultSearch")
  await(function()
    return vim.fn.expand("%:t") == "Signs.md"
  end, "the note is opened")
end)

it(":VaultRelated! lists what is linked", function()
  vim.cmd("edit " .. vim.fn.fnameescape(notes.root .. "/Pump.md"))
  vim.cmd("VaultRelated!")
  await(function()
    return vim.fn.getqflist({ title = 1 }).title == "Related to Pump.md"
  end, "the list is filled")
  equal(vim.fn.fnamemodify(vim.fn.bufname(vim.fn.getqflist()[1].bufnr), ":t"), "Valve.md")
  vim.cmd("cclose")
end)

it(":VaultLink inserts a link at the cursor", function()
  vim.cmd("edit! " .. vim.fn.fnameescape(notes.root .. "/Scratch.md"))
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { "See  there." })
  vim.api.nvim_win_set_cursor(0, { 1, 4 })
  vim.cmd("VaultLink zebra")
  await(function()
    return vim.api.nvim_get_current_line() == "See [[Signs]] there."
  end, "the link is there")
  vim.cmd("bwipeout!")
end)

it(":VaultHere lists the places in this note by their columns", function()
  vim.cmd("edit " .. vim.fn.fnameescape(notes.root .. "/Signs.md"))
  vim.cmd("VaultHere zebra")
  await(function()
    return #vim.fn.getloclist(0) > 0
  end, "the list is filled")
  local place = vim.fn.getloclist(0)[1]
  equal(vim.fn.getbufline(place.bufnr, place.lnum)[1]:sub(place.col, place.col + 4), "zebra")
  vim.cmd("lclose")
end)

it("what is refused or not found is said in a sentence", function()
  vim.cmd("VaultSearch xyzzyx")
  await(function()
    return #notified > 0 and notified[#notified]:find("nothing found")
  end, "it is said")
  vim.cmd("edit /tmp")
  vim.cmd("enew")
  vaultrag.setup({ vault = notes.root })
  vim.cmd("VaultRelated")
  await(function()
    return notified[#notified]:find("not in the vault")
  end, "it is said")
  vaultrag.setup({ vault = "/elsewhere" })
  vim.cmd("VaultSearch zebra")
  await(function()
    return notified[#notified]:find("no vault /elsewhere is served") and notified[#notified]:find("try: ")
  end, "it is said")
end)

it(":checkhealth tells that it is well", function()
  vim.cmd("checkhealth vaultrag")
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
  assert(text:find("answers %(process"), text)
  assert(text:find(notes.root, 1, true), text)
end)

it("the help is found", function()
  vim.cmd("helptags " .. vim.fn.fnameescape(here .. "/../doc"))
  vim.cmd("help :VaultSearch")
  equal(vim.fn.expand("%:t"), "vaultrag.txt")
end)

vaultrag.close()
vim.fn.delete(here .. "/../doc/tags")
local version = vim.version()
io.stdout:write(("\nNeovim %d.%d.%d\n%d passed, %d failed\n"):format(version.major, version.minor, version.patch, passed, failed))
vim.cmd(failed == 0 and "qa!" or "cq")
