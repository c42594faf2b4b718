-- The daemon on its socket: one connection, any number of calls, each called back once, in the main loop.
-- A lost connection is made anew by the next call; nothing runs while nobody asks. A call that was under way when it was
-- lost is asked again, ever more slowly: a daemon that is restarted or upgraded is back in a moment.

local find = require("vaultrag.find")

local uv = vim.uv or vim.loop
local M = {}

M.PROTOCOL = 1
M.MAX_LINE_BYTES = 64000000
M.PAUSES_MS = { 500, 1000, 2000 }

local Client = {}
Client.__index = Client

---@param options table `find` (function that returns addresses), `vault`, `timeout_ms`
function M.new(options)
  local self = setmetatable({}, Client)
  self.options = options
  self.pending = {}
  self.next_id = 0
  self.parts = {}
  self.size = 0
  self.waiting = {} -- callbacks of those who wait for the connection
  self.closed = 0 -- how often it was closed by who uses it
  self.on_notification = function() end
  return self
end

local function failure(kind, message, hint)
  return { kind = kind, message = message, hint = hint or "" }
end

M.failure = failure

local function unreachable(code)
  if code == "ENOENT" then
    return "no daemon is running"
  elseif code == "ECONNREFUSED" then
    return "no daemon is running any more; its socket was left behind"
  end
  return "the socket cannot be reached (" .. tostring(code) .. ")"
end

---End the connection; calls under way are called back with why.
function Client:close(why)
  local handle = self.handle
  self.handle, self.ready, self.parts, self.size = nil, false, {}, 0
  if handle and not handle:is_closing() then
    handle:close()
  end
  local calls, waiting = self.pending, self.waiting
  self.pending, self.waiting, self.connecting = {}, {}, false
  if not why then
    self.closed = self.closed + 1
    why = failure("Closed", "the connection was closed")
  end
  for _, call in pairs(calls) do
    call.done(why)
  end
  for _, done in ipairs(waiting) do
    done(why)
  end
end

function Client:_take(line)
  local ok, message = pcall(vim.json.decode, line, { luanil = { object = true, array = true } })
  if not ok or type(message) ~= "table" or message.jsonrpc ~= "2.0" then
    self:close(failure("InvalidRequest", "what answers on the socket is not vaultrag"))
    return
  end
  if type(message.method) == "string" then
    self.on_notification(message.method, message.params or {})
    return
  end
  local problem = message.error
  if problem ~= nil then
    local data = type(problem.data) == "table" and problem.data or {}
    problem = failure(data.kind or "VaultragError", problem.message or "the daemon refused", data.hint)
    if message.id == nil then -- the connection as a whole is refused
      self:close(problem)
      return
    end
  end
  local call = self.pending[message.id]
  if call then
    self.pending[message.id] = nil
    call.done(problem, message.result)
  end
end

function Client:_receive(handle, chunk)
  local start = 1
  while self.handle == handle do
    local newline = chunk:find("\n", start, true)
    local part = chunk:sub(start, newline and newline - 1 or -1)
    self.size = self.size + #part
    if self.size > M.MAX_LINE_BYTES then
      self:close(failure("MessageTooLarge", "the daemon sent a line without an end"))
      return
    end
    table.insert(self.parts, part)
    if not newline then
      return
    end
    local line = table.concat(self.parts)
    self.parts, self.size = {}, 0
    start = newline + 1
    if line:find("%S") then
      self:_take(line)
    end
  end
end

local function open(address, done)
  local handle
  local connected = vim.schedule_wrap(function(problem)
    if problem then
      if not handle:is_closing() then
        handle:close()
      end
      done(problem)
    else
      done(nil, handle)
    end
  end)
  if address.path then
    handle = uv.new_pipe(false)
    handle:connect(address.path, connected)
  else
    handle = uv.new_tcp()
    handle:connect("127.0.0.1", address.port, connected)
  end
end

function Client:_open_any(addresses, index, trouble, done)
  local address = addresses[index]
  if not address then
    done(failure("Offline", trouble or "no daemon is running", "vaultrag up"))
    return
  end
  open(address, function(problem, handle)
    if not problem then
      done(nil, handle, address)
      return
    end
    local code = tostring(problem):match("^%u+") or tostring(problem)
    -- "Does not exist" is the least that can be said; a refusal says more.
    local said = code ~= "ENOENT" and unreachable(code) or trouble
    self:_open_any(addresses, index + 1, said, done)
  end)
end

function Client:_greet(address, done)
  local params = {
    client = "vaultrag.nvim/" .. require("vaultrag.version"),
    protocol_min = M.PROTOCOL,
    protocol_max = M.PROTOCOL,
    positions = "byte",
    vault = self.options.vault or "",
  }
  if address.token_file and address.token_file ~= "" then
    params.token = vim.trim(find.read(address.token_file) or "")
  end
  -- A search may follow: the daemon loads its model meanwhile.
  local warming = vim.tbl_extend("force", params, { searches = true })
  self:_send("hello", warming, function(problem, welcome)
    if problem and problem.kind == "InvalidParams" then -- an older daemon
      self:_send("hello", params, function(...)
        self:_greeted(done, ...)
      end)
    else
      self:_greeted(done, problem, welcome)
    end
  end)
end

---Check the answer to hello.
function Client:_greeted(done, problem, welcome)
  if not problem and (type(welcome) ~= "table" or welcome.name ~= "vaultrag") then
    problem = failure("InvalidRequest", "what answers on the socket is not vaultrag")
  elseif not problem and (welcome.protocol ~= M.PROTOCOL or welcome.positions ~= "byte") then
    problem = failure("ProtocolMismatch", "the daemon speaks another protocol", "vaultrag --version")
  end
  done(problem, welcome)
end

---Connect, if need be; `done(problem)`.
function Client:connect(done)
  if self.ready then
    done(nil)
    return
  end
  table.insert(self.waiting, done)
  if self.connecting then
    return
  end
  self.connecting = true
  self:_open_any(self.options.find(), 1, nil, function(problem, handle, address)
    if problem then
      self:close(problem)
      return
    end
    self.handle = handle
    handle:read_start(vim.schedule_wrap(function(broken, chunk)
      if self.handle ~= handle then
        return
      end
      if broken or not chunk then
        self:close(failure("ConnectionLost", "the daemon has closed the connection"))
      else
        self:_receive(handle, chunk)
      end
    end))
    self:_greet(address, function(refused, welcome)
      if refused then
        if self.handle == handle then
          self:close(refused)
        end
        return
      end
      self.ready, self.connecting, self.welcome = true, false, welcome
      local waiting = self.waiting
      self.waiting = {}
      for _, call in ipairs(waiting) do
        call(nil)
      end
    end)
  end)
end

function Client:_send(method, params, done)
  self.next_id = self.next_id + 1
  local id = self.next_id
  local timer = uv.new_timer()
  local function finish(problem, result)
    if timer then
      timer:close()
      timer = nil
      done(problem, result)
    end
  end
  self.pending[id] = { done = finish }
  timer:start(
    self.options.timeout_ms or 20000,
    0,
    vim.schedule_wrap(function()
      if self.pending[id] then
        self.pending[id] = nil
        self:_write({ jsonrpc = "2.0", method = "$/cancelRequest", params = { id = id } })
        finish(failure("Silent", "the daemon did not answer in time", "vaultrag status"))
      end
    end)
  )
  if next(params) == nil then
    params = vim.empty_dict()
  end
  self:_write({ jsonrpc = "2.0", id = id, method = method, params = params })
  return id
end

function Client:_write(message)
  if self.handle and not self.handle:is_closing() then
    self.handle:write(vim.json.encode(message) .. "\n")
  end
end

---Call a method. `done(problem, result)`, once, in the main loop; `problem` has kind, message and hint.
---@return function cancel takes the call back; `done` is not called then
function Client:call(method, params, done)
  local cancelled, id, lost = false, nil, 0
  local closed = self.closed
  local try

  local function ended(problem, result)
    if cancelled then
      return
    end
    if problem and problem.kind == "ConnectionLost" then
      lost = lost + 1
    elseif problem and problem.kind == "Offline" and lost > 0 then
      lost = lost + 1 -- it has not come back yet
    else
      lost = 0
    end
    local pause = M.PAUSES_MS[lost]
    if not pause then
      done(problem, result)
      return
    end
    -- Not all editors at the same moment.
    vim.defer_fn(try, math.floor(pause * (0.75 + 0.5 * math.random())))
  end

  try = function()
    if self.closed ~= closed then
      ended(failure("Closed", "the connection was closed"))
      return
    end
    self:connect(function(problem)
      if problem then
        ended(problem)
      elseif not cancelled then
        id = self:_send(method, params, ended)
      end
    end)
  end
  try()

  return function()
    cancelled = true
    local call = id and self.pending[id]
    if call then
      self:_write({ jsonrpc = "2.0", method = "$/cancelRequest", params = { id = id } })
    end
  end
end

return M
