-- Search a vault from Neovim: the daemon is asked, the answer goes to vim.ui.select or the quickfix list.

local find = require("vaultrag.find")
local rpc = require("vaultrag.rpc")

local M = {}

M.options = {
  socket = nil, -- path of the socket; found by itself
  vault = nil, -- folder of the vault; the one that the file at hand lies in
  limit = 30,
  link = function(hit) -- what VaultLink inserts
    return "[[" .. hit.path:gsub("%.md$", "") .. "]]"
  end,
}

local clients = {}

function M.setup(options)
  M.options = vim.tbl_extend("force", M.options, options or {})
  M.close()
end

---End every connection.
function M.close()
  for _, client in pairs(clients) do
    client:close()
  end
  clients = {}
end

function M.vault()
  local set = M.options.vault
  return set and find.resolved(vim.fn.expand(set)) or find.vault_of(vim.api.nvim_buf_get_name(0))
end

function M.client(vault)
  vault = vault or M.vault()
  clients[vault] = clients[vault]
    or rpc.new({
      vault = vault,
      find = function()
        return find.addresses(M.options.socket)
      end,
    })
  return clients[vault]
end

local function tell(problem)
  local text = "vaultrag: " .. problem.message
  if problem.hint ~= "" then
    text = text .. "\n  try: " .. problem.hint
  end
  vim.notify(text, vim.log.levels.ERROR)
end

---What kind of answer it is, where it is not the plain full one.
local function remark(answer)
  local reasons = {}
  for _, reason in ipairs(answer.reasons) do
    table.insert(reasons, reason.why)
  end
  return table.concat(reasons, "; ")
end

---One line of the passage, for lists: so many bytes of it, what matches first among them.
local function around(hit, size)
  local text = hit.preview ~= "" and hit.preview or hit.line
  local span, dots = hit.preview ~= "" and hit.spans[1], ""
  if span and span["end"] > size then
    local start = math.max(0, span.start - math.floor(size / 4))
    text, dots = text:sub((text:find(" ", start + 1, true) or start) + 1), "… "
  end
  return (hit.tier == "weak" and "[weak] " or "") .. dots .. vim.trim((text:gsub("%s+", " "))):sub(1, size)
end

---Whether the file can be edited as text; of other kinds the lines are none of the file's.
function M.is_text(hit)
  return hit.kind == nil or hit.kind == "note" or hit.kind == "text"
end

---@return table[] items for setqflist()
function M.items(vault, hits)
  local items = {}
  for _, hit in ipairs(hits) do
    local text = hit.title
    if hit.heading ~= "" and hit.heading ~= hit.title then
      text = text .. " > " .. hit.heading
    end
    local place = M.is_text(hit) and (hit.places or {})[1] or nil
    local line = not M.is_text(hit) and 1 or place and place.line or math.max(1, hit.start_line)
    table.insert(items, {
      filename = vault .. "/" .. hit.path,
      lnum = line,
      col = place and place.start + 1 or nil,
      end_lnum = M.is_text(hit) and math.max(line, hit.end_line) or nil,
      text = text .. ": " .. around(hit, 200),
    })
  end
  return items
end

local function to_quickfix(vault, title, hits)
  vim.fn.setqflist({}, " ", { title = title, items = M.items(vault, hits) })
  vim.cmd("copen")
end

local function open(vault, hit)
  if not M.is_text(hit) and hit.kind ~= "org" then
    vim.ui.open(vault .. "/" .. hit.path)
    return
  end
  vim.cmd("edit " .. vim.fn.fnameescape(vault .. "/" .. hit.path))
  local place = (hit.places or {})[1]
  if hit.kind == "org" then
    return
  end
  local line, column = place and place.line or hit.start_line, place and place.start or 0
  if line > 0 then
    local last = vim.api.nvim_buf_line_count(0)
    vim.api.nvim_win_set_cursor(0, { math.min(line, last), column })
  end
end

local function select(prompt, hits, chosen)
  vim.ui.select(hits, {
    prompt = prompt,
    kind = "vaultrag",
    format_item = function(hit)
      local name = (hit.name or "") ~= "" and (" (" .. hit.name_kind .. ": " .. hit.name .. ")") or ""
      return hit.title .. name .. "  " .. around(hit, 80)
    end,
  }, function(hit)
    if hit then
      chosen(hit)
    end
  end)
end

---What is listed: what was found, then the nearest notes, which say that they are weak.
local function listed(answer)
  local hits = {}
  for _, hit in ipairs(answer.hits) do
    table.insert(hits, hit)
  end
  for _, hit in ipairs(answer.nearest or {}) do
    table.insert(hits, hit)
  end
  return hits
end

local function show(vault, title, answer, quickfix)
  local why = remark(answer)
  local hits = listed(answer)
  if #hits == 0 then
    vim.notify("vaultrag: nothing found" .. (why ~= "" and " (" .. why .. ")" or ""))
    return
  end
  if #answer.hits == 0 then
    why = "nothing matches closely; these are the nearest notes" .. (why ~= "" and " (" .. why .. ")" or "")
  end
  if why ~= "" then
    vim.notify("vaultrag: " .. why)
  end
  if quickfix then
    to_quickfix(vault, title, hits)
  else
    select(title, hits, function(hit)
      open(vault, hit)
    end)
  end
end

local function asked(query, done)
  if query and query ~= "" then
    done(query)
    return
  end
  vim.ui.input({ prompt = "Search notes: " }, function(typed)
    if typed and typed ~= "" then
      done(typed)
    end
  end)
end

---The daemon names its vault's folder; files are opened below that.
local function root_of(client, done)
  client:call("status", {}, function(problem, status)
    if problem then
      tell(problem)
      return
    end
    for _, vault in ipairs(status.vaults) do
      if vault.id == client.welcome.vault then
        done(vault.root)
        return
      end
    end
    tell(rpc.failure("VaultUnknown", "several vaults are served: set `vault` in setup()"))
  end)
end

---@param options table|nil `quickfix`: the quickfix list instead of vim.ui.select
function M.search(query, options)
  asked(query, function(text)
    local client = M.client()
    root_of(client, function(root)
      client:call("search", { query = text, limit = M.options.limit }, function(problem, answer)
        if problem then
          tell(problem)
        else
          show(root, "Search: " .. text, answer, options and options.quickfix)
        end
      end)
    end)
  end)
end

---The note at hand, relative to its vault; nil with a word of explanation when it is none.
local function note_at_hand(root)
  local file = find.resolved(vim.api.nvim_buf_get_name(0))
  if not vim.startswith(file, root .. "/") then
    vim.notify("vaultrag: this file is not in the vault " .. root, vim.log.levels.WARN)
    return nil
  end
  return file:sub(#root + 2)
end

function M.related(options)
  local client = M.client()
  root_of(client, function(root)
    local path = note_at_hand(root)
    if not path then
      return
    end
    client:call("related", { path = path, limit = M.options.limit }, function(problem, answer)
      if problem then
        tell(problem)
      else
        show(root, "Related to " .. path, answer, options and options.quickfix)
      end
    end)
  end)
end

---Search, and put a link to the chosen note at the cursor.
function M.link(query)
  local buffer, window = vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_win()
  asked(query, function(text)
    M.client():call("search", { query = text, limit = M.options.limit }, function(problem, answer)
      if problem then
        tell(problem)
      elseif #listed(answer) == 0 then
        vim.notify("vaultrag: nothing found")
      else
        select("Link to", listed(answer), function(hit)
          local row, column = unpack(vim.api.nvim_win_get_cursor(window))
          vim.api.nvim_buf_set_text(buffer, row - 1, column, row - 1, column, { M.options.link(hit) })
        end)
      end
    end)
  end)
end

---Where a query stands in the note at hand: the location list, with the columns that match.
function M.here(query)
  asked(query, function(text)
    local client = M.client()
    root_of(client, function(root)
      local path = note_at_hand(root)
      if not path then
        return
      end
      client:call("in_note", { path = path, query = text, mode = "words" }, function(problem, found)
        if problem then
          tell(problem)
          return
        end
        local items = {}
        for _, match in ipairs(found.matches) do
          local place = match.places[1]
          table.insert(items, {
            filename = root .. "/" .. path,
            lnum = match.line,
            col = place.start + 1,
            end_col = place["end"] + 1,
            text = match.text,
          })
        end
        vim.fn.setloclist(0, {}, " ", { title = "In this note: " .. text, items = items })
        if #items > 0 then
          vim.cmd("lopen")
        else
          vim.notify("vaultrag: not in this note")
        end
      end)
    end)
  end)
end

return M
