-- Where the daemon may answer, best guess first; and which vault a file belongs to. See PROTOCOL.md.

local uv = vim.uv or vim.loop
local M = {}

local function read(path)
  local file = io.open(path, "rb")
  if not file then
    return nil
  end
  local text = file:read("*a")
  file:close()
  return text
end

M.read = read

---The folders that the daemon's own files may lie in.
function M.data_folders(env)
  env = env or vim.env
  if env.VAULTRAG_HOME then
    return { env.VAULTRAG_HOME .. "/data" }
  end
  local home = uv.os_homedir()
  if vim.fn.has("mac") == 1 then
    return { home .. "/Library/Application Support/obsidian-rag" }
  end
  local folders = {}
  if env.XDG_DATA_HOME then
    table.insert(folders, env.XDG_DATA_HOME .. "/obsidian-rag")
  end
  table.insert(folders, home .. "/.local/share/obsidian-rag")
  return folders
end

---What the discovery file says; nil when there is none or it is damaged.
function M.discovery(env)
  for _, folder in ipairs(M.data_folders(env)) do
    local ok, found = pcall(vim.json.decode, read(folder .. "/daemon.json") or "")
    if ok and type(found) == "table" then
      return found
    end
  end
  return nil
end

---@return table[] addresses: each has `path`, or `port` and `token_file`
function M.addresses(socket, env)
  env = env or vim.env
  local list = {}
  local function add(path)
    if type(path) == "string" and path ~= "" then
      table.insert(list, { path = path })
    end
  end
  add(env.VAULTRAG_SOCKET)
  add(socket)
  local found = M.discovery(env)
  if found then
    for _, path in ipairs(type(found.sockets) == "table" and found.sockets or {}) do
      add(path)
    end
    if type(found.tcp_port) == "number" and found.tcp_port > 0 then
      table.insert(list, { port = found.tcp_port, token_file = found.token_file })
    end
  end
  if env.VAULTRAG_HOME then
    add(env.VAULTRAG_HOME .. "/run/daemon.sock")
  else
    if env.XDG_RUNTIME_DIR then
      add(env.XDG_RUNTIME_DIR .. "/vaultrag/daemon.sock")
    end
    for _, folder in ipairs(M.data_folders(env)) do
      add(folder .. "/run/daemon.sock")
    end
  end
  return list
end

local function resolved(path)
  return uv.fs_realpath(path) or path
end

M.resolved = resolved

---The vault that a file lies in: one that the daemon serves, else the nearest folder that Obsidian has made its own.
function M.vault_of(path, env)
  local file = resolved(path ~= "" and path or uv.cwd())
  local found = M.discovery(env)
  local best = ""
  for _, vault in ipairs(found and type(found.vaults) == "table" and found.vaults or {}) do
    if (file == vault or vim.startswith(file, vault .. "/")) and #vault > #best then
      best = vault
    end
  end
  local folder = file
  while best == "" and folder ~= "/" and folder ~= "." do
    if vim.fn.isdirectory(folder .. "/.obsidian") == 1 then
      best = folder
    end
    folder = vim.fn.fnamemodify(folder, ":h")
  end
  return best
end

return M
