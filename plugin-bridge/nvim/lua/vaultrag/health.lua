-- :checkhealth vaultrag

local M = {}

local health = vim.health or require("health")
local start = health.start or health.report_start
local ok = health.ok or health.report_ok
local warn = health.warn or health.report_warn
local fault = health.error or health.report_error

function M.check()
  local vaultrag = require("vaultrag")
  local find = require("vaultrag.find")
  start("vaultrag: the daemon")
  local addresses = find.addresses(vaultrag.options.socket)
  local looked = {}
  for _, address in ipairs(addresses) do
    table.insert(looked, address.path or ("127.0.0.1:" .. address.port))
  end
  local client = require("vaultrag.rpc").new({
    vault = "",
    timeout_ms = 5000,
    find = function()
      return addresses
    end,
  })
  local problem, status, finished
  client:call("status", {}, function(refused, result)
    problem, status, finished = refused, result, true
  end)
  vim.wait(8000, function()
    return finished
  end, 10)
  client:close()
  if not status then
    problem = problem or { message = "no answer within 8 s", hint = "vaultrag status" }
    fault(problem.message .. "; looked at " .. table.concat(looked, ", "), { problem.hint ~= "" and problem.hint or "vaultrag up" })
    return
  end
  ok("vaultrag " .. status.version .. " answers (process " .. status.pid .. ")")
  local embedder = status.embedder
  if embedder.state == "ready" then
    ok("search by meaning: " .. embedder.model)
  else
    warn("search by words only: " .. embedder.state .. " " .. embedder.why, embedder.hint ~= "" and { embedder.hint } or nil)
  end
  start("vaultrag: the vault")
  for _, vault in ipairs(status.vaults) do
    ok(vault.root .. ": " .. vault.state .. ", " .. vault.notes .. " notes")
  end
  if #status.vaults == 0 then
    warn("no vault is served", { "vaultrag up ~/Notes" })
  end
end

return M
